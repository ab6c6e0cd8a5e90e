"""Ingested datasets: what arrived under one dataset name on one UTC day. Made by looking, stored nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whileai_ingest import Store
from whileai_ingest.dataset import dataset_id
from whileai_query.filters import Conditions
from whileai_query.runs import select_runs
from whileai_query.times import iso

DAY = "formatDateTime(toDateTime(intDiv(first_arrival, 1000000000), 'UTC'), '%F')"
_DAYS = f"dataset, {DAY} AS day, count(), sum(size_bytes), min(first_arrival), max(last_arrival)"


@dataclass(frozen=True, slots=True)
class IngestedDay:
    """The runs of one dataset name whose first item arrived on one day."""

    id: str
    name: str
    day: str
    rows: int
    size_bytes: int
    first_arrival: int
    last_arrival: int


def ingested_days(store: Store, account: str) -> list[IngestedDay]:
    """Newest day first."""
    rows = select_runs(store, account, _DAYS, Conditions(), "GROUP BY dataset, day ORDER BY day DESC, dataset")
    return [IngestedDay(dataset_id(account, name, day), name, day, *rest) for name, day, *rest in rows]


def traces_by_dataset(store: Store, account: str) -> dict[str, Any]:
    """`GET /traces` without parameters, as the published client's `list_traces` shows it."""
    days = ingested_days(store, account)
    return {
        "traces": [
            {
                "name": day.name,
                "day": day.day,
                "datasetId": day.id,
                "rows": day.rows,
                "sizeBytes": day.size_bytes,
                "firstAt": iso(day.first_arrival),
                "lastAt": iso(day.last_arrival),
            }
            for day in days
        ],
        "rows": sum(day.rows for day in days),
        "sizeBytes": sum(day.size_bytes for day in days),
        "next": None,
    }
