"""Routes of published datasets: make a set public or private again, the catalog, and pulling from it without a key."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from whileai_query.answers import Json
from whileai_query.auth import Writer
from whileai_query.bodies import read_body, read_model
from whileai_query.dataset_reading import count_rows, stored_dataset
from whileai_query.dataset_view import dataset_view
from whileai_query.describing import takes
from whileai_query.errors import Missing
from whileai_query.grants import part_url
from whileai_query.parameters import LARGEST_LIMIT, checked_query, read_limit
from whileai_query.services import Services, ServicesDep
from whileai_query.times import iso_of
from whileai_registry import Dataset

router = APIRouter(tags=["catalog"])

PAGE_PARAMETERS = ("limit", "cursor")
LARGEST_REQUEST = 64 << 10
# What a card shows of the profile.
_NUMBERS = {"passRate": "pass_rate", "tasks": "tasks", "mixedTasks": "mixed_tasks"}


class PublishRequest(BaseModel):
    """The body of `POST /datasets/{id}/publish`."""

    model_config = ConfigDict(extra="ignore", strict=True)

    agent: str | None = Field(None, max_length=200)
    description: str | None = Field(None, max_length=4_000)


@router.post("/datasets/{dataset_id}/publish", openapi_extra=takes(body=PublishRequest))
async def publish(dataset_id: str, request: Request, services: ServicesDep, caller: Writer) -> Response:
    """Show a finished set with rows to everybody. Publishing again renews the card."""
    said = read_model(PublishRequest, await read_body(request, LARGEST_REQUEST))
    made = await run_in_threadpool(publish_dataset, services, caller.account_id, dataset_id, said)
    return Json({**_card(made), "published": True})


@router.post("/datasets/{dataset_id}/unpublish")
def unpublish(dataset_id: str, services: ServicesDep, caller: Writer) -> Response:
    """Take a set out of the catalog; one that is not in it stays out."""
    stored_dataset(services, caller.account_id, dataset_id)
    services.registry.catalog.unpublish(caller.account_id, dataset_id)
    return Json(dataset_view(stored_dataset(services, caller.account_id, dataset_id)))


@router.get("/catalog", openapi_extra=takes(PAGE_PARAMETERS))
def catalog(request: Request, services: ServicesDep) -> Response:
    """Every public card, newest first. No key needed."""
    query = checked_query(request.query_params.multi_items(), PAGE_PARAMETERS)
    limit = read_limit(query) if query.get("limit") else LARGEST_LIMIT
    page = services.registry.catalog.list_page(limit=limit, cursor=query.get("cursor") or None)
    counts = Counter(dataset.agent for dataset in page.items if dataset.agent)
    return Json(
        {
            "datasets": [_card(dataset) for dataset in page.items],
            "agents": [{"agent": agent, "datasets": count} for agent, count in sorted(counts.items())],
            "next": page.next,
        }
    )


@router.get("/catalog/{dataset_id}/download")
def download(dataset_id: str, request: Request, services: ServicesDep) -> Response:
    """Where the rows of a public set are. No key needed."""
    found = services.registry.catalog.find(dataset_id)
    if found is None:
        raise Missing(f"there is no public dataset {dataset_id[:80]!r}")
    url = part_url(services, request, found.account_id, found.id)
    return Json({"datasetId": found.id, "rows": found.rows, "parts": [url], "downloadUrl": url})


def publish_dataset(services: Services, account: str, dataset_id: str, said: PublishRequest) -> Dataset:
    """Make the set public under a card with the profile's numbers."""
    found = stored_dataset(services, account, dataset_id)
    counted = found.profile
    if counted is None and found.status == "ready":
        counted = count_rows(services, account, found)
        services.registry.datasets.annotate(account, dataset_id, profile=counted)
    card = {shown: (counted or {}).get(name) for shown, name in _NUMBERS.items()}
    services.registry.catalog.publish(account, dataset_id, card)
    return services.registry.datasets.update_meta(
        account, dataset_id, agent=said.agent or None, description=said.description
    )


def _card(dataset: Dataset) -> dict[str, Any]:
    """What everybody may know. Nothing here says whose set it is."""
    return {
        "datasetId": dataset.id,
        "name": dataset.name,
        "agent": dataset.agent,
        "description": dataset.description,
        "purpose": dataset.purpose,
        "mode": dataset.mode,
        "rows": dataset.rows,
        "sizeBytes": dataset.size_bytes,
        "publishedAt": iso_of(dataset.published_at),
        **(dataset.card or {}),
    }
