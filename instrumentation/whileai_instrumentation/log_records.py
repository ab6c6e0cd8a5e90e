"""A log record as it can wait in a queue, whatever the SDK's version calls its parts."""

import copy
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk import _logs

# Before version 1.39 a processor was given what is exported; since then it must make that itself.
_Readable: Any = getattr(_logs, "ReadableLogRecord", None)


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
