"""The connection to the records: SQLite or PostgreSQL, one transaction at a time, one sentence when it is not there.

Knows nothing of what is stored. A writer on SQLite begins IMMEDIATE: a transaction that read first and wants to write
later would otherwise fail at once, without waiting, when another one wrote in between.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Engine
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, NoSuchModuleError, OperationalError, TimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

from whileai_registry.errors import InvalidInput, RegistryUnavailable

Clock = Callable[[], datetime]
Upsert = sqlite.Insert | postgresql.Insert

SQLITE_BUSY_SECONDS = 20  # writers queue for the one lock; only a stuck process makes anybody wait this long

_DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
_BEGIN = "whileai_sqlite_begin"

_OPTIONS: dict[str, dict[str, Any]] = {
    "sqlite": {"pool_size": 20, "max_overflow": 30, "connect_args": {"timeout": SQLITE_BUSY_SECONDS}},
    "postgresql": {
        "pool_size": 10,
        "max_overflow": 20,
        "pool_timeout": 10,
        "pool_pre_ping": True,  # a restarted server must not cost one failed request per pooled connection
        "connect_args": {
            "connect_timeout": 5,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "application_name": "whileai",
        },
    },
}


def utc_now() -> datetime:
    return datetime.now(UTC)


def parse_url(url: str) -> URL:
    """The address of the records with the driver we ship; refuses what cannot work."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        # Without the text itself, which may hold a password.
        raise InvalidInput("WHILEAI_RECORDS_URL is not a database URL such as sqlite:////data/records.db") from None
    backend = parsed.drivername.split("+")[0]
    if backend not in _DRIVERS:
        raise InvalidInput(f"WHILEAI_RECORDS_URL must start with sqlite:/// or postgresql://, not {backend}://")
    if backend == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise InvalidInput("WHILEAI_RECORDS_URL must name a file: records in memory would differ from thread to thread")
    return parsed.set(drivername=_DRIVERS[backend])


class Database:
    """An engine with two ways in, `read()` and `write()`: one transaction each, committed when the block ends well."""

    def __init__(self, url: str, clock: Clock = utc_now) -> None:
        self.url = parse_url(url)
        self.now = clock
        try:
            self._reader = _engine(self.url)
        except (NoSuchModuleError, ModuleNotFoundError, ImportError) as exc:
            raise RegistryUnavailable(f"the records need a database driver that is not installed: {exc}") from exc
        self._writer = self._reader.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})

    @property
    def backend(self) -> str:
        return self._reader.dialect.name

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._sentence("cannot be reached"), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        with self._sentence("cannot be reached"), self._writer.begin() as connection:
            yield connection

    def insert(self, table: Table) -> Upsert:
        """An INSERT that knows ON CONFLICT, in the words of the database at hand."""
        return postgresql.insert(table) if self.backend == "postgresql" else sqlite.insert(table)

    def close(self) -> None:
        self._reader.dispose()

    def unavailable(self, what: str, cause: BaseException) -> RegistryUnavailable:
        reason = " ".join(str(getattr(cause, "orig", None) or cause).split())
        place = self.url.render_as_string(hide_password=True)
        return RegistryUnavailable(f"the records at {place} {what}: {reason} (set by WHILEAI_RECORDS_URL)")

    @contextmanager
    def _sentence(self, what: str) -> Iterator[None]:
        try:
            yield
        except DBAPIError as exc:
            if isinstance(exc, OperationalError) or exc.connection_invalidated or type(exc) is DatabaseError:
                raise self.unavailable(what, exc) from exc
            raise
        except TimeoutError as exc:
            raise self.unavailable(what, exc) from exc


def _engine(url: URL) -> Engine:
    options = _OPTIONS[url.get_backend_name()]
    engine = create_engine(url, json_serializer=partial(json.dumps, allow_nan=False), **options)
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    """Take transactions into our own hands, for DDL too, and switch on what SQLite leaves off.

    WAL is a property of the file and is set by `migrate`: switching needs the file alone.
    """
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get(_BEGIN, "BEGIN"))
