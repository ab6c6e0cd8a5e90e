"""What a cut holds: from the counts of a task to its bucket, its side, and the reason in words. Pure, no store.

A task is a scenario that runs tried. The RL cut takes the tasks whose pass rate over graded runs lies in the band; the
SFT cut takes the best run of every task that ever passed. A task is wholly in train or wholly in holdout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from whileai_dialects import is_holdout
from whileai_query.errors import BadRequest

MIN_RUNS = 2
DEFAULT_LOW = 0.2
DEFAULT_HIGH = 0.8
DEFAULT_HOLDOUT = 0.2

Kind = Literal["rl", "sft"]
Side = Literal["train", "holdout"]
Bucket = Literal["in_band", "solved", "never", "too_few", "ungraded"]

KINDS: tuple[Kind, ...] = ("rl", "sft")
SIDES: tuple[Side, ...] = ("train", "holdout")


@dataclass(frozen=True, slots=True)
class Rules:
    """Which pass rates are worth learning from (both edges count), and what share of the tasks is held out."""

    low: float = DEFAULT_LOW
    high: float = DEFAULT_HIGH
    holdout: float = DEFAULT_HOLDOUT

    def __post_init__(self) -> None:
        if not (0 <= self.low <= 1 and 0 <= self.high <= 1):
            raise BadRequest(f"band {self.low:g} to {self.high:g} must lie between 0 and 1 (lo, hi)")
        if self.low > self.high:
            raise BadRequest(f"band {self.low:g} to {self.high:g} is upside down: lo must not be above hi")
        if not 0 <= self.holdout < 1:
            raise BadRequest(f"holdout={self.holdout:g} must be a share from 0 up to, not including, 1")


@dataclass(frozen=True, slots=True)
class Task:
    """One scenario and its complete runs, counted. `prompt` is that of its earliest run."""

    scenario_id: str
    runs: int
    graded: int
    passed: int
    prompt: str = ""

    @property
    def pass_rate(self) -> float | None:
        return self.passed / self.graded if self.graded else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a task is in a cut, and why, in words."""

    included: bool
    reason: str


def bucket_of(task: Task, rules: Rules) -> Bucket:
    """Where a task stands for the RL cut."""
    rate = task.pass_rate
    if rate is None:
        return "ungraded"
    if task.graded < MIN_RUNS:
        return "too_few"
    if rate > rules.high:
        return "solved"
    return "in_band" if rate >= rules.low else "never"


def side_of(scenario_id: str, rules: Rules) -> Side:
    """Train or holdout, by the scenario id alone: the same on every machine, every time."""
    return "holdout" if is_holdout(scenario_id, rules.holdout) else "train"


def rl_verdict(task: Task, rules: Rules) -> Verdict:
    """Whether the RL cut takes the task."""
    return _RL[bucket_of(task, rules)](task, rules)


def sft_verdict(task: Task, rules: Rules) -> Verdict:  # noqa: ARG001 - the same shape as rl_verdict
    """Whether the SFT cut takes the task."""
    if task.passed:
        return Verdict(True, f"{_of(task)} passed; the best of them is taken")
    if task.graded:
        return Verdict(False, f"none of its {_many(task.graded, 'graded run')} passed")
    return Verdict(False, f"none of its {_many(task.runs, 'run')} is graded")


VERDICTS: dict[Kind, Callable[[Task, Rules], Verdict]] = {"rl": rl_verdict, "sft": sft_verdict}


def task_view(task: Task, rules: Rules) -> dict[str, Any]:
    """A row of the task list."""
    return {
        "scenarioId": task.scenario_id,
        "prompt": task.prompt[:200],
        "runs": task.runs,
        "graded": task.graded,
        "passed": task.passed,
        "passRate": task.pass_rate,
        "bucket": bucket_of(task, rules),
        "side": side_of(task.scenario_id, rules),
        **{
            kind: {"included": verdict.included, "reason": verdict.reason}
            for kind in KINDS
            for verdict in (VERDICTS[kind](task, rules),)
        },
    }


def chosen(tasks: Iterable[Task], kind: Kind, rules: Rules) -> list[Task]:
    """The tasks that a cut takes, in the order of their ids."""
    return sorted(
        (task for task in tasks if VERDICTS[kind](task, rules).included), key=lambda task: task.scenario_id.encode()
    )


def why_nothing(tasks: Sequence[Task], kind: Kind, rules: Rules, *, runs: int, incomplete: int) -> str:
    """The one reason why a cut of these tasks is empty, and what would change it."""
    graded = [task for task in tasks if task.graded]
    waiting = f" ({incomplete} still running)" if incomplete else ""
    if not runs:
        return f"no complete run matches the filter{waiting}; see GET /traces with the same filter"
    if not tasks:
        return f"none of the {_many(runs, 'run')} names its scenario; set zeroproof.scenario_id on the spans"
    if not graded:
        return f"none of the {_many(runs, 'run')} of {_many(len(tasks), 'task')} is graded; send scores first"
    if kind == "sft":
        return f"none of the {_many(len(graded), 'graded task')} was ever passed, so there is no run to imitate"
    counts = [
        (sum(bucket_of(task, rules) == bucket for task in graded), words)
        for bucket, words in (
            ("solved", f"passed more often than {rules.high:g} of the time"),
            ("never", f"passed less often than {rules.low:g} of the time"),
            ("too_few", f"with fewer than {MIN_RUNS} graded runs"),
        )
    ]
    told = ", ".join(f"{count} {words}" for count, words in counts if count)
    return (
        f"no task has a pass rate from {rules.low:g} to {rules.high:g}: of {_many(len(graded), 'graded task')}, {told}"
    )


_RL: dict[Bucket, Callable[[Task, Rules], Verdict]] = {
    "in_band": lambda task, rules: Verdict(True, f"{_of(task)} passed, which is in the band {_band(rules)}"),
    "solved": lambda task, rules: Verdict(
        False, f"{_of(task)} passed, above the band {_band(rules)}: nothing to learn"
    ),
    "never": lambda task, rules: Verdict(False, f"{_of(task)} passed, below the band {_band(rules)}: too hard as yet"),
    "too_few": lambda task, _rules: Verdict(
        False, f"{_many(task.graded, 'graded run')} of {task.runs}; a pass rate needs {MIN_RUNS}"
    ),
    "ungraded": lambda task, _rules: Verdict(False, f"none of its {_many(task.runs, 'run')} is graded"),
}


def _of(task: Task) -> str:
    return f"{task.passed} of {_many(task.graded, 'graded run')}"


def _band(rules: Rules) -> str:
    return f"{rules.low:g} to {rules.high:g}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
