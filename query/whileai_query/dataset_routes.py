"""Routes of datasets that are there: list, look, download, profile, delete."""

from __future__ import annotations

from itertools import islice
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from whileai_query.answers import Json
from whileai_query.auth import Reader, Writer
from whileai_query.dataset_files import delete_files, traces_key
from whileai_query.dataset_list import LIST_PARAMETERS, list_datasets
from whileai_query.dataset_reading import count_rows, find_dataset, finished, rows_of
from whileai_query.dataset_view import dataset_view, ingested_view
from whileai_query.describing import takes
from whileai_query.errors import BadRequest, Missing
from whileai_query.grants import only_part, part_url, reader_of
from whileai_query.ingested import IngestedDay
from whileai_query.ingested_rows import ingested_rows, ingested_trace_ids
from whileai_query.lineage import trace_lineage
from whileai_query.parameters import checked_query
from whileai_query.services import Services, ServicesDep
from whileai_registry import Dataset

router = APIRouter(tags=["datasets"])

PREVIEW_ROWS = 3
_JSON_LINES = "application/jsonl"


@router.get("/datasets", openapi_extra=takes(LIST_PARAMETERS))
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
    found = finished(find_dataset(services, caller.account_id, dataset_id))
    url = part_url(services, request, caller.account_id, found.id)
    return Json({"datasetId": found.id, "rows": found.rows, "parts": [url], "downloadUrl": url})


@router.get("/datasets/{dataset_id}/parts/{number}")
def part(dataset_id: str, number: str, services: ServicesDep, grant: str = "") -> Response:
    """The rows as JSON lines. The permission is in the link."""
    account = reader_of(services, grant, dataset_id)
    only_part(number)
    found = finished(find_dataset(services, account, dataset_id))
    headers = {"content-disposition": f'attachment; filename="{found.id}.jsonl"'}
    if isinstance(found, IngestedDay):
        lines = ingested_rows(services.ingest.store, account, found)
        return StreamingResponse(lines, headers=headers, media_type=_JSON_LINES)
    (key,) = found.files
    headers["content-length"] = str(services.objects.size(key))
    return StreamingResponse(services.objects.read(key), headers=headers, media_type=_JSON_LINES)


@router.get("/datasets/{dataset_id}/preview")
def preview(dataset_id: str, services: ServicesDep, caller: Reader) -> Response:
    """Three rows and the report of the set."""
    found = finished(find_dataset(services, caller.account_id, dataset_id))
    rows = list(islice(rows_of(services, caller.account_id, found), PREVIEW_ROWS))
    report: dict[str, Any] | None = found.report if isinstance(found, Dataset) else None
    return Json({"datasetId": found.id, "rows": rows, "report": report or {}})


@router.get("/datasets/{dataset_id}/profile", openapi_extra=takes(("force",)))
def profile(dataset_id: str, request: Request, services: ServicesDep, caller: Reader) -> Response:
    """Pass rate, support, mixed tasks and tool use; kept with a stored set, `force=1` counts again."""
    query = checked_query(request.query_params.multi_items(), ("force",))
    if query.get("force", "") not in ("", "0", "1"):
        raise BadRequest(f"force={query['force'][:40]!r} must be 0 or 1")
    found = finished(find_dataset(services, caller.account_id, dataset_id))
    return Json({"profile": _profile(services, caller.account_id, found, again=query.get("force") == "1")})


@router.delete("/datasets/{dataset_id}", status_code=204)
async def delete_dataset(dataset_id: str, services: ServicesDep, caller: Writer) -> Response:
    """Remove a set with its files, or the traces of an ingested one; what is not there is removed already."""
    for ids in await run_in_threadpool(_delete, services, caller.account_id, dataset_id):
        await services.ingest.accept_deletion(caller.account_id, ids)
    return Response(status_code=204)


def _profile(services: Services, account: str, found: Dataset | IngestedDay, *, again: bool) -> dict[str, Any]:
    if isinstance(found, IngestedDay):  # it still grows
        return count_rows(services, account, found)
    if found.profile is None or again:
        counted = count_rows(services, account, found)
        found = services.registry.datasets.annotate(account, found.id, profile=counted)
    return found.profile or {}


def _delete(services: Services, account: str, dataset_id: str) -> list[list[str]]:
    """Delete a stored set; of an ingested one, the traces that are left to delete."""
    sent = services.registry.uploads.stored_file(account, dataset_id)
    deleted = services.registry.datasets.delete(account, dataset_id)
    if deleted is not None:
        keys = {traces_key(account, dataset_id), *deleted.files, *([sent.object_key] if sent else [])}
        delete_files(services.objects, filter(None, keys))
        return []
    try:
        found = find_dataset(services, account, dataset_id)
    except Missing:
        return []
    return list(ingested_trace_ids(services.ingest.store, account, found)) if isinstance(found, IngestedDay) else []
