"""JSON (and the Python literals some packages write instead) inside text attributes.

A text that does not parse is not an error: it comes back as None and the caller keeps the text as it was.
"""

import ast
import json
from json.scanner import make_scanner

from whileai_dialects.value import scrub, string_start

try:  # several times as fast; comes with the service, and an agent process does without
    import orjson
except ImportError:  # pragma: no cover
    orjson = None  # type: ignore[assignment]  # a module or nothing

# `ast` is slow and hungry: a hundred kilobytes of literal is more than any arguments object is.
_CONTAINERS = ("{", "[")
_OPENING = (b"{", b"[")
_INT64 = 2.0**63
_LITERAL_LIMIT = 100_000


def _refuse(constant: str) -> object:
    # NaN and Infinity are no JSON; letting them in would make every later writer fail.
    raise ValueError(constant)


# The scanner itself: a decoder around it costs as much as a short text.
_scan = make_scanner(json.JSONDecoder(parse_constant=_refuse))  # type: ignore[arg-type]  # typeshed has its class wrong
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def parse_json(text: str) -> object | None:
    """The value of a JSON text; None when it is not JSON (a JSON `null` too)."""
    if orjson is not None:
        try:
            value: object = orjson.loads(text)
        except ValueError:
            return parse_exactly(text)
        if is_exact(value):
            return value
    return parse_exactly(text)


def parse_raw_container(raw: bytes) -> dict[str, object] | list[object] | None:
    """The object or array that a string told as AnyValue bytes is, read without making the text; None when it is none.

    Strings in it are sure; who takes numbers from it asks `is_exact` before.
    """
    start = string_start(raw)
    if not start or raw[start : start + 1] not in _OPENING or orjson is None:
        return None
    try:
        value: dict[str, object] | list[object] = orjson.loads(raw[start:])
    except ValueError:
        return None
    return value


def is_exact(value: object) -> bool:
    """Whether a value of the fast parser is what the other one gives: it turns integers beyond 64 bits into floats."""
    if type(value) is float:
        return -_INT64 < value < _INT64
    if type(value) is not list and type(value) is not dict:
        return True
    left: list[dict[str, object] | list[object]] = [value]
    while left:
        holder = left.pop()
        for item in holder.values() if type(holder) is dict else holder:
            kind = type(item)
            if kind is dict or kind is list:
                left.append(item)  # type: ignore[arg-type]  # its type was just looked at
            elif kind is float and not -_INT64 < item < _INT64:  # type: ignore[operator]  # so was this one's
                return False
    return True


def parse_exactly(text: str) -> object | None:
    """What `parse_json` gives, by the parser that is exact about every number and always there."""
    value: object
    text = text.lstrip()
    try:
        value, end = _scan(text, 0)
    except (ValueError, RecursionError, StopIteration):
        return None
    if end != len(text) and text[end:].strip():
        return None
    # Escaped lone surrogates survive json.loads and would break every encoder downstream.
    return _scrubbed(value) if "\\ud" in text or "\\uD" in text else value


def parse_container(text: str) -> dict[str, object] | list[object] | None:
    """The object or array that a text tells, or None: a text that is only a number or a word stays a text."""
    text = text.lstrip()
    if text[:1] not in _CONTAINERS:
        return None
    value = parse_json(text)
    return value if isinstance(value, dict | list) else None


def parse_literal(text: str) -> dict[str, object] | list[object] | None:
    """The dict or list of a Python repr such as "{'order_id': 'A-1001'}"; None when it is not one."""
    if text.lstrip()[:1] not in _CONTAINERS or len(text) > _LITERAL_LIMIT:
        return None
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    return value if isinstance(value, dict | list) and _plain(value) else None


def unquoted(text: str) -> str:
    """The text inside a JSON string literal; the text itself when it is not one."""
    if len(text) >= 2 and text[0] == '"' and text[-1] == '"':
        value = parse_json(text)
        if isinstance(value, str):
            return value
    return text


def structured(value: object) -> object:
    """A text that is a JSON object or array as its value; everything else as it is."""
    if isinstance(value, str):
        parsed = parse_container(value)
        return value if parsed is None else parsed
    return value


def write_json(value: object) -> str:
    """A value as compact JSON text, the same for equal values; what JSON cannot tell goes as its text."""
    return _ENCODER.encode(value)


def _scrubbed(value: object) -> object:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list):
        return [_scrubbed(item) for item in value]
    if isinstance(value, dict):
        return {scrub(key): _scrubbed(item) for key, item in value.items()}
    return value


def _plain(value: object) -> bool:
    """Whether a literal holds only what JSON can tell."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(_plain(item) for item in value)
    return value is None or isinstance(value, str | bool | int | float)
