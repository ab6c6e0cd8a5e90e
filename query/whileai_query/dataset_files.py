"""Where the files of a dataset lie, and a file of rows while it is written.

Beside the rows lies the list of the traces they came from, so that a set can say later which of them are gone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from whileai_query.objects import Objects


def rows_key(account: str, dataset_id: str) -> str:
    return f"{account}/{dataset_id}/rows.jsonl"


def traces_key(account: str, dataset_id: str) -> str:
    return f"{account}/{dataset_id}/traces.txt"


@dataclass(slots=True)
class RowsFile:
    """Counts what goes through it."""

    rows_to: IO[bytes]
    traces_to: IO[bytes]
    rows: int = 0
    size: int = 0

    def add(self, line: bytes, trace_id: str) -> None:
        """One row, its newline included."""
        self.rows_to.write(line)
        self.traces_to.write(trace_id.encode() + b"\n")
        self.rows += 1
        self.size += len(line)


@contextmanager
def rows_file(objects: Objects, account: str, dataset_id: str) -> Iterator[RowsFile]:
    """Both files; they are there once the block ends well."""
    with (
        objects.writing(rows_key(account, dataset_id)) as rows,
        objects.writing(traces_key(account, dataset_id)) as traces,
    ):
        yield RowsFile(rows, traces)


@contextmanager
def whole_file(objects: Objects, keys: Sequence[str]) -> Iterator[Path]:
    """The rows as one file of this machine, for those that read files only: the stored one where that is possible."""
    stored = objects.local_path(keys[0]) if len(keys) == 1 else None
    if stored is not None:
        yield stored
        return
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        for key in keys:
            for chunk in objects.read(key):
                file.write(chunk)
        file.flush()
        yield Path(file.name)


def delete_files(objects: Objects, keys: Iterable[str]) -> None:
    """Remove these files; what is not there is removed already."""
    for key in keys:
        objects.delete(key)
