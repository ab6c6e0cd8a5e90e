"""The profile of a dataset: pass rate, support, mixed tasks, tool use, per task. Pure; reads each row once.

A reward of 0.5 or more counts as a pass here (partial credit); verdicts of runs use their own bar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai.rows import task_key

PASS_THRESHOLD = 0.5


@dataclass(slots=True)
class _Counts:
    rows: int = 0
    graded: int = 0
    passed: int = 0

    def add(self, passed: bool | None) -> None:
        self.rows += 1
        self.graded += passed is not None
        self.passed += passed is True

    @property
    def pass_rate(self) -> float | None:
        return self.passed / self.graded if self.graded else None


@dataclass(slots=True)
class _Profile:
    total: _Counts = field(default_factory=_Counts)
    tasks: dict[str, _Counts] = field(default_factory=dict)
    tools: Counter[str] = field(default_factory=Counter)
    with_tools: int = 0
    steps: int = 0
    lengths: Counter[int] = field(default_factory=Counter)


def profile_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The numbers that say whether a set can be trained on."""
    found = _Profile()
    for row in rows:
        passed = _passed(row)
        found.total.add(passed)
        found.tasks.setdefault(task_key(row), _Counts()).add(passed)
        used = set(_tools_of(row))
        found.tools.update(used)
        found.with_tools += bool(used)
        steps = row.get("steps")
        found.steps += len(steps) if isinstance(steps, list) else 0
        answer = row.get("final_text")
        if isinstance(answer, str):
            found.lengths[_class_of(len(answer))] += 1
    return _view(found)


def _view(found: _Profile) -> dict[str, Any]:
    total = found.total
    return {
        "rows": total.rows,
        "split": {
            "pass": total.passed,
            "fail": total.graded - total.passed,
            "ungraded": total.rows - total.graded,
        },
        "pass_rate": total.pass_rate,
        "tasks": len(found.tasks),
        "tasks_with_repeats": sum(task.rows > 1 for task in found.tasks.values()),
        "mixed_tasks": sum(0 < task.passed < task.graded for task in found.tasks.values()),
        "support": {
            "least": min((task.rows for task in found.tasks.values()), default=0),
            "most": max((task.rows for task in found.tasks.values()), default=0),
            "mean": total.rows / len(found.tasks) if found.tasks else None,
        },
        "tool_use": {
            "rows_with_tools": found.with_tools,
            "tools": [{"tool": tool, "rows": rows} for tool, rows in found.tools.most_common()],
        },
        "answer_chars": [{"below": below, "rows": rows} for below, rows in sorted(found.lengths.items())],
        "mean_steps": found.steps / total.rows if total.rows else None,
        "per_task": [
            {"task": name, "rows": task.rows, "graded": task.graded, "pass_rate": task.pass_rate}
            for name, task in sorted(found.tasks.items())
        ],
    }


def _class_of(chars: int) -> int:
    """The power of two above a length: lengths spread over orders of magnitude."""
    return int(2 ** max(4, chars.bit_length()))


def _passed(row: Mapping[str, Any]) -> bool | None:
    reward = row.get("reward")
    return reward >= PASS_THRESHOLD if isinstance(reward, int | float) else None


def _tools_of(row: Mapping[str, Any]) -> Iterator[str]:
    for step in _dicts(row.get("steps")):
        if isinstance(step.get("tool"), str):
            yield step["tool"]
    for message in _dicts(row.get("messages")):
        for call in _dicts(message.get("tool_calls")):
            named = call.get("function", call)
            if isinstance(named, dict) and isinstance(named.get("name"), str):
                yield named["name"]


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
