"""Opaque places in a list: what the last row seen was, as text that only this service needs to understand."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence

from whileai_query.errors import BadRequest

Place = Sequence[int | str]


def write_cursor(place: Place) -> str:
    """The place as text that needs no escaping in a URL."""
    raw = json.dumps(list(place), separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def read_cursor(cursor: str, shape: tuple[type[int] | type[str], ...]) -> list[int | str]:
    """The place again. Raises `BadRequest` naming the cursor when it is not one of ours, or of another list."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        place = json.loads(raw)
    except (binascii.Error, ValueError, RecursionError):
        place = None
    if not isinstance(place, list) or [type(part) for part in place] != list(shape) or not _in_range(place):
        raise BadRequest(f"cursor {cursor[:40]!r} is not one that this list gave out; leave it away to start again")
    return place


def _in_range(place: list[int | str]) -> bool:
    return all(-(2**63) <= part < 2**64 for part in place if isinstance(part, int))
