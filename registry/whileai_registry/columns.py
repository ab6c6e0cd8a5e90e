"""The two column types on which SQLite and PostgreSQL disagree, made equal: a moment, and a text."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import DateTime, Dialect, String
from sqlalchemy.types import TypeDecorator


class Moment(TypeDecorator[datetime]):
    """A UTC time, always aware in Python. SQLite forgets the zone, so it is put back on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone; the records keep UTC only")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def storable(text: str) -> str:
    """Replace what PostgreSQL cannot keep (NUL, lone surrogates), so that one strange name never fails a whole call."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


class Text(TypeDecorator[str]):
    """Any Python string, without the characters that only one of the databases can hold."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - fixed signature
        return None if value is None else storable(value)
