"""`POST /datasets/cut`: writes the train and the holdout file of a cut and registers both sets at once, or neither.

Rows are streamed, so memory is bounded by the largest task, not by the cut. Files are written first: a set that is
listed has its rows, and a file whose set could not be registered is removed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from whileai_query.cut_report import report_of, warnings_of
from whileai_query.cut_rows import Line, Reading, lines_by_task
from whileai_query.cut_sources import candidates, count_tasks, cut_id_of
from whileai_query.cutting import SIDES, Kind, Rules, Side, chosen, side_of, why_nothing
from whileai_query.dataset_files import RowsFile, delete_files, rows_file, rows_key, traces_key
from whileai_query.errors import Conflict
from whileai_query.filters import Conditions
from whileai_query.services import Services
from whileai_query.times import iso
from whileai_registry import NewDataset


@dataclass(frozen=True, slots=True)
class Asked:
    """A cut as it was asked for: the filter in words and as conditions, the kind, the rules, a name."""

    filter: Mapping[str, str]
    conditions: Conditions
    kind: Kind
    rules: Rules
    name: str | None


@dataclass(slots=True)
class _Part:
    """One side while its file is written."""

    new: NewDataset
    file: RowsFile
    tasks: int = 0
    agents: set[str | None] = field(default_factory=set)

    def add(self, lines: Sequence[Line]) -> None:
        self.tasks += 1
        for line in lines:
            self.file.add(line.data, line.trace_id)
            self.agents.add(line.agent)


def make_cut(services: Services, account: str, asked: Asked, now: int) -> dict[str, Any]:
    """The answer of a cut that was made. Raises `Conflict` with the reason when there is nothing to cut."""
    store = services.ingest.store
    counted = count_tasks(store, account, asked.conditions, now)
    tasks = chosen(counted.tasks, asked.kind, asked.rules)
    nothing = why_nothing(counted.tasks, asked.kind, asked.rules, runs=counted.runs, incomplete=counted.incomplete)
    if not tasks:
        raise Conflict(nothing)
    report = {**report_of(counted, asked.rules, asked.filter), "warnings": warnings_of(counted, asked.rules)}
    cut_id = cut_id_of(store, account, asked.conditions, now, asked.kind, asked.rules, asked.filter)
    parts: dict[Side, _Part] = {}
    with ExitStack() as undo:
        with ExitStack() as files:
            groups = candidates(store, account, asked.conditions, now, tasks)
            for task, lines in lines_by_task(Reading(store, account, asked.rules, cut_id), asked.kind, groups):
                side = side_of(task.scenario_id, asked.rules)
                if side not in parts:
                    parts[side] = _open(services, account, asked, side, files, undo)
                parts[side].add(lines)
        if not parts:
            raise Conflict(nothing)
        chosen_parts = [parts[side] for side in SIDES if side in parts]
        new = [_finished(part, account, asked, cut_id, report, now) for part in chosen_parts]
        made = services.registry.datasets.create_ready(account, new)
        undo.pop_all()
    return {
        "cutId": cut_id,
        "kind": asked.kind,
        "made": [
            {
                "role": dataset.purpose,
                "datasetId": dataset.id,
                "name": dataset.name,
                "rows": dataset.rows,
                "tasks": part.tasks,
                "sizeBytes": dataset.size_bytes,
            }
            for dataset, part in zip(made, chosen_parts, strict=True)
        ],
        "report": report,
    }


def _open(services: Services, account: str, asked: Asked, side: Side, files: ExitStack, undo: ExitStack) -> _Part:
    new = NewDataset(name="", purpose=side, mode=asked.kind)  # named once its rows are known
    undo.callback(delete_files, services.objects, [rows_key(account, new.id), traces_key(account, new.id)])
    return _Part(new, files.enter_context(rows_file(services.objects, account, new.id)))


def _finished(part: _Part, account: str, asked: Asked, cut_id: str, report: Mapping[str, Any], now: int) -> NewDataset:
    agents = {agent for agent in part.agents if agent}
    agent = agents.pop() if len(agents) == 1 else asked.filter.get("agent")
    name = asked.name or f"{agent or 'traces'}-{asked.kind}"
    return replace(
        part.new,
        name=name if part.new.purpose == "train" else f"{name}-{part.new.purpose}",
        agent=agent,
        rows=part.file.rows,
        size_bytes=part.file.size,
        files=[rows_key(account, part.new.id)],
        lineage={
            "source": "traces",
            "cutId": cut_id,
            "kind": asked.kind,
            "role": part.new.purpose,
            "filter": dict(asked.filter),
            "band": [asked.rules.low, asked.rules.high],
            "holdout": asked.rules.holdout,
            "tasks": part.tasks,
            "cutAt": iso(now),
        },
        report=dict(report),
    )
