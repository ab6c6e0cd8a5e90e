"""`GET /datasets`: the stored sets of an account and its days of ingested traces, newest first, in one list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai_query.cursors import read_cursor, write_cursor
from whileai_query.dataset_view import dataset_view, ingested_view
from whileai_query.ingested import ingested_days
from whileai_query.parameters import LARGEST_LIMIT, read_limit
from whileai_query.services import Services
from whileai_registry import Dataset

LIST_PARAMETERS = ("agent", "purpose", "limit", "cursor")


def list_datasets(services: Services, account: str, query: Mapping[str, str]) -> dict[str, Any]:
    """The sets and the storage used. Without `limit` all of them: the published client knows no pages here."""
    agent, purpose = query.get("agent") or None, query.get("purpose") or None
    rows = [dataset_view(dataset) for dataset in stored_datasets(services, account, agent, purpose)]
    if agent is None and purpose in (None, "eval"):
        rows += [ingested_view(day) for day in ingested_days(services.ingest.store, account)]
    rows.sort(key=_place, reverse=True)
    if query.get("cursor"):
        created, dataset_id = read_cursor(query["cursor"], (str, str))
        rows = [row for row in rows if _place(row) < (created, dataset_id)]
    page = rows[: read_limit(query)] if query.get("limit") else rows
    return {
        "datasets": page,
        "next": write_cursor(_place(page[-1])) if len(page) < len(rows) else None,
        "storageBytes": services.registry.datasets.storage_used(account),
    }


def stored_datasets(
    services: Services, account: str, agent: str | None = None, purpose: str | None = None
) -> Iterator[Dataset]:
    """The account's own sets, newest first. What is still being uploaded is not a set yet."""
    cursor = None
    while True:
        page = services.registry.datasets.list_page(
            account, agent=agent, purpose=purpose, limit=LARGEST_LIMIT, cursor=cursor
        )
        yield from (dataset for dataset in page.items if dataset.status != "uploading")
        if page.next is None:
            return
        cursor = page.next


def _place(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["createdAt"], row["datasetId"]
