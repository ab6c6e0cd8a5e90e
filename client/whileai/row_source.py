"""Where a function that takes "rows" may get them: a list, a container that has rows, or a JSONL file."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def rows_of(source: Any) -> list[dict[str, Any]]:
    """The rows of a list of rows, of an object with `rows`, or of a file of JSON lines."""
    if isinstance(source, str | os.PathLike):
        return list(read_jsonl(Path(source)))
    rows = getattr(source, "rows", source)
    if not isinstance(rows, list) and callable(rows):
        rows = rows()
    found = list(rows)
    for number, row in enumerate(found):
        if not isinstance(row, Mapping):
            raise ValueError(f"row {number} is a {type(row).__name__}; rows are objects with a prompt")
    return found


def read_jsonl(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; a bad line is named."""
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as problem:
                raise ValueError(f"{file}, line {number}: not JSON ({problem})") from problem
            if not isinstance(row, dict):
                raise ValueError(f"{file}, line {number}: a row is an object, this is a {type(row).__name__}")
            yield row
