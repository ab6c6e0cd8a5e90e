"""The rows of a cut, task by task: the spans of each candidate are read again, summarised again, judged again.

A row therefore says what the trace says now, not what a list said a moment ago. A task that no longer qualifies is
left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from whileai_dialects import Run, row_of
from whileai_ingest import Store
from whileai_query.answers import encode_json
from whileai_query.cut_sources import Candidate
from whileai_query.cutting import Kind, Rules, Task, rl_verdict
from whileai_query.traces import open_runs

# So many traces are opened at once; their spans are what a cut needs memory for.
TRACES_AT_ONCE = 64

Lineage = Callable[[Run], dict[str, object]]


@dataclass(frozen=True, slots=True)
class Line:
    """One row as it is written, and where it came from."""

    data: bytes
    trace_id: str
    agent: str | None


def task_rows(
    store: Store, account: str, kind: Kind, rules: Rules, found: Sequence[Candidate], lineage: Lineage
) -> list[Line]:
    """The lines of one task, oldest run first; none when it does not qualify after all."""
    return _ROWS[kind](store, account, rules, found, lineage)


def _rl_rows(store: Store, account: str, rules: Rules, found: Sequence[Candidate], lineage: Lineage) -> list[Line]:
    lines: list[Line] = []
    passed = 0
    for run in _runs(store, account, found):
        passed += run.verdict == "pass"
        lines.append(_line(run, len(lines), lineage))
    again = Task(found[0].scenario_id if found else "", len(lines), len(lines), passed)
    return lines if rl_verdict(again, rules).included else []


def _sft_rows(store: Store, account: str, _rules: Rules, found: Sequence[Candidate], lineage: Lineage) -> list[Line]:
    places = {candidate.trace_id: place for place, candidate in enumerate(found)}
    passing = [candidate for candidate in found if candidate.verdict == "pass"]
    best_first = sorted(passing, key=lambda run: (-run.reward, run.steps, run.start, run.trace_id))
    for candidate in best_first:
        for run in _runs(store, account, [candidate]):
            if run.verdict == "pass":
                return [_line(run, places[candidate.trace_id], lineage)]
    return []


_ROWS: dict[Kind, Callable[[Store, str, Rules, Sequence[Candidate], Lineage], list[Line]]] = {
    "rl": _rl_rows,
    "sft": _sft_rows,
}


def _runs(store: Store, account: str, found: Sequence[Candidate]) -> Iterator[Run]:
    """The graded runs among the candidates, in their order."""
    for at in range(0, len(found), TRACES_AT_ONCE):
        ids = [candidate.trace_id for candidate in found[at : at + TRACES_AT_ONCE]]
        opened = open_runs(store, account, ids)
        yield from (opened[trace_id].run for trace_id in ids if trace_id in opened and opened[trace_id].run.verdict)


def _line(run: Run, rollout_index: int, lineage: Lineage) -> Line:
    row = row_of(run, rollout_index=rollout_index, lineage=lineage(run))
    return Line(encode_json(row) + b"\n", run.trace_id, run.agent)
