"""The profile of a dataset: pass rate, support, mixed tasks, tool use, per task. ClickHouse reads and counts the rows.

A reward of 0.5 or more counts as a pass here (partial credit); verdicts of runs use their own bar. The lines go through
a table that keeps what is counted of each (`row_facts`, which also says what the task of a row is), and leave it again.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from whileai_ingest import Store

PASS_THRESHOLD = 0.5
# So much is handed over at once: large enough for ClickHouse, small enough to hold beside everything else.
BATCH_BYTES = 4 << 20
BATCH_LINES = 4_000

_COUNT = """
SELECT task, count(), count(reward), countIf(reward >= {pass:Float64}), sum(steps), countIf(notEmpty(tools)),
    sumMap(tools, arrayMap(tool -> toUInt64(1), tools)), sumMap([answer_below], [toUInt64(answer_below > 0)])
FROM row_facts
WHERE account = {account:String} AND counting = {counting:String}
GROUP BY task
ORDER BY task
"""
_FORGET = "DELETE FROM row_facts WHERE account = {account:String} AND counting = {counting:String}"


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


def profile_of(store: Store, account: str, lines: Iterable[bytes]) -> dict[str, Any]:
    """The numbers that say whether a set of these rows can be trained on."""
    counting = {"account": account, "counting": secrets.token_hex(16)}
    try:
        for batch in _batches(lines):
            rows = [[account, counting["counting"], number, line.decode()] for number, line in batch]
            store.insert("row_facts", ("account", "counting", "number", "line"), rows)
        found = [_Task(*row) for row in store.query(_COUNT, {**counting, "pass": PASS_THRESHOLD})]
    finally:
        store.command(_FORGET, counting)
    return _view(found)


def _batches(lines: Iterable[bytes]) -> Iterator[list[tuple[int, bytes]]]:
    batch: list[tuple[int, bytes]] = []
    size = 0
    for numbered in enumerate(lines):
        batch.append(numbered)
        size += len(numbered[1])
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
