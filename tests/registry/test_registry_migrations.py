"""Migrating: complete, repeatable, safe to race, safe to kill."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from whileai_registry import Registry, RegistryUnavailable
from whileai_registry.database import Database
from whileai_registry.tables import metadata

MIGRATE = "import sys; from whileai_registry import Registry; r = Registry(sys.argv[1]); r.migrate(); r.bootstrap()"

# Kills its own process, as hard as can be, before the nth statement that changes the tables.
MIGRATE_AND_DIE = """
import os, signal, sys
from sqlalchemy import event
from sqlalchemy.engine import Engine
from whileai_registry import Registry
left = int(sys.argv[2])
@event.listens_for(Engine, "before_cursor_execute")
def count(conn, cursor, statement, *rest):
    global left
    if statement.lstrip().upper().startswith(("CREATE", "INSERT", "UPDATE")):
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
Registry(sys.argv[1]).migrate()
"""


def migrate(url: str) -> None:
    with closing(Registry(url)) as registry:
        registry.migrate()


def test_the_migrations_build_exactly_the_tables_that_the_code_uses(empty_url: str) -> None:
    migrate(empty_url)
    database = Database(empty_url)
    with database.read() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    database.close()
    assert differences == []


def test_migrating_again_changes_nothing(empty_url: str) -> None:
    migrate(empty_url)
    registry = Registry(empty_url)
    key = registry.bootstrap().api_key
    registry.migrate()
    assert key is not None
    assert registry.authenticate(key) is not None
    registry.close()


def test_services_that_start_at_once_migrate_once_and_make_one_account_with_one_key(empty_url: str) -> None:
    starting = [
        subprocess.Popen([sys.executable, "-c", MIGRATE, empty_url], stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    errors = [process.communicate()[1] for process in starting]
    assert [process.returncode for process in starting] == [0, 0, 0], errors
    registry = Registry(empty_url)
    assert len(registry.keys.list_all("acc_local")) == 1
    registry.close()


@pytest.mark.parametrize("statements", [0, 5, 12, 20])
def test_a_migration_that_is_killed_half_way_leaves_nothing_and_runs_again(empty_url: str, statements: int) -> None:
    killed = subprocess.run([sys.executable, "-c", MIGRATE_AND_DIE, empty_url, str(statements)], check=False)
    assert killed.returncode == -signal.SIGKILL
    database = Database(empty_url)
    with database.read() as connection:
        assert inspect(connection).get_table_names() == []
    database.close()
    migrate(empty_url)
    registry = Registry(empty_url)
    assert registry.bootstrap().api_key is not None
    registry.close()


def test_records_of_a_newer_version_are_refused_with_a_sentence(url: str) -> None:
    database = Database(url)
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    with pytest.raises(RegistryUnavailable, match="newer version of While"):
        migrate(url)


def test_a_file_that_is_no_database_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "records.db").write_bytes(b"not a database at all, but long enough to look like one" * 40)
    with pytest.raises(RegistryUnavailable, match="is not a records file"):
        migrate(f"sqlite:///{tmp_path}/records.db")
