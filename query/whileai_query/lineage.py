"""What became of the traces that a dataset was cut from: a set keeps its rows, and says which origins are gone."""

from __future__ import annotations

from typing import Any

from whileai_query.dataset_files import traces_key
from whileai_query.runs import known_runs
from whileai_query.services import Services
from whileai_registry import Dataset

_SHOWN = 20


def trace_lineage(services: Services, dataset: Dataset) -> dict[str, Any] | None:
    """The stored lineage, and for a set made of traces how many of them can still be opened."""
    if dataset.lineage is None or dataset.lineage.get("source") != "traces":
        return dataset.lineage
    try:
        listed = b"".join(services.objects.read(traces_key(dataset.account_id, dataset.id)))
    except FileNotFoundError:
        return dataset.lineage
    ids = listed.decode().split()
    there = known_runs(services.ingest.store, dataset.account_id, ids)
    gone = [trace_id for trace_id in ids if trace_id not in there]
    return {**dataset.lineage, "traces": {"count": len(ids), "gone": len(gone), "goneIds": gone[:_SHOWN]}}
