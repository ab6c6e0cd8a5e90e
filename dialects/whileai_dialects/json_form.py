"""A value as JSON that keeps its type: what JSON cannot tell is wrapped in an object with one `$` key."""

import base64
import math

from whileai_dialects.value import Value, scrub

_EXACT = 2**53  # the largest integer that every JSON reader keeps exact


def json_form(value: Value) -> object:
    """Bytes as {"$bytes": base64}, integers beyond 2^53 as {"$int": text}, NaN and infinities as {"$double": text}."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if -_EXACT <= value <= _EXACT else {"$int": str(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$double": _double(value)}
    if isinstance(value, list):
        return [json_form(item) for item in value]
    return {scrub(key): json_form(item) for key, item in value.items()}


def _double(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
