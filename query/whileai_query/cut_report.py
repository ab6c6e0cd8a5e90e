"""The report of a cut before it is made: how many tasks and runs each kind would hold, and what to be wary of. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from whileai.near_copies import near_copies_across_tasks
from whileai.sizing import holdout_size
from whileai_query.cutting import KINDS, MIN_RUNS, Rules, Task, bucket_of, chosen, side_of

PROVABLE_GAIN = 0.05
# Comparing prompts is the costly part; beyond this many tasks a sample in the order of their ids must do.
MOST_COMPARED = 20_000


@dataclass(frozen=True, slots=True)
class Counted:
    """The runs that match a filter: by task, and those that belong to none."""

    tasks: Sequence[Task]
    untagged: int = 0
    untagged_ungraded: int = 0
    incomplete: int = 0

    @property
    def runs(self) -> int:
        """Complete runs."""
        return self.untagged + sum(task.runs for task in self.tasks)


def report_of(counted: Counted, rules: Rules, asked: Mapping[str, str]) -> dict[str, Any]:
    """What `GET /traces/cuts` answers, and what a dataset keeps of the counts it was made from."""
    tasks = counted.tasks
    no_reward = sum(task.runs - task.graded for task in tasks)
    by_rate = [task.pass_rate for task in tasks if task.graded >= MIN_RUNS]
    return {
        "filter": dict(asked),
        "runs": counted.runs,
        "incomplete": counted.incomplete,
        "untagged": counted.untagged,
        "ungraded": counted.untagged_ungraded + no_reward,
        "noReward": no_reward,
        "tasks": len(tasks),
        "prompts": sum(task.graded > 0 for task in tasks),
        "more": {"prompts": sum(bucket_of(task, rules) == "too_few" for task in tasks)},
        "kinds": {
            "solved": {"prompts": sum(rate == 1 for rate in by_rate)},
            "never": {"prompts": sum(rate == 0 for rate in by_rate)},
            "mixed": {"prompts": sum(rate is not None and 0 < rate < 1 for rate in by_rate)},
        },
        **{kind: _side_counts(chosen(tasks, kind, rules), kind, rules) for kind in KINDS},
        "minRuns": MIN_RUNS,
        "band": [rules.low, rules.high],
        "holdout": rules.holdout,
    }


def _side_counts(tasks: Sequence[Task], kind: str, rules: Rules) -> dict[str, int]:
    held = sum(side_of(task.scenario_id, rules) == "holdout" for task in tasks)
    return {
        "prompts": len(tasks),
        "rows": sum(task.graded for task in tasks) if kind == "rl" else len(tasks),
        "train": len(tasks) - held,
        "holdout": held,
    }


def warnings_of(counted: Counted, rules: Rules) -> list[str]:
    """What makes the numbers of a cut less than they seem, a sentence each."""
    told = (_near_copies(counted.tasks), _small_holdout(counted.tasks, rules), _single_runs(counted.tasks))
    return [sentence for sentence in told if sentence]


def _near_copies(tasks: Sequence[Task]) -> str | None:
    found = near_copies_across_tasks((task.scenario_id, task.prompt) for task in tasks[:MOST_COMPARED])
    if not found["n_tasks_involved"]:
        return None
    first = found["examples"][0]
    return (
        f"{found['n_tasks_involved']} tasks ask nearly the same as another task, so that train and holdout may share "
        f"them: {first['task_a']} and {first['task_b']} ({first['a']!r})"
    )


def _small_holdout(tasks: Sequence[Task], rules: Rules) -> str | None:
    """The holdout of the RL cut, or of the SFT cut when there is no RL cut."""
    taken = next((found for kind in KINDS if (found := chosen(tasks, kind, rules))), [])
    held = sum(side_of(task.scenario_id, rules) == "holdout" for task in taken)
    if not taken or not rules.holdout:
        return None
    rate = fmean(task.passed / task.graded for task in taken)
    runs = min(task.graded for task in taken)
    needed = holdout_size(PROVABLE_GAIN, base=min(max(rate, 0.05), 0.85), k=max(runs, 1))["n_tasks"]
    if held >= needed:
        return None
    return (
        f"the holdout has {held} task{'' if held == 1 else 's'}; "
        f"proving a gain of {PROVABLE_GAIN * 100:g} points at 80% power takes about {needed}"
    )


def _single_runs(tasks: Sequence[Task]) -> str | None:
    single = sum(task.runs == 1 for task in tasks)
    if not single:
        return None
    return f"{single} task{' has' if single == 1 else 's have'} a single run, which tells no pass rate: run them again"
