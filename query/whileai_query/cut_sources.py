"""What the stores know about tasks: counts per scenario, and the graded runs of chosen ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_ingest import Store
from whileai_query.cut_report import Counted
from whileai_query.cutting import Kind, Rules, Task
from whileai_query.filters import Conditions
from whileai_query.runs import also, select_runs

# One question to the store takes so many tasks, and so many characters of their ids.
TASKS_AT_ONCE = 200
ID_CHARS_AT_ONCE = 64 << 10

_COMPLETE = "completed_at <= {now:UInt64}"
_PROMPT = "argMin(substringUTF8(ifNull(prompt, ''), 1, 500), (start_time_unix_nano, trace_id))"
_COUNTS = f"ifNull(scenario_id, '') AS scenario, count(), countIf(verdict != ''), countIf(verdict = 'pass'), {_PROMPT}"
# In no order: the same set of graded runs with the same rewards gives the same digest.
_GRADED_AS = "trace_id, verdict, ifNull(toString(reward), '')"
_DIGEST = f"count(), toString(groupBitXor(sipHash64({_GRADED_AS}))), toString(groupBitXor(cityHash64({_GRADED_AS})))"
_CANDIDATES = "scenario_id, trace_id, ifNull(reward, 0), verdict, step_count, start_time_unix_nano"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A graded run that a cut may take."""

    scenario_id: str
    trace_id: str
    reward: float
    verdict: str
    steps: int
    start: int


def count_tasks(store: Store, account: str, conditions: Conditions, now: int) -> Counted:
    """The complete runs that meet the conditions, by task, in the order of the scenario ids."""
    complete = also(conditions, _COMPLETE, now=now)
    groups = select_runs(store, account, _COUNTS, complete, "GROUP BY scenario ORDER BY scenario")
    running = also(conditions, "completed_at > {now:UInt64}", now=now)
    ((incomplete,),) = select_runs(store, account, "count()", running)
    untagged = next((group for group in groups if not group[0]), ("", 0, 0, 0, ""))
    return Counted(
        tasks=[Task(*group) for group in groups if group[0]],
        untagged=untagged[1],
        untagged_ungraded=untagged[1] - untagged[2],
        incomplete=incomplete,
    )


def page_of_tasks(
    store: Store, account: str, conditions: Conditions, now: int, after: str | None, limit: int
) -> list[Task]:
    """Tasks in the order of their ids, after one of them."""
    tagged = also(also(conditions, _COMPLETE, now=now), "scenario_id IS NOT NULL")
    if after is not None:
        tagged = also(tagged, "scenario_id > {after:String}", after=after)
    groups = select_runs(store, account, _COUNTS, tagged, f"GROUP BY scenario ORDER BY scenario LIMIT {limit}")
    return [Task(*group) for group in groups]


def cut_id_of(
    store: Store, account: str, conditions: Conditions, now: int, kind: Kind, rules: Rules, asked: Mapping[str, str]
) -> str:
    """The same filter and rules over the same graded runs give the same id, whenever and however often it is asked."""
    graded = also(also(conditions, _COMPLETE, now=now), "scenario_id IS NOT NULL AND verdict != ''")
    (digest,) = select_runs(store, account, _DIGEST, graded)
    what: list[Any] = [account, kind, rules.low, rules.high, rules.holdout, sorted(asked.items()), *digest]
    return f"cut_{hashlib.sha256(json.dumps(what).encode()).hexdigest()[:24]}"


def candidates(
    store: Store, account: str, conditions: Conditions, now: int, tasks: Sequence[Task]
) -> Iterator[tuple[Task, list[Candidate]]]:
    """For each task, in the given order, its graded runs, oldest first."""
    graded = also(also(conditions, _COMPLETE, now=now), "verdict != ''")
    for part in _portions(tasks):
        asked = also(graded, "scenario_id IN {scenarios:Array(String)}", scenarios=[task.scenario_id for task in part])
        found: dict[str, list[Candidate]] = {}
        for row in select_runs(store, account, _CANDIDATES, asked, "ORDER BY start_time_unix_nano, trace_id"):
            candidate = Candidate(*row)
            found.setdefault(candidate.scenario_id, []).append(candidate)
        yield from ((task, found.get(task.scenario_id, [])) for task in part)


def _portions(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    portion: list[Task] = []
    chars = 0
    for task in tasks:
        if portion and (len(portion) == TASKS_AT_ONCE or chars + len(task.scenario_id) > ID_CHARS_AT_ONCE):
            yield portion
            portion, chars = [], 0
        portion.append(task)
        chars += len(task.scenario_id)
    if portion:
        yield portion
