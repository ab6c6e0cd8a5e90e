"""The tree of a trace's spans, whatever is missing from it or wrong with it.

A span whose parent is not there stands at the top; a span that is its own ancestor is cut loose at the earliest span of
the ring, so that every span has one place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whileai_dialects.span import Span, when


@dataclass(slots=True)
class Tree:
    """Spans by id, each with its parent, its children in time order, and its depth.

    `order` is by time; `downward` has every span behind its parent, and spans of one depth by time.
    """

    order: list[Span]
    downward: list[Span]
    by_id: dict[str, Span]
    parent: dict[str, str]
    children: dict[str, list[Span]]
    depth: dict[str, int]
    tops: list[Span]
    has_root: bool

    def ancestors(self, span_id: str) -> Iterator[Span]:
        """The parents of a span, nearest first."""
        above = self.parent.get(span_id, "")
        while above:
            yield self.by_id[above]
            above = self.parent.get(above, "")


def build_tree(spans: Sequence[Span]) -> Tree:
    """The tree of one trace's spans (one version of each)."""
    order = sorted(spans, key=when)
    by_id = {span.span_id: span for span in order}
    parent: dict[str, str] = {}
    children: dict[str, list[Span]] = {}
    tops: list[Span] = []
    for span in order:
        above = span.parent_span_id
        if above and above in by_id and above != span.span_id:
            parent[span.span_id] = above
            if above in children:
                children[above].append(span)
            else:
                children[above] = [span]
        else:
            tops.append(span)
    depth: dict[str, int] = {}
    _measure(tops, children, depth)
    if len(depth) < len(by_id):
        for span in order:
            if span.span_id not in depth:
                # A ring: nothing above it is reachable from a top.
                above = parent.pop(span.span_id)
                children[above].remove(span)
                tops.append(span)
                _measure([span], children, depth)
    downward = sorted(order, key=lambda span: depth[span.span_id])
    return Tree(order, downward, by_id, parent, children, depth, tops, "" in [span.parent_span_id for span in order])


def _measure(tops: Sequence[Span], children: dict[str, list[Span]], depth: dict[str, int]) -> None:
    level = 0
    row = list(tops)
    while row:
        below: list[Span] = []
        for span in row:
            depth[span.span_id] = level
            if span.span_id in children:
                below += [child for child in children[span.span_id] if child.span_id not in depth]
        row = below
        level += 1
