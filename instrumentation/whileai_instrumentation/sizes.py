"""About how much memory a span or a log record holds while it waits: its texts, which are what can be large."""

from collections.abc import Callable, Mapping
from typing import Any

from whileai_instrumentation.signals import Signal

BARE = 300  # bytes of a span or record besides its texts
_DEEPEST = 8


def size_of_span(span: Any) -> int:
    """The texts among a span's attributes.

    The SDK's attributes take a lock for every value that is read through their public face; the dictionary within is
    read where it is found.
    """
    attributes = getattr(getattr(span, "_attributes", None), "_dict", None) or getattr(span, "attributes", None)
    if not attributes:
        return BARE
    return BARE + sum([len(value) for value in attributes.values() if type(value) is str])


def size_of_log(given: Any) -> int:
    """The texts of a record's body and attributes, however deep."""
    record = getattr(given, "log_record", None)
    attributes = getattr(record, "attributes", None) or {}
    return BARE + _text(getattr(record, "body", None)) + sum(_text(value) for value in attributes.values())


SIZE_OF: Mapping[Signal, Callable[[Any], int]] = {Signal.TRACES: size_of_span, Signal.LOGS: size_of_log}


def _text(value: Any, depth: int = _DEEPEST) -> int:
    if isinstance(value, (str, bytes)):
        return len(value)
    if depth and isinstance(value, dict):
        return sum(_text(member, depth - 1) for member in value.values())
    if depth and isinstance(value, (list, tuple)):
        return sum(_text(member, depth - 1) for member in value)
    return 8
