"""The spans of a trace as bars: in the order of the tree, each with its depth, its place in time and its kind. Pure.

A span whose parent is not there stands at the top and is marked as an orphan. A row is a short list, so that ten
thousand of them are a small answer; names are safe to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whileai_dialects import Span
from whileai_dialects.reading import Reading
from whileai_dialects.span import when
from whileai_dialects.tree import Tree, build_tree
from whileai_query.pages.text import one_line

# What a row holds, in this order.
COLUMNS = ("spanId", "name", "kind", "depth", "offsetUs", "durationUs", "error", "orphan", "below")
_NAME_CHARS = 160


def waterfall(spans: Sequence[Span]) -> dict[str, Any]:
    """Every span, parents before their children, children by time."""
    tree = build_tree(spans)
    edges = {span.span_id: when(span) for span in tree.order}
    start = min((first for first, _ in edges.values()), default=0)
    end = max((max(edge) for edge in edges.values()), default=0)
    ordered, below = _walk(tree)
    return {
        "columns": COLUMNS,
        "totalUs": (end - start) // 1000,
        "rows": [_row(tree, span, edges[span.span_id], start, below[span.span_id]) for span in ordered],
    }


def _row(tree: Tree, span: Span, edge: tuple[int, int], start: int, below: int) -> list[Any]:
    orphan = bool(span.parent_span_id) and span.span_id not in tree.parent
    return [
        span.span_id,
        one_line(span.name, _NAME_CHARS) or "unnamed",
        Reading(span).kind,
        tree.depth[span.span_id],
        (edge[0] - start) // 1000,
        max(0, edge[1] - edge[0]) // 1000,
        int(span.status_code == 2),
        int(orphan),
        below,
    ]


def _walk(tree: Tree) -> tuple[list[Span], dict[str, int]]:
    """Depth first without recursion (a trace may be ten thousand deep); how many spans lie below each."""
    ordered: list[Span] = []
    waiting = sorted(tree.tops, key=when, reverse=True)
    while waiting:
        span = waiting.pop()
        ordered.append(span)
        waiting.extend(reversed(tree.children.get(span.span_id, [])))
    below = {span.span_id: 0 for span in ordered}
    for span in reversed(ordered):
        above = tree.parent.get(span.span_id)
        if above is not None:
            below[above] += 1 + below[span.span_id]
    return ordered, below
