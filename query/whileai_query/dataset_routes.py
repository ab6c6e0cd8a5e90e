"""Routes of datasets: list, look, download, delete. Making them is the work of cuts and uploads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import orjson
from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from whileai_query.answers import Json
from whileai_query.auth import Reader, Writer
from whileai_query.dataset_files import delete_files, rows_key
from whileai_query.dataset_list import LIST_PARAMETERS, list_datasets
from whileai_query.dataset_view import dataset_view, ingested_view
from whileai_query.errors import Conflict, Missing
from whileai_query.grants import holder_of, only_part, part_url
from whileai_query.ingested import IngestedDay, ingested_days
from whileai_query.ingested_rows import ingested_rows, ingested_trace_ids
from whileai_query.lineage import trace_lineage
from whileai_query.parameters import checked_query
from whileai_query.services import Services, ServicesDep
from whileai_registry import Dataset

router = APIRouter(tags=["datasets"])

PREVIEW_ROWS = 3
_JSON_LINES = "application/jsonl"


@router.get("/datasets")
def datasets(request: Request, services: ServicesDep, caller: Reader) -> Response:
    """Stored sets and days of ingested traces, newest first, with the storage used."""
    query = checked_query(request.query_params.multi_items(), LIST_PARAMETERS)
    services.settle()
    return Json(list_datasets(services, caller.account_id, query))


@router.get("/datasets/{dataset_id}")
def dataset(dataset_id: str, services: ServicesDep, caller: Reader) -> Response:
    """One set, with the report it was made from and what became of the traces behind it."""
    found = find_dataset(services, caller.account_id, dataset_id)
    if isinstance(found, IngestedDay):
        return Json(ingested_view(found))
    view = dataset_view(found, whole=True)
    services.settle()
    view["lineage"] = trace_lineage(services, found)
    return Json(view)


@router.get("/datasets/{dataset_id}/download")
def download(dataset_id: str, request: Request, services: ServicesDep, caller: Reader) -> Response:
    """Where the rows are; the links need no key."""
    found = find_dataset(services, caller.account_id, dataset_id)
    if isinstance(found, Dataset) and found.status != "ready":
        raise Conflict(f"dataset {found.id} is {found.status}; it has no rows yet")
    url = part_url(services, request, caller.account_id, found.id)
    return Json({"datasetId": found.id, "rows": found.rows, "parts": [url], "downloadUrl": url})


@router.get("/datasets/{dataset_id}/parts/{number}")
def part(dataset_id: str, number: str, services: ServicesDep, grant: str = "") -> Response:
    """The rows as JSON lines. The permission is in the link."""
    account = holder_of(services, grant, dataset_id)
    only_part(number)
    found = find_dataset(services, account, dataset_id)
    headers = {"content-disposition": f'attachment; filename="{found.id}.jsonl"'}
    if isinstance(found, IngestedDay):
        lines = ingested_rows(services.ingest.store, account, found)
        return StreamingResponse(lines, headers=headers, media_type=_JSON_LINES)
    if not found.files:
        return Response(b"", headers=headers, media_type=_JSON_LINES)
    key = rows_key(account, found.id)
    headers["content-length"] = str(services.objects.size(key))
    return StreamingResponse(services.objects.read(key), headers=headers, media_type=_JSON_LINES)


@router.get("/datasets/{dataset_id}/preview")
def preview(dataset_id: str, services: ServicesDep, caller: Reader) -> Response:
    """Three rows and the report of the set."""
    found = find_dataset(services, caller.account_id, dataset_id)
    lines = islice(_lines(services, caller.account_id, found), PREVIEW_ROWS)
    report: dict[str, Any] | None = found.report if isinstance(found, Dataset) else None
    return Json({"datasetId": found.id, "rows": [orjson.loads(line) for line in lines], "report": report or {}})


@router.delete("/datasets/{dataset_id}", status_code=204)
async def delete_dataset(dataset_id: str, services: ServicesDep, caller: Writer) -> Response:
    """Remove a set with its files, or the traces of an ingested one; what is not there is removed already."""
    for ids in await run_in_threadpool(_delete, services, caller.account_id, dataset_id):
        await services.ingest.accept_deletion(caller.account_id, ids)
    return Response(status_code=204)


def find_dataset(services: Services, account: str, dataset_id: str) -> Dataset | IngestedDay:
    """A stored set, or a day of ingested traces. Raises `Missing`."""
    stored = services.registry.datasets.get(account, dataset_id)
    if stored is not None:
        return stored
    services.settle()
    for day in ingested_days(services.ingest.store, account):
        if day.id == dataset_id:
            return day
    raise Missing(f"there is no dataset {dataset_id[:80]!r}")


def _delete(services: Services, account: str, dataset_id: str) -> list[list[str]]:
    """Delete a stored set; of an ingested one, the traces that are left to delete."""
    if services.registry.datasets.delete(account, dataset_id) is not None:
        delete_files(services.objects, account, dataset_id)
        return []
    try:
        found = find_dataset(services, account, dataset_id)
    except Missing:
        return []
    return list(ingested_trace_ids(services.ingest.store, account, found)) if isinstance(found, IngestedDay) else []


def _lines(services: Services, account: str, found: Dataset | IngestedDay) -> Iterator[bytes]:
    if isinstance(found, IngestedDay):
        yield from ingested_rows(services.ingest.store, account, found)
    elif found.files:
        rest = b""
        for chunk in services.objects.read(rows_key(account, found.id)):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line for line in whole if line.strip())
        if rest.strip():
            yield rest
