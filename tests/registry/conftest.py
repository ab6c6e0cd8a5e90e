"""Every test of the records runs on both databases: a SQLite file, and a PostgreSQL of our own."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.postgres_cluster import Cluster, cluster

from whileai_registry import Registry

BACKENDS = ("sqlite", "postgresql")

_numbers = itertools.count()


@dataclass
class Clock:
    """A clock that moves when told to."""

    at: datetime = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def advance(self, **step: float) -> None:
        self.at += timedelta(**step)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def empty_url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without tables."""
    if backend == "sqlite":
        return f"sqlite:///{tmp_path}/records.db"
    running: Cluster = request.getfixturevalue("postgres")
    name = f"empty_{next(_numbers)}"
    running.run(f"CREATE DATABASE {name}")
    return running.url(name)


@pytest.fixture(scope="session")
def migrated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Path], str]:
    """Copies of a database that was migrated once; much faster than migrating for every test."""
    file = tmp_path_factory.mktemp("template") / "records.db"

    def prepare(url: str) -> None:
        registry = Registry(url)
        registry.migrate()
        registry.close()

    def copy(backend: str, folder: Path) -> str:
        if backend == "sqlite":
            if not file.exists():
                prepare(f"sqlite:///{file}")
            shutil.copy(file, folder / "records.db")
            return f"sqlite:///{folder}/records.db"
        running: Cluster = request.getfixturevalue("postgres")
        number = next(_numbers)
        if "template" not in made:
            running.run("CREATE DATABASE template")
            prepare(running.url("template"))
            made.add("template")
        running.run(f"CREATE DATABASE records_{number} TEMPLATE template")
        return running.url(f"records_{number}")

    made: set[str] = set()
    return copy


@pytest.fixture
def url(backend: str, migrated: Callable[[str, Path], str], tmp_path: Path) -> str:
    return migrated(backend, tmp_path)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def registry(url: str, clock: Clock) -> Iterator[Registry]:
    opened = Registry(url, clock)
    yield opened
    opened.close()


@pytest.fixture
def account(registry: Registry) -> str:
    return registry.bootstrap().account_id


@pytest.fixture
def stranger(registry: Registry) -> str:
    """Another account on the same service."""
    return registry.accounts.sign_in("stranger@example.com").id
