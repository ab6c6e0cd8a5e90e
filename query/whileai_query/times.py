"""Times as the API writes them: ISO 8601 UTC with a `Z` for people, nanoseconds as decimal strings for machines."""

from __future__ import annotations

from datetime import UTC, datetime

NS = 1_000_000_000


def iso(ns: int) -> str:
    """Nanoseconds since 1970 as `2026-01-31T12:00:00.123456Z`."""
    seconds, rest = divmod(ns, NS)
    return f"{_date(seconds)}.{rest // 1000:06d}Z"


def iso_second(ns: int) -> str:
    """The same without a fraction."""
    return f"{_date(ns // NS)}Z"


def iso_of(moment: datetime | None) -> str | None:
    """A record's time in the same form."""
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
