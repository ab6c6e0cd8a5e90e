"""The rows of a cut, task by task: the spans of each candidate are read again, summarised again, judged again.

A row therefore says what the trace says now, not what a list said a moment ago. A task that no longer qualifies is left
out. Traces are opened a few at a time across tasks, because most tasks have only a handful.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice

from whileai_dialects import Run, row_of
from whileai_ingest import Store
from whileai_query.answers import encode_json
from whileai_query.cut_sources import Candidate
from whileai_query.cutting import Kind, Rules, Task, rl_verdict
from whileai_query.traces import open_runs

# So many traces are opened at once; their spans are what a cut needs memory for.
TRACES_AT_ONCE = 64

Group = tuple[Task, list[Candidate]]


@dataclass(frozen=True, slots=True)
class Line:
    """One row as it is written, and where it came from."""

    data: bytes
    trace_id: str
    agent: str | None


@dataclass(frozen=True, slots=True)
class Reading:
    """Whose traces are read for which cut."""

    store: Store
    account: str
    rules: Rules
    cut_id: str

    def runs(self, wanted: Iterable[tuple[Task, Candidate]]) -> Iterator[tuple[Task, Candidate, Run | None]]:
        """The run of each candidate; None when the trace is gone or no longer graded."""
        coming = iter(wanted)
        while part := list(islice(coming, TRACES_AT_ONCE)):
            opened = open_runs(self.store, self.account, [candidate.trace_id for _, candidate in part])
            for task, candidate in part:
                found = opened.get(candidate.trace_id)
                yield task, candidate, found.run if found is not None and found.run.verdict else None


def lines_by_task(reading: Reading, kind: Kind, groups: Iterable[Group]) -> Iterator[tuple[Task, list[Line]]]:
    """The rows of each task that qualifies, oldest run first, tasks in their order."""
    return _LINES[kind](reading, groups)


def _rl_lines(reading: Reading, groups: Iterable[Group]) -> Iterator[tuple[Task, list[Line]]]:
    """Every graded run."""
    wanted = ((task, candidate) for task, found in groups for candidate in found)
    for task, runs in groupby(reading.runs(wanted), key=lambda item: item[0]):
        lines: list[Line] = []
        passed = 0
        for _, _, run in runs:
            if run is not None:
                passed += run.verdict == "pass"
                lines.append(_line(run, len(lines), reading.cut_id))
        if rl_verdict(Task(task.scenario_id, len(lines), len(lines), passed), reading.rules).included:
            yield task, lines


def _sft_lines(reading: Reading, groups: Iterable[Group]) -> Iterator[tuple[Task, list[Line]]]:
    """The best run that passed; the next best when that one does not pass any more."""
    ranked = ((task, _best_first(found), found) for task, found in groups)
    while part := list(islice(ranked, TRACES_AT_ONCE)):
        bests = reading.runs((task, best[0]) for task, best, _ in part if best)
        first = {candidate.trace_id: run for _, candidate, run in bests}
        for task, best, found in part:
            for candidate in best:
                run = first.get(candidate.trace_id) if candidate is best[0] else _one(reading, task, candidate)
                if run is not None and run.verdict == "pass":
                    yield task, [_line(run, found.index(candidate), reading.cut_id)]
                    break


_LINES: dict[Kind, Callable[[Reading, Iterable[Group]], Iterator[tuple[Task, list[Line]]]]] = {
    "rl": _rl_lines,
    "sft": _sft_lines,
}


def _best_first(found: list[Candidate]) -> list[Candidate]:
    passing = (candidate for candidate in found if candidate.verdict == "pass")
    return sorted(passing, key=lambda run: (-run.reward, run.steps, run.start, run.trace_id))


def _one(reading: Reading, task: Task, candidate: Candidate) -> Run | None:
    return next(reading.runs([(task, candidate)]))[2]


def _line(run: Run, rollout_index: int, cut_id: str) -> Line:
    lineage = {"source": "traces", "trace_id": run.trace_id, "cut_id": cut_id, "agent": run.agent}
    row = row_of(run, rollout_index=rollout_index, lineage=lineage)
    return Line(encode_json(row) + b"\n", run.trace_id, run.agent)
