"""What this package hangs into the providers: marks at a span's start, the outbox at its end."""

import os
import time
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk._logs import LogRecordProcessor
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from whileai_instrumentation import adoption
from whileai_instrumentation.log_records import readable
from whileai_instrumentation.outbox import Outbox
from whileai_instrumentation.scenario import CARRIED, carried, open_block
from whileai_instrumentation.signals import Signal
from whileai_instrumentation.warnings_once import warn

# The roots of the runs going on in this process, for grading them from inside.
_roots: dict[int, Span] = {}
_MOST_ROOTS = 10_000  # a span that nobody ends is forgotten some day
_forked_at = 0  # ns; a span begun before that is a copy, which the parent sends and this process never will


def root_of(trace_id: int) -> Span | None:
    """The root span of a run, while it is open in this process."""
    return _roots.get(trace_id)


def is_copy(span: object) -> bool:
    """Whether a span came along at a fork."""
    return _forked_at > (getattr(span, "start_time", None) or 0)


def _after_fork() -> None:
    global _forked_at
    _forked_at = time.time_ns()
    _roots.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class OutboxSpanProcessor(SpanProcessor):
    """Marks spans with their scenario, and puts ended ones into the outbox. A fault in here never reaches the agent."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        try:
            _begun(span, parent_context)
        except Exception as problem:
            _tell(problem)

    def on_end(self, span: ReadableSpan) -> None:
        try:
            if _ended(span):
                self._outbox.put(Signal.TRACES, span)
        except Exception as problem:
            _tell(problem)

    def shutdown(self) -> None:
        self._outbox.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._outbox.flush(timeout_millis / 1000)


class OutboxLogProcessor(LogRecordProcessor):
    """Puts log records into the outbox; several instrumentations tell the content of a run there."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def on_emit(self, log_record: Any) -> None:
        try:
            self._outbox.put(Signal.LOGS, readable(log_record))
        except Exception as problem:
            _tell(problem)

    def shutdown(self) -> None:
        self._outbox.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._outbox.flush(timeout_millis / 1000)


def _begun(span: Span, parent_context: Context | None) -> None:
    told = carried(parent_context)
    if told:
        span.set_attributes({key: str(told[key]) for key in CARRIED if key in told})
    parent = span.parent
    if adoption.note(span, parent) or not (parent is None or parent.is_remote):
        return
    where = span.context
    _roots.setdefault(where.trace_id, span)
    if len(_roots) > _MOST_ROOTS:
        _roots.pop(next(iter(_roots)), None)
    block = open_block(parent_context) or open_block()
    if block is not None:
        block.began(where)


def _ended(span: ReadableSpan) -> bool:
    """Forget a root; whether the span is to be sent."""
    where = span.context
    if where is None:
        return False
    if span.parent is None or span.parent.is_remote:
        root = _roots.get(where.trace_id)
        if root is not None and root.context.span_id == where.span_id:
            _roots.pop(where.trace_id, None)
    return bool(where.trace_flags.sampled)


def _tell(problem: Exception) -> None:
    warn("bug", "a span or log record was not looked at: %s: %s", type(problem).__name__, problem)
