"""Reading one trace back: its items, and the run that `summarise` makes of them — the same function as everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from whileai_dialects import Run, row_of, summarise
from whileai_ingest import Store
from whileai_ingest.items import TraceItems
from whileai_ingest.reading import read_traces

log = structlog.get_logger("query")


@dataclass(frozen=True, slots=True)
class Opened:
    """A trace with its run."""

    run: Run
    items: TraceItems


def open_runs(store: Store, account: str, ids: Sequence[str]) -> dict[str, Opened]:
    """The runs of these traces; one without spans is left out."""
    found = read_traces(store, account, ids)
    return {trace_id: Opened(run_of(trace_id, items), items) for trace_id, items in found.items() if items.spans}


def run_of(trace_id: str, items: TraceItems) -> Run:
    """What happened in this trace. A reader's bug costs the reading, not the spans: they can still be shown."""
    try:
        run = summarise(list(items.spans.values()), items.told_logs(), list(items.gradings.values()))
        run.tell_all()
        return run
    except Exception:
        log.exception("a trace could not be summarised", trace_id=trace_id)
        return Run(trace_id, span_count=len(items.spans), notes=["this trace could not be read"])


def trainer_row(run: Run) -> dict[str, object]:
    """The run as a training row that names the trace it came from."""
    return row_of(run, lineage={"source": "traces", "trace_id": run.trace_id, "agent": run.agent})
