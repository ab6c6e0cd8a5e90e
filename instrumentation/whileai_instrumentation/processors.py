"""What this package hangs into the providers: marks at a span's start, the outbox at its end."""

import os
import time
import weakref
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk._logs import LogRecordProcessor
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from whileai_instrumentation import adoption
from whileai_instrumentation.log_records import readable, size_of_log
from whileai_instrumentation.outbox import Outbox
from whileai_instrumentation.scenario import CARRIED, carried, open_block
from whileai_instrumentation.signals import Signal

_BARE = 300  # bytes of a span besides its texts

# The roots of the runs going on in this process, for grading them from inside.
_roots: "weakref.WeakValueDictionary[int, Span]" = weakref.WeakValueDictionary()
_forked_at = 0  # ns; a span begun before that is a copy, which the parent sends and this process never will


def root_of(trace_id: int) -> Span | None:
    """The root span of a run, while it is open in this process."""
    span = _roots.get(trace_id)
    return span if span is not None and span.is_recording() else None


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
    """Marks spans with their scenario, and puts ended ones into the outbox."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        told = carried(parent_context)
        if told:
            for key in CARRIED:
                if key in told:
                    span.set_attribute(key, str(told[key]))
        adopted = adoption.note(span)
        if not adopted and (span.parent is None or span.parent.is_remote):
            _roots.setdefault(span.context.trace_id, span)
            block = open_block(parent_context) or open_block()
            if block is not None:
                block.began(span.context)

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is not None and span.context.trace_flags.sampled:
            self._outbox.put(Signal.TRACES, span, _size_of(span))

    def shutdown(self) -> None:
        self._outbox.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._outbox.flush(timeout_millis / 1000)


class OutboxLogProcessor(LogRecordProcessor):
    """Puts log records into the outbox; several instrumentations tell the content of a run there."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def on_emit(self, log_record: Any) -> None:
        record = readable(log_record)
        self._outbox.put(Signal.LOGS, record, size_of_log(record))

    def shutdown(self) -> None:
        self._outbox.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._outbox.flush(timeout_millis / 1000)


def _size_of(span: ReadableSpan) -> int:
    """About how much memory a span holds: its texts, which are what can be large."""
    attributes = span.attributes
    if not attributes:
        return _BARE
    return _BARE + sum([len(value) for value in attributes.values() if type(value) is str])
