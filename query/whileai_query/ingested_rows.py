"""The rows of a day of ingested traces, made while they are read: spans, runs, rows, a few traces at a time."""

from __future__ import annotations

from collections.abc import Iterator

from whileai_dialects import row_of
from whileai_ingest import Store
from whileai_query.answers import encode_json
from whileai_query.filters import Conditions
from whileai_query.ingested import DAY, IngestedDay
from whileai_query.runs import also, select_runs
from whileai_query.traces import open_runs

_IDS_AT_ONCE = 2_000
_TRACES_AT_ONCE = 64


def ingested_trace_ids(store: Store, account: str, day: IngestedDay) -> Iterator[list[str]]:
    """The trace ids of the day in order, in portions."""
    of_day = Conditions(
        ("dataset = {dataset:String}", f"{DAY} = {{day:String}}"), {"dataset": day.name, "day": day.day}
    )
    after = ""
    while True:
        beyond = also(of_day, "trace_id > {after:String}", after=after)
        rows = select_runs(store, account, "trace_id", beyond, f"ORDER BY trace_id LIMIT {_IDS_AT_ONCE}")
        if not rows:
            return
        after = rows[-1][0]
        yield [trace_id for (trace_id,) in rows]


def ingested_rows(store: Store, account: str, day: IngestedDay) -> Iterator[bytes]:
    """A JSON line per run."""
    for ids in ingested_trace_ids(store, account, day):
        for at in range(0, len(ids), _TRACES_AT_ONCE):
            part = ids[at : at + _TRACES_AT_ONCE]
            opened = open_runs(store, account, part)
            for trace_id in part:
                if trace_id in opened:
                    yield encode_json(row_of(opened[trace_id].run)) + b"\n"
