"""How tests open journals."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from whileai_ingest.journal import Journal


class OpenJournal(Protocol):
    """Opens the journal in the test's folder, and closes it at the end."""

    def __call__(self, max_bytes: int = ..., folder: Path | None = ...) -> Journal: ...
