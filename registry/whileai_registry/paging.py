"""Keyset pages: a cursor names the last row seen, so rows that arrive meanwhile never shift the others."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from sqlalchemy import Column, ColumnElement, Table, and_, or_

from whileai_registry.errors import InvalidInput

LARGEST_PAGE = 500

T = TypeVar("T")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Page(Generic[T]):
    items: list[T]
    next: str | None


def page_of(found: Sequence[T], limit: int, cursor_of: Callable[[T], str]) -> Page[T]:
    """`found` holds up to one row more than `limit`; that row only says that there is a next page."""
    items = list(found[:limit])
    return Page(items, cursor_of(items[-1]) if len(found) > limit else None)


def checked_limit(limit: int) -> int:
    if not 1 <= limit <= LARGEST_PAGE:
        raise InvalidInput(f"limit must be between 1 and {LARGEST_PAGE}, not {limit}")
    return limit


def moment_cursor(at: datetime, row_id: str) -> str:
    micros = (at - _EPOCH) // timedelta(microseconds=1)
    return text_cursor(f"{micros}.{row_id}")


def text_cursor(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_text_cursor(cursor: str) -> str:
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return raw.decode()
    except (binascii.Error, ValueError):
        raise InvalidInput(_not_ours(cursor)) from None


def read_moment_cursor(cursor: str) -> tuple[datetime, str]:
    micros, dot, row_id = read_text_cursor(cursor).partition(".")
    try:
        at = _EPOCH + timedelta(microseconds=int(micros))
    except (ValueError, OverflowError):
        raise InvalidInput(_not_ours(cursor)) from None
    if not dot or not row_id:
        raise InvalidInput(_not_ours(cursor))
    return at, row_id


def before(table: Table, moment: str, cursor: str) -> ColumnElement[bool]:
    """Rows that come after the cursor when the newest come first."""
    at, row_id = read_moment_cursor(cursor)
    when: Column[datetime] = table.c[moment]
    return or_(when < at, and_(when == at, table.c.id < row_id))


def _not_ours(cursor: str) -> str:
    return f"cursor {cursor[:40]!r} is not one that this service gave out; leave it away to start from the first page"
