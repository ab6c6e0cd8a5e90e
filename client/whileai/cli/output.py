"""What a verb has to say: a value for `--json`, and the same as text for a person."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDEST = 60  # characters of a cell


@dataclass(frozen=True)
class Output:
    value: Any
    text: str
    problem: str | None = None  # said on stderr, and the exit code is 1
    code: int = 0  # the exit code otherwise


def table(rows: Iterable[Mapping[str, Any]], columns: Sequence[tuple[str, str]], nothing: str) -> str:
    """Rows under headings, each column as wide as it needs; `nothing` when there are none.

    >>> print(table([{"name": "bot", "n": 3}], [("name", "AGENT"), ("n", "TRACES")], "none"))
    AGENT  TRACES
    bot    3
    """
    cells = [[_cell(row.get(key)) for key, _ in columns] for row in rows]
    if not cells:
        return nothing
    lines = [[heading for _, heading in columns], *cells]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def pairs(values: Mapping[str, Any]) -> str:
    """One `name: value` a line; what is unknown is left out."""
    known = {name: value for name, value in values.items() if value not in (None, "", [], {})}
    width = max((len(name) for name in known), default=0) + 1
    return "\n".join(f"{name + ':':<{width}} {_cell(value, whole=True)}" for name, value in known.items())


def _cell(value: Any, *, whole: bool = False) -> str:
    if value is None:
        return "-"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    text = " ".join(text.split())
    return text if whole or len(text) <= WIDEST else text[: WIDEST - 1] + "…"
