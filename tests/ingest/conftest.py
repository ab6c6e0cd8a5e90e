"""Journals in folders of their own, and one journal and writer in front of the process's engine."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from support.clickhouse_server import clickhouse_port, database_url
from support.engine import engine_url
from support.journals import OpenJournal

from whileai_ingest import Ingest, Store
from whileai_ingest.journal import Journal


@pytest.fixture
def open_journal(tmp_path: Path) -> Iterator[OpenJournal]:
    opened: list[Journal] = []

    def open_(max_bytes: int = 1 << 30, folder: Path | None = None) -> Journal:
        journal = Journal(folder or tmp_path / "journal", max_bytes=max_bytes)
        opened.append(journal)
        return journal

    yield open_
    for journal in opened:
        journal.close()


@pytest.fixture(scope="session", params=["embedded", "server"])
def ingest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ingest]:
    """The same tests on both engines: chDB in this process, and ClickHouse over HTTP."""
    folder = tmp_path_factory.mktemp("ingest")
    with ExitStack() as undo:
        embedded = request.param == "embedded"
        url = engine_url() if embedded else database_url(undo.enter_context(clickhouse_port(folder)))
        running = Ingest(folder / "journal", Store(url), CollectorRegistry(), journal_max_bytes=1 << 32)
        running.start()
        yield running
        assert running.close(), "the writer did not drain"


@pytest.fixture
def account() -> str:
    return f"acc_{uuid.uuid4().hex[:12]}"
