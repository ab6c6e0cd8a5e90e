"""Rows out of files as the Hub keeps them: Parquet, Arrow, CSV, JSON lines and JSON, a piece at a time."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

Row = Mapping[str, Any]
Reader = Callable[[Path], Iterator[Row]]

BATCH_ROWS = 512
# Of a cell in a CSV file; the module's own bound of 128 kB is less than a conversation may take.
LARGEST_CELL = 1 << 30
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class Unreadable(Exception):
    """The file is not what its name says; the message names the file."""


def is_readable(path: str) -> bool:
    """Whether a file of this name is one of those we read. What describes a repository holds no rows."""
    name = path.rsplit("/", 1)[-1]
    return _reader(path) is not None and not name.startswith((".", "dataset_info", "dataset_dict", "state.json"))


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file. Raises `Unreadable`."""
    reader = _reader(path.name)
    assert reader is not None, path
    try:
        yield from reader(path)
    except (pa.ArrowException, ValueError, csv.Error, OSError) as error:
        raise Unreadable(f"{path.name} cannot be read: {' '.join(str(error).split())[:200]}") from error


def _parquet(path: Path) -> Iterator[Row]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(BATCH_ROWS):
            yield from batch.to_pylist()


def _arrow(path: Path) -> Iterator[Row]:
    """Either of Arrow's formats: `datasets` writes the stream, others the file."""
    with pa.memory_map(str(path)) as source:
        if source.read(6) == b"ARROW1":
            file = pa.ipc.open_file(source)
            for number in range(file.num_record_batches):
                yield from file.get_batch(number).to_pylist()
            return
        source.seek(0)
        for batch in pa.ipc.open_stream(source):
            yield from batch.to_pylist()


def _json_lines(path: Path) -> Iterator[Row]:
    with _text(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _object(json.loads(line), number)


def _json(path: Path) -> Iterator[Row]:
    """A list of objects, or, as many files of this name are, JSON lines."""
    with _text(path) as file:
        first = file.read(1)
        while first and first.isspace():
            first = file.read(1)
        if first != "[":
            yield from _json_lines(path)
            return
        file.seek(0)
        yield from (_object(item, number) for number, item in enumerate(json.load(file), 1))


def _object(value: Any, number: int) -> Row:
    if not isinstance(value, dict):
        raise ValueError(f"row {number} is no object")
    return value


def _csv(delimiter: str) -> Reader:
    def read(path: Path) -> Iterator[Row]:
        csv.field_size_limit(LARGEST_CELL)
        with _text(path) as file:
            kinds = _kinds(csv.DictReader(file, delimiter=delimiter))
        with _text(path) as file:
            for row in csv.DictReader(file, delimiter=delimiter):
                yield {name: kinds[name](value) if value else None for name, value in row.items() if name is not None}

    return read


def _kinds(rows: Iterator[Mapping[str, Any]]) -> dict[str, Callable[[str], Any]]:
    """A column is numbers only when every cell of it is one; `007` is none."""
    kinds: dict[str, Callable[[str], Any]] = {}
    for row in rows:
        for name, value in row.items():
            if name is None or not isinstance(value, str) or value == "":
                kinds.setdefault(name, int)
            elif kinds.get(name, int) is int and not _WHOLE.fullmatch(value):
                kinds[name] = float if _DECIMAL.fullmatch(value) else str
            elif kinds.get(name) is float and not _DECIMAL.fullmatch(value):
                kinds[name] = str
            else:
                kinds.setdefault(name, int)
    return kinds


def _text(path: Path) -> IO[str]:
    if path.name.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


_READERS: dict[str, Reader] = {
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".csv": _csv(","),
    ".tsv": _csv("\t"),
}
_PACKED = frozenset((".jsonl", ".ndjson", ".json", ".csv", ".tsv"))


def _reader(name: str) -> Reader | None:
    bare = name.lower()
    packed = bare.endswith(".gz")
    suffix = Path(bare.removesuffix(".gz")).suffix
    return _READERS.get(suffix) if not packed or suffix in _PACKED else None
