"""Routes of the Hugging Face Hub: connect an account, push a dataset there, import a split from there."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from whileai_query import hub_import, hub_push
from whileai_query.answers import Json
from whileai_query.auth import Administrator, Reader, Writer
from whileai_query.bodies import read_body, read_model
from whileai_query.dataset_reading import stored_dataset
from whileai_query.dataset_view import dataset_view
from whileai_query.describing import takes
from whileai_query.errors import BadRequest, Conflict
from whileai_query.hub import Hub, HubAccount, HubError
from whileai_query.services import Services, ServicesDep
from whileai_registry import Dataset, Mode, NewDataset, Purpose

router = APIRouter(tags=["hugging face"])

PROVIDER = "huggingface"
LARGEST_REQUEST = 64 << 10
MOST_ROWS = 50_000_000


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class ConnectRequest(_Body):
    """A token of the Hub that may write."""

    token: str = Field(min_length=1, max_length=400)


class PushRequest(_Body):
    """Where to push."""

    private: bool = False
    namespace: str | None = Field(None, min_length=1, max_length=100)
    repo: str | None = Field(None, min_length=1, max_length=200)


class ImportRequest(_Body):
    """What to import, and what to say about the set."""

    repo: str = Field(min_length=1, max_length=200)
    split: str = Field("train", min_length=1, max_length=200)
    purpose: Purpose = "train"
    max_rows: int = Field(100_000, ge=1, le=MOST_ROWS)
    revision: str | None = Field(None, min_length=1, max_length=200)
    config: str | None = Field(None, min_length=1, max_length=200)
    name: str | None = Field(None, min_length=1, max_length=200)
    mode: Mode | None = None
    agent: str | None = Field(None, max_length=200)
    description: str | None = Field(None, max_length=4_000)


@router.get("/hf/me")
def status(services: ServicesDep, caller: Reader) -> Response:
    """Whether a Hub account is connected, and under which names it may write."""
    found = services.registry.connections.find(caller.account_id, PROVIDER)
    if found is None:
        return Json({"connected": False, "username": None, "namespaces": [], "scopes": [], "hub": services.hub_url})
    try:
        return Json(_shown(services, Hub(services.hub_url, services.vault.open(found.sealed)).account()))
    except HubError as error:
        unreachable = error.status is None  # which says nothing about the token
        names = [found.username] if unreachable else []
        told = {"connected": unreachable, "username": found.username, "namespaces": names, "scopes": []}
        return Json({**told, "hub": services.hub_url, "error": str(error)})


@router.post("/hf/me", openapi_extra=takes(body=ConnectRequest))
async def connect(request: Request, services: ServicesDep, caller: Administrator) -> Response:
    """Connect a Hub account by its token, which is kept encrypted."""
    said = read_model(ConnectRequest, await read_body(request, LARGEST_REQUEST))
    return Json(await run_in_threadpool(connect_hub, services, caller.account_id, said.token))


@router.delete("/hf/me", status_code=204)
def disconnect(services: ServicesDep, caller: Administrator) -> Response:
    """Forget the token; sets that were pushed stay where they are."""
    services.registry.connections.disconnect(caller.account_id, PROVIDER)
    return Response(status_code=204)


@router.post("/datasets/{dataset_id}/hf-publish", openapi_extra=takes(body=PushRequest))
async def push(dataset_id: str, request: Request, services: ServicesDep, caller: Writer) -> Response:
    """Push a finished set to a repository on the Hub; `GET /datasets/{id}` tells how it went."""
    said = read_model(PushRequest, await read_body(request, LARGEST_REQUEST))
    return Json({"hf": await run_in_threadpool(push_dataset, services, caller.account_id, dataset_id, said)})


@router.post("/datasets/import-hf", openapi_extra=takes(body=ImportRequest))
async def import_split(request: Request, services: ServicesDep, caller: Writer) -> Response:
    """Import a split as a set; `GET /datasets/{id}` tells when it is ready."""
    said = read_model(ImportRequest, await read_body(request, LARGEST_REQUEST))
    return Json(dataset_view(await run_in_threadpool(_import, services, caller.account_id, said)))


@router.post("/datasets/{dataset_id}/retry-import")
def retry(dataset_id: str, services: ServicesDep, caller: Writer) -> Response:
    """Run a failed import again."""
    found = stored_dataset(services, caller.account_id, dataset_id)
    if (found.lineage or {}).get("source") != hub_import.SOURCE:
        raise Conflict(f"dataset {dataset_id} was not imported; there is nothing to run again")
    hub, _ = _connected(services, caller.account_id)
    again = services.registry.datasets.retry_import(caller.account_id, dataset_id)
    hub_import.begin(services, caller.account_id, again, hub)
    return Json(dataset_view(again))


def connect_hub(services: Services, account: str, token: str) -> dict[str, Any]:
    """Look whose token it is, and keep it. Raises `BadRequest` for one that the Hub does not accept."""
    try:
        found = Hub(services.hub_url, token.strip()).account()
    except HubError as error:
        if error.status is None:
            raise Conflict(str(error)) from None
        raise BadRequest(f"token: {error}") from None
    services.registry.connections.connect(account, PROVIDER, found.username, services.vault.seal(token.strip()))
    return _shown(services, found)


def push_dataset(services: Services, account: str, dataset_id: str, said: PushRequest) -> dict[str, Any]:
    """Begin to push, and give the state of the push."""
    found = stored_dataset(services, account, dataset_id)
    hub, username = _connected(services, account)
    target = hub_push.Target(hub_push.repo_of(username, said.namespace, said.repo, found), said.private)
    return hub_push.begin(services, account, found, hub, target)


def _import(services: Services, account: str, said: ImportRequest) -> Dataset:
    hub, _ = _connected(services, account)
    wanted = hub_import.Wanted(said.repo, said.split, said.max_rows, said.revision, said.config)
    new = NewDataset(
        name=said.name or f"{said.repo.rpartition('/')[2]}-{said.split}",
        purpose=said.purpose,
        mode=said.mode,
        agent=said.agent,
        description=said.description,
        lineage=wanted.lineage(),
    )
    made = services.registry.datasets.create(account, new, "importing")
    hub_import.begin(services, account, made, hub)
    return made


def _connected(services: Services, account: str) -> tuple[Hub, str]:
    """The Hub as this account sees it. Raises `Conflict` when none is connected."""
    found = services.registry.connections.find(account, PROVIDER)
    if found is None:
        raise Conflict("no Hugging Face account is connected; connect one on the account page, or POST /hf/me a token")
    return Hub(services.hub_url, services.vault.open(found.sealed)), found.username


def _shown(services: Services, account: HubAccount) -> dict[str, Any]:
    return {
        "connected": True,
        "username": account.username,
        "namespaces": list(account.namespaces),
        "scopes": list(account.scopes),
        "hub": services.hub_url,
    }
