"""Spans that lost their parent: a framework whose spans never become the current one leaves the spans beneath it, as of
a model's own library, in traces of their own. They are put below the framework's span as they leave.

Making such a framework's spans current instead would be unsafe: its callbacks may start a span in one context and end
it in another, and every later run would then join that trace.
"""

import sys
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import Span
from opentelemetry.trace import SpanContext

LANGCHAIN = "openinference.instrumentation.langchain"
SHY = frozenset({LANGCHAIN})  # scopes of spans that never become current
MOST = 10_000  # adopted traces that are remembered; each is of interest until it was sent


@dataclass(frozen=True)
class _Open:
    """A shy span, and those that were begun before it in the same context."""

    span: Span
    before: "_Open | None"


_open: ContextVar[_Open | None] = ContextVar("whileai_open_spans", default=None)
_adopted: dict[bytes, SpanContext] = {}  # by the trace they were begun in, oldest first


def note(span: Span, parent: SpanContext | None) -> bool:
    """Look at a span that begins; whether it was adopted."""
    scope = span.instrumentation_scope
    if scope is not None and scope.name in SHY:
        _open.set(_Open(span, _recording(_open.get())))
        return False
    if parent is not None:
        return False
    above = _above()
    if above is None:
        return False
    _adopted[_key(span.context)] = above
    if len(_adopted) > MOST:
        _adopted.pop(next(iter(_adopted)), None)
    return True


def true_context(where: SpanContext) -> SpanContext:
    """The span under which something really lies: itself, or the one that adopted its trace."""
    return _adopted.get(_key(where), where)


def rewrite(request: ExportTraceServiceRequest | ExportLogsServiceRequest) -> None:
    """Put what was adopted under its new parent, in a request that is about to leave."""
    if not _adopted:
        return
    if isinstance(request, ExportTraceServiceRequest):
        for of_resource in request.resource_spans:
            for of_scope in of_resource.scope_spans:
                for span in of_scope.spans:
                    parent = _adopted.get(span.trace_id)
                    if parent is not None:
                        span.trace_id = _key(parent)
                        span.parent_span_id = span.parent_span_id or parent.span_id.to_bytes(8, "big")
        return
    for of_logs in request.resource_logs:
        for scope_logs in of_logs.scope_logs:
            for record in scope_logs.log_records:
                parent = _adopted.get(record.trace_id)
                if parent is not None:
                    record.trace_id = _key(parent)


def _above() -> SpanContext | None:
    """The shy span that this code runs beneath."""
    noted = _recording(_open.get())
    if noted is not None:
        context: SpanContext = noted.span.context
        return context
    # Where callbacks ran in another context, LangChain's own configuration still knows the step.
    module: Any = sys.modules.get(LANGCHAIN)
    current = getattr(module, "get_current_span", None)
    span: Any = None
    try:
        span = current() if current is not None else None
    except Exception:  # another version's business
        return None
    if span is None or not span.is_recording():
        return None
    above: SpanContext = span.get_span_context()
    return above


def _recording(noted: _Open | None) -> _Open | None:
    while noted is not None and not noted.span.is_recording():
        noted = noted.before
    return noted


def _key(context: SpanContext) -> bytes:
    return context.trace_id.to_bytes(16, "big")
