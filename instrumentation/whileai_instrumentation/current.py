"""The run that this code belongs to: by the current span, else by the scenario block around it."""

from opentelemetry import trace
from opentelemetry.trace import Span, SpanContext

from whileai_instrumentation.adoption import true_context
from whileai_instrumentation.processors import is_copy, root_of
from whileai_instrumentation.scenario import open_block


def current_trace_id() -> str | None:
    """The id of the run going on, or, between runs, of the one begun last in the scenario block around this code.

    It is what `send_score` takes. None when there is neither.
    """
    where = current_context()
    return f"{where.trace_id:032x}" if where is not None else None


def current_context() -> SpanContext | None:
    """The span that a grade given here belongs to."""
    here = trace.get_current_span().get_span_context()
    if here.is_valid:
        return true_context(here)
    block = open_block()
    return block.last_root if block is not None else None


def graded_span() -> Span | None:
    """The open span that a grade given here is written on: the run's root, so that a later grade replaces it."""
    where = current_context()
    if where is None:
        return None
    root = root_of(where.trace_id)
    if root is not None:
        return root
    here = trace.get_current_span()
    return here if here.is_recording() and not is_copy(here) else None
