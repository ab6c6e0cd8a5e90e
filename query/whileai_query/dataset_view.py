"""A dataset as the API shows it: a stored set, or a day of ingested traces, in one shape."""

from __future__ import annotations

from typing import Any

from whileai_query.ingested import IngestedDay
from whileai_query.times import iso, iso_of
from whileai_registry import Dataset


def dataset_view(dataset: Dataset, *, whole: bool = False) -> dict[str, Any]:
    """A row of the list; `whole` adds what only one set's own page needs."""
    view = {
        "datasetId": dataset.id,
        "name": dataset.name,
        "purpose": dataset.purpose,
        "mode": dataset.mode,
        "agent": dataset.agent,
        "description": dataset.description,
        "parentDatasetId": dataset.parent_id,
        "siblingDatasetId": dataset.sibling_id,
        "status": dataset.status,
        "error": dataset.error,
        "rows": dataset.rows,
        "sizeBytes": dataset.size_bytes,
        "createdAt": iso_of(dataset.created_at),
        "finalizedAt": iso_of(dataset.finalized_at),
        "published": dataset.published_at is not None,
        "publishedAt": iso_of(dataset.published_at),
        "lineage": dataset.lineage,
    }
    if dataset.hf is not None:
        view["hf"] = dataset.hf
    if (dataset.lineage or {}).get("source") == "huggingface":
        view["hfImport"] = {**(dataset.lineage or {}), "error": dataset.error}
    if whole:
        view |= {"report": dataset.report, "card": dataset.card}
    return view


def ingested_view(day: IngestedDay) -> dict[str, Any]:
    """A day of ingested traces: an eval set until training data is cut from it."""
    return {
        "datasetId": day.id,
        "name": day.name,
        "purpose": "eval",
        "mode": None,
        "agent": None,
        "description": None,
        "parentDatasetId": None,
        "siblingDatasetId": None,
        "status": "ready",
        "error": None,
        "rows": day.rows,
        "sizeBytes": day.size_bytes,
        "createdAt": iso(day.first_arrival),
        "finalizedAt": iso(day.last_arrival),
        "published": False,
        "publishedAt": None,
        "lineage": {"source": "traces", "dataset": day.name, "day": day.day},
    }
