"""Grading a run from inside: its reward, which is the verdict, and any other measurement."""

import math
import time
from typing import Any

from opentelemetry import _logs
from opentelemetry.trace import NonRecordingSpan, SpanContext, set_span_in_context

from whileai_instrumentation import names
from whileai_instrumentation.current import current_context, graded_span
from whileai_instrumentation.errors import UsageError
from whileai_instrumentation.identity import OWN_SCOPE
from whileai_instrumentation.warnings_once import warn

VERDICT = "score"


def reward(value: float | bool, *, pass_at: float | None = None) -> None:
    """Say how the run that this code belongs to went: 1.0 and above is a pass, or `pass_at` and above.

    The latest one counts. Just after a run, inside its `scenario` block, it still finds the run.
    """
    number = _number("reward", value)
    bar = None if pass_at is None else _number("pass_at", pass_at)
    span = graded_span()
    if span is None:
        _as_record(VERDICT, number, None, None)
    elif bar is None:
        span.set_attribute(names.REWARD, number)
    else:
        span.set_attributes({names.SCORE: number, names.SCORE_PASS_AT: bar})


def score(
    name: str, value: float | bool | None = None, *, label: str | None = None, explanation: str | None = None
) -> None:
    """Note any other measurement of the run: a number, a word, or both."""
    if not isinstance(name, str) or not name:
        raise UsageError(f"score() takes the measurement's name first, a text that is not empty; got {name!r}")
    if value is None and label is None:
        raise UsageError(f"score({name!r}) has neither a value nor a label= to note")
    number = None if value is None else _number(name, value)
    span = graded_span()
    if span is None:
        _as_record(name, number, label, explanation)
    else:
        span.add_event(names.EVALUATION, _evaluation(name, number, label, explanation))


def _number(what: str, value: Any) -> float:
    """A measured value; NaN and infinities measure nothing."""
    try:
        number = float(value) if not isinstance(value, str) else None
    except (TypeError, ValueError):
        number = None
    if number is None or not math.isfinite(number):
        raise UsageError(f"{what} must be a finite number or a boolean, not {value!r}")
    return number


def _evaluation(name: str, value: float | None, label: str | None, explanation: str | None) -> dict[str, str | float]:
    """OpenTelemetry's form of a measurement."""
    given: dict[str, str | float | None] = {
        names.EVALUATION_NAME: name,
        names.EVALUATION_VALUE: value,
        names.EVALUATION_LABEL: label,
        names.EVALUATION_EXPLANATION: explanation,
    }
    return {key: told for key, told in given.items() if told is not None}


def _as_record(name: str, value: float | None, label: str | None, explanation: str | None) -> None:
    """Tell the measurement by a log record: the run's spans have ended, or are another process's."""
    where = current_context()
    if where is None:
        warn("no run", "%s was given outside of any run; use it inside one, or send_score(trace_id, …)", name)
        return
    _emit(where, _evaluation(name, value, label, explanation))


def _emit(where: SpanContext, attributes: dict[str, str | float]) -> None:
    record = _logs.LogRecord(
        timestamp=time.time_ns(),
        event_name=names.EVALUATION,
        attributes=dict(attributes),
        context=set_span_in_context(NonRecordingSpan(where)),
    )
    _logs.get_logger(OWN_SCOPE).emit(record)
