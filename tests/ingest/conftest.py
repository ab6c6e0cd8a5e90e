"""Journals in folders of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.journals import OpenJournal

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
