"""From a run to the dataset rows that were made of it: the list of traces that lies beside each set's rows."""

from __future__ import annotations

from itertools import islice
from typing import Any

from whileai_query.dataset_files import traces_key
from whileai_query.dataset_list import stored_datasets
from whileai_query.services import Services

# A person looks at one run; the newest sets are those that matter, and each costs the reading of a small file.
SETS_LOOKED_AT = 200


def sets_made_from(services: Services, account: str, trace_id: str) -> list[dict[str, Any]]:
    """The newest sets that hold a row of this run, with the row's place (from 0)."""
    made = (found for found in stored_datasets(services, account) if (found.lineage or {}).get("source") == "traces")
    rows = []
    for dataset in islice(made, SETS_LOOKED_AT):
        try:
            ids = b"".join(services.objects.read(traces_key(account, dataset.id))).decode().split()
        except FileNotFoundError:
            continue
        if trace_id in ids:
            shown = {"datasetId": dataset.id, "name": dataset.name, "purpose": dataset.purpose, "mode": dataset.mode}
            rows.append({**shown, "row": ids.index(trace_id)})
    return rows
