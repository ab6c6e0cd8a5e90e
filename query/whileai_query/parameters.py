"""The query string as a checked mapping, and the parameters that every list takes: `limit`, `cursor`, `page`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from whileai_query.errors import BadRequest

DEFAULT_LIMIT = 50
LARGEST_LIMIT = 500
LARGEST_PAGE = 1_000_000


def checked_query(pairs: Iterable[tuple[str, str]], allowed: Collection[str]) -> dict[str, str]:
    """The parameters by name. Raises `BadRequest` naming one that is unknown here, or given twice."""
    query: dict[str, str] = {}
    for name, value in pairs:
        if name not in allowed:
            raise BadRequest(f"unknown parameter {name[:60]!r}; this call takes {', '.join(allowed) or 'none'}")
        if name in query:
            raise BadRequest(f"parameter {name} is given twice; say it once")
        query[name] = value
    return query


def read_limit(query: Mapping[str, str]) -> int:
    """How many rows a page holds."""
    return read_integer(query, "limit", DEFAULT_LIMIT, 1, LARGEST_LIMIT)


def read_page(query: Mapping[str, str]) -> int | None:
    """The page asked for by number, from 1; None when the list is walked by cursor."""
    if "page" not in query:
        return None
    if query.get("cursor"):
        raise BadRequest("page and cursor exclude each other; give one of them")
    return read_integer(query, "page", 1, 1, LARGEST_PAGE)


def read_integer(query: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    """An integer in its range, or the default. Raises `BadRequest` naming the parameter."""
    text = query.get(name, "").strip()
    if not text:
        return default
    value = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None
    if value is None or not least <= value <= most:
        raise BadRequest(f"{name}={text[:40]!r} must be a whole number from {least} to {most}")
    return value


def read_fraction(query: Mapping[str, str], name: str) -> float | None:
    """A finite number, or None when it is not given; whether it fits is for the caller to say."""
    text = query.get(name, "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not -1e9 < value < 1e9:
        raise BadRequest(f"{name}={text[:40]!r} must be a number")
    return value
