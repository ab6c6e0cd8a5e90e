"""Forgets what has expired. Nothing depends on it being run: everything that expires is also judged when it is read."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Table, and_, delete

from whileai_registry.database import Database
from whileai_registry.tables import device_logins, email_codes, keys, rate_windows, sessions

# Kept for a day, so that a late question still gets the answer "expired" and not "unknown".
KEPT = timedelta(days=1)


def stale(before: datetime) -> list[tuple[Table, ColumnElement[bool]]]:
    """What may go: rows whose end (or, for windows, whose start) lies before this moment."""
    return [
        (device_logins, device_logins.c.expires_at < before),
        (email_codes, email_codes.c.expires_at < before),
        (sessions, sessions.c.expires_at < before),
        (rate_windows, rate_windows.c.started_at < before),
        (keys, and_(keys.c.kind == "delegated", keys.c.expires_at < before)),
    ]


def tidy(database: Database) -> int:
    """How many rows were forgotten."""
    with database.write() as connection:
        return sum(
            connection.execute(delete(table).where(condition)).rowcount
            for table, condition in stale(database.now() - KEPT)
        )
