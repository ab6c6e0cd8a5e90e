"""Brings the records to the shape this version expects. Everything happens in one transaction: all of it, or nothing.

Two services that start at once take turns (a lock in the database, and one in the process because Alembic keeps its
context in module globals); one killed half-way leaves what was there before.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from whileai_registry.database import SQLITE_BUSY_SECONDS, Database
from whileai_registry.errors import RegistryUnavailable

SCRIPTS = Path(__file__).with_name("migrations")

_ADVISORY_LOCK = 0x7768696C65  # "while": any number that only we use
_one_at_a_time = threading.Lock()


def migrate(database: Database) -> None:
    if database.backend == "sqlite":
        _use_wal(database)
    with _one_at_a_time:
        try:
            with database.write() as connection:
                if database.backend == "postgresql":
                    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
                config = Config()
                config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except CommandError as exc:
            raise database.unavailable("were written by a newer version of While than this one", exc) from exc
        except SQLAlchemyError as exc:
            raise database.unavailable("could not be migrated", exc) from exc


def _use_wal(database: Database) -> None:
    """Readers then never wait for a writer. SQLite does not queue for this switch, so asking again is up to us."""
    file = database.url.database or ""
    deadline = time.monotonic() + SQLITE_BUSY_SECONDS
    while True:
        try:
            with closing(sqlite3.connect(file, timeout=SQLITE_BUSY_SECONDS)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as exc:
            if "locked" not in str(exc) or time.monotonic() > deadline:
                raise database.unavailable("cannot be reached", exc) from exc
            time.sleep(0.02)
        except sqlite3.DatabaseError as exc:
            raise RegistryUnavailable(f"{file} is not a records file of While: {exc}") from exc
