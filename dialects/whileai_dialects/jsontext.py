"""JSON (and the Python literals some packages write instead) inside text attributes.

A text that does not parse is not an error: it comes back as None and the caller keeps the text as it was.
"""

import ast
import json
from json.scanner import make_scanner

from whileai_dialects.value import scrub

# `ast` is slow and hungry: a hundred kilobytes of literal is more than any arguments object is.
_CONTAINERS = ("{", "[")
_LITERAL_LIMIT = 100_000


def _refuse(constant: str) -> object:
    # NaN and Infinity are no JSON; letting them in would make every later writer fail.
    raise ValueError(constant)


# The scanner itself: a decoder around it costs as much as a short text.
_scan = make_scanner(json.JSONDecoder(parse_constant=_refuse))  # type: ignore[arg-type]  # typeshed has its class wrong
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def parse_json(text: str) -> object | None:
    """The value of a JSON text; None when it is not JSON (a JSON `null` too)."""
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
