"""Verbs that other distributions and rooms add, through the entry-point group `whileai.commands`.

An entry point is a callable that takes the subparsers, adds a parser and sets its `func`. Only the verb that is asked
for is imported; for the list of all verbs, all are.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

GROUP = "whileai.commands"
# verb -> what to install when it cannot be imported
EXTRA = dict.fromkeys(("serve", "backup", "restore"), "whileai-platform[server]")


def add_to(subparsers: Any, words: Sequence[str]) -> None:
    """Add every verb of the group, loading those that this command line needs."""
    asked = next((word for word in words if not word.startswith("-")), None)
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        if asked is None or asked == entry.name:
            _load(entry, subparsers)
        else:
            subparsers.add_parser(entry.name)


def missing(verb: str, problem: ImportError) -> str:
    """The sentence for a verb whose packages are not installed."""
    return f"`whileai {verb}` is not installed here ({problem}): {_way_out(verb)}"


def _load(entry: EntryPoint, subparsers: Any) -> None:
    try:
        add = entry.load()
    except ImportError as problem:
        sentence, way_out = missing(entry.name, problem), _way_out(entry.name)
        parser = subparsers.add_parser(entry.name, help=f"not installed: {way_out}", add_help=False, prefix_chars="\0")
        parser.add_argument("rest", nargs=argparse.REMAINDER)
        parser.set_defaults(func=lambda _args: _refuse(sentence))
        return
    add(subparsers)


def _way_out(verb: str) -> str:
    return f"pip install '{EXTRA[verb]}'" if verb in EXTRA else "reinstall the package that adds it"


def _refuse(sentence: str) -> int:
    print(f"error: {sentence}", file=sys.stderr)
    return 1
