"""A log record as it can wait in a queue, whatever the SDK's version calls its parts."""

import copy
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk import _logs

# Before version 1.39 a processor was given what is exported; since then it must make that itself.
_Readable: Any = getattr(_logs, "ReadableLogRecord", None)
_BARE = 300


def readable(given: Any) -> Any:
    """What the encoder takes, without the context, which may hold much and is of no use later."""
    if _Readable is None:
        return given
    record = copy.copy(given.log_record)
    record.context = Context()
    return _Readable(
        log_record=record,
        resource=given.resource,
        instrumentation_scope=given.instrumentation_scope,
        limits=given.limits,
    )


def size_of_log(given: Any) -> int:
    """About how much memory a record holds."""
    record = given.log_record
    attributes = record.attributes or {}
    return _BARE + _text(record.body) + sum(_text(value) for value in attributes.values())


def _text(value: Any, depth: int = 8) -> int:
    if isinstance(value, (str, bytes)):
        return len(value)
    if depth and isinstance(value, dict):
        return sum(_text(member, depth - 1) for member in value.values())
    if depth and isinstance(value, (list, tuple)):
        return sum(_text(member, depth - 1) for member in value)
    return 8
