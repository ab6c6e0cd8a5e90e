"""Datasets: the list by purpose, and one set with its family, its profile, its rows, and publishing."""

from __future__ import annotations

from itertools import islice
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from whileai_query.catalog_routes import PublishRequest, publish_dataset
from whileai_query.dataset_list import list_datasets, stored_datasets
from whileai_query.dataset_reading import find_dataset, rows_of, stored_dataset
from whileai_query.dataset_routes import PREVIEW_ROWS
from whileai_query.dataset_view import dataset_view, ingested_view
from whileai_query.grants import part_url
from whileai_query.ingested import IngestedDay
from whileai_query.lineage import trace_lineage
from whileai_query.pages.forms import OwnForm
from whileai_query.pages.people import SignedIn
from whileai_query.pages.render import render
from whileai_query.parameters import checked_query, read_integer
from whileai_query.services import Services, ServicesDep
from whileai_registry import Dataset

router = APIRouter()

PURPOSES = {
    "train": "Train",
    "holdout": "Holdout: measure on these, never train on them",
    "eval": "Eval: sets to measure with, and every day of ingested traces",
}
LARGEST_ROW = 1_000_000_000


@router.get("/ui/datasets")
def datasets(request: Request, services: ServicesDep, person: SignedIn, agent: str = "") -> Response:
    """Every set, by purpose."""
    services.settle()
    found = list_datasets(services, person.account_id, {"agent": agent} if agent else {})
    groups = {purpose: [row for row in found["datasets"] if row["purpose"] == purpose] for purpose in PURPOSES}
    return render(
        request,
        "datasets.html",
        person,
        groups=groups,
        titles=PURPOSES,
        names={row["datasetId"]: row["name"] for row in found["datasets"]},
        storage=found["storageBytes"],
        agent=agent,
    )


@router.get("/ui/datasets/{dataset_id}")
def dataset(dataset_id: str, request: Request, services: ServicesDep, person: SignedIn) -> Response:
    """One set. The profile is drawn by a script out of the API's own answer."""
    query = checked_query(request.query_params.multi_items(), ("row", "made"))
    first = read_integer(query, "row", 0, 0, LARGEST_ROW)
    account = person.account_id
    found = find_dataset(services, account, dataset_id)
    ready = isinstance(found, IngestedDay) or found.status == "ready"
    rows = list(islice(rows_of(services, account, found), first, first + PREVIEW_ROWS)) if ready else []
    return render(
        request,
        "dataset.html",
        person,
        charts=True,
        view=_view(services, found),
        family=_family(services, account, found),
        rows=rows,
        first=first,
        ready=ready,
        made="made" in query,
        stored=isinstance(found, Dataset),
        download=part_url(services, request, account, found.id) if ready else "",
    )


@router.post("/ui/datasets/{dataset_id}/publish")
def publish(dataset_id: str, services: ServicesDep, form: OwnForm) -> Response:
    """Show the set to everybody, under its card."""
    said = PublishRequest(agent=form.text("agent", 200) or None, description=form.text("description") or None)
    publish_dataset(services, form.person.account_id, dataset_id, said)
    return _back(dataset_id)


@router.post("/ui/datasets/{dataset_id}/unpublish")
def unpublish(dataset_id: str, services: ServicesDep, form: OwnForm) -> Response:
    """Take it out of the catalog."""
    stored_dataset(services, form.person.account_id, dataset_id)
    services.registry.catalog.unpublish(form.person.account_id, dataset_id)
    return _back(dataset_id)


def _back(dataset_id: str) -> Response:
    return RedirectResponse(f"/ui/datasets/{dataset_id}", 303)


def _view(services: Services, found: Dataset | IngestedDay) -> dict[str, Any]:
    if isinstance(found, IngestedDay):
        return ingested_view(found)
    return {**dataset_view(found, whole=True), "lineage": trace_lineage(services, found)}


def _family(services: Services, account: str, found: Dataset | IngestedDay) -> list[tuple[str, dict[str, Any]]]:
    """Parent, the other side of a cut, and what was made from this set, each with what it is to it."""
    if isinstance(found, IngestedDay):
        return []
    return [
        (kin, dataset_view(other)) for other in stored_datasets(services, account) if (kin := _kinship(found, other))
    ]


def _kinship(found: Dataset, other: Dataset) -> str:
    """What the other set is to this one; '' when it is not family."""
    if other.id == found.id:
        return ""
    if other.id == found.parent_id:
        return "parent"
    if other.parent_id == found.id:
        return "child"
    if other.id == found.sibling_id or other.sibling_id == found.id:
        return "other side of the cut"
    return "sibling" if found.parent_id is not None and other.parent_id == found.parent_id else ""
