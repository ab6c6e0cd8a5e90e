"""The profile of a dataset: pass rate, support, mixed tasks, tool use, per task. ClickHouse reads and counts the rows.

A reward of 0.5 or more counts as a pass here (partial credit); verdicts of runs use their own bar. Embedded ClickHouse
reads the file itself; a server gets the lines through a table that it forgets afterwards. What is counted of a row, and
what its task is, stands in `row_facts.sql`.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from whileai_ingest import Store

PASS_THRESHOLD = 0.5
# So much goes to a server at once: large enough for it, small enough to hold beside everything else.
BATCH_BYTES = 4 << 20
BATCH_LINES = 4_000

_COUNT = files("whileai_query").joinpath("row_facts.sql").read_text()
_FROM_FILE = "file({file:String}, 'LineAsString', 'line String')"
# Small blocks one after another, and no mapping of the whole file: the service stays small beside a file of any size.
_READING = {
    "max_threads": 1,
    "max_block_size": 256,
    "input_format_parallel_parsing": 0,
    "storage_file_read_method": "pread",
}
_FROM_SCRATCH = "(SELECT line FROM scratch_lines WHERE account = {account:String} AND counting = {counting:String})"
_FORGET = "DELETE FROM scratch_lines WHERE account = {account:String} AND counting = {counting:String}"


@dataclass(frozen=True, slots=True)
class _Task:
    """What was counted of one task; `tools` and `answers` hold keys and their counts."""

    name: str
    rows: int
    graded: int
    passed: int
    steps: int
    with_tools: int
    tools: tuple[list[str], list[int]]
    answers: tuple[list[int], list[int]]

    def view(self) -> dict[str, Any]:
        return {
            "task": self.name,
            "rows": self.rows,
            "graded": self.graded,
            "pass_rate": _share(self.passed, self.graded),
        }


def profile_of(store: Store, account: str, file: Path) -> dict[str, Any]:
    """The numbers that say whether a set of these rows, JSON lines, can be trained on."""
    count = _count_file if store.url.startswith("chdb:") else _count_by_server
    return _view([_Task(*row) for row in count(store, account, file)])


def _count_file(store: Store, _account: str, file: Path) -> list[tuple[Any, ...]]:
    if not file.stat().st_size:  # ClickHouse finds no table in nothing
        return []
    values = {"file": str(file), "pass": PASS_THRESHOLD}
    return store.query(_COUNT.replace("{source}", _FROM_FILE), values, settings=_READING)


def _count_by_server(store: Store, account: str, file: Path) -> list[tuple[Any, ...]]:
    counting = {"account": account, "counting": secrets.token_hex(16)}
    try:
        for batch in _batches(file):
            rows = [[account, counting["counting"], number, line] for number, line in batch]
            store.insert("scratch_lines", ("account", "counting", "number", "line"), rows)
        return store.query(_COUNT.replace("{source}", _FROM_SCRATCH), {**counting, "pass": PASS_THRESHOLD})
    finally:
        store.command(_FORGET, counting)


def _batches(file: Path) -> Iterator[list[tuple[int, str]]]:
    batch: list[tuple[int, str]] = []
    size = 0
    with file.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines):
            batch.append((number, line))
            size += len(line)
            if size >= BATCH_BYTES or len(batch) >= BATCH_LINES:
                yield batch
                batch, size = [], 0
    if batch:
        yield batch


def _view(tasks: list[_Task]) -> dict[str, Any]:
    rows, graded, passed = (sum(getattr(task, name) for task in tasks) for name in ("rows", "graded", "passed"))
    tools: Counter[str] = Counter()
    answers: Counter[int] = Counter()
    for task in tasks:
        tools.update(dict(zip(*task.tools, strict=True)))
        answers.update({below: count for below, count in zip(*task.answers, strict=True) if below})
    return {
        "rows": rows,
        "split": {"pass": passed, "fail": graded - passed, "ungraded": rows - graded},
        "pass_rate": _share(passed, graded),
        "tasks": len(tasks),
        "tasks_with_repeats": sum(task.rows > 1 for task in tasks),
        "mixed_tasks": sum(0 < task.passed < task.graded for task in tasks),
        "support": {
            "least": min((task.rows for task in tasks), default=0),
            "most": max((task.rows for task in tasks), default=0),
            "mean": _share(rows, len(tasks)),
        },
        "tool_use": {
            "rows_with_tools": sum(task.with_tools for task in tasks),
            "tools": [{"tool": tool, "rows": count} for tool, count in sorted(tools.items(), key=_by_count)],
        },
        "answer_chars": [{"below": below, "rows": count} for below, count in sorted(answers.items())],
        "mean_steps": _share(sum(task.steps for task in tasks), rows),
        "per_task": [task.view() for task in tasks],
    }


def _by_count(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
