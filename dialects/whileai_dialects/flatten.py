"""Attributes that tell a tree by their keys (`llm.input_messages.3.message.role`), as the tree again."""

from collections.abc import Iterable, Mapping

Node = dict[str, object]
_DEPTH = 16  # no dialect nests deeper; a key of ten thousand dots must not recurse
_DIGITS = 9  # an index longer than this is a name


def trees(attributes: Mapping[str, object], prefixes: Iterable[str]) -> dict[str, list[object]]:
    """For each prefix the list under it; indexes are numbers (10 comes after 9), gaps are closed."""
    roots: dict[str, Node] = {}
    for key in attributes:
        for prefix in prefixes:
            if key.startswith(prefix):
                _put(roots.setdefault(prefix, {}), key[len(prefix) :].split(".", _DEPTH), attributes[key])
                break
    return {prefix: listed for prefix, root in roots.items() if isinstance(listed := _listed(root), list)}


def _put(node: Node, path: list[str], value: object) -> None:
    last = path.pop()
    for step in path:
        inner = node.get(step)
        if not isinstance(inner, dict):
            inner = node[step] = {}
        node = inner
    # A key that is a branch too keeps the branch: the branch tells more.
    if not isinstance(node.get(last), dict):
        node[last] = value


def _listed(node: object) -> object:
    """Nodes whose keys are all numbers become lists, in number order."""
    if not isinstance(node, dict):
        return node
    # Nearly every node is one of names: its first key says so.
    if (
        node
        and next(iter(node)).isdigit()
        and all(len(key) <= _DIGITS and key.isascii() and key.isdigit() for key in node)
    ):
        return [_listed(node[key]) for key in sorted(node, key=int)]
    return {key: _listed(item) for key, item in node.items()}
