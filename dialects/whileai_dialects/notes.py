"""What a reader of a run should know: what was missing, odd, or kept as text because it could not be read."""

from collections.abc import Iterable

from whileai_dialects.steps import Use
from whileai_dialects.thread import Thread
from whileai_dialects.tree import Tree

_SHOWN = 5  # of one kind; a run of ten thousand broken calls is one remark, not ten thousand


def notes_of(tree: Tree, thread: Thread, uses: Iterable[Use]) -> list[str]:
    """The remarks on a run, one sentence each."""
    missing = [span.span_id for span in tree.tops if span.parent_span_id and span.parent_span_id not in tree.by_id]
    rings = [span.span_id for span in tree.tops if span.parent_span_id in tree.by_id]
    roots = [span.span_id for span in tree.tops if not span.parent_span_id]
    backwards = [span.span_id for span in tree.order if 0 < span.end < span.start]
    undated = [span.span_id for span in tree.order if not span.start]
    unread = [use.name for use in uses if isinstance(use.arguments, str) and use.arguments.strip()]
    media = sum(item.kind == "media" for item in thread.items)
    remarks = [
        _remark(missing, "{n} spans name a parent that has not arrived: {some}"),
        _remark(rings, "{n} spans are their own ancestors and stand at the top: {some}"),
        _remark(roots[1:], "there are {n} more roots than one: {some}"),
        _remark(backwards, "{n} spans end before they start: {some}"),
        _remark(undated, "{n} spans have no start: {some}"),
        _remark(unread, "the arguments of {n} tool calls are no JSON object and are kept as text: {some}"),
    ]
    if media:
        remarks.append(f"{media} parts are not text and are left out of the messages")
    return [remark for remark in remarks if remark]


def _remark(items: list[str], sentence: str) -> str:
    if not items:
        return ""
    more = ", …" if len(items) > _SHOWN else ""
    return sentence.format(n=len(items), some=", ".join(items[:_SHOWN]) + more)
