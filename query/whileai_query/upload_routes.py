"""Routes that make a dataset from a file: create, send, finalize; and change what is said about one."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from starlette.responses import Response

from whileai_query.answers import Json
from whileai_query.auth import Writer
from whileai_query.bodies import read_body, read_model
from whileai_query.dataset_reading import find_dataset, stored_dataset
from whileai_query.dataset_view import dataset_view
from whileai_query.describing import takes
from whileai_query.errors import BadRequest, Conflict
from whileai_query.grants import LIFETIME, sender_of, upload_url
from whileai_query.services import Services, ServicesDep
from whileai_query.upload import Received, receive, room_left
from whileai_registry import Dataset, Mode, NewDataset, Purpose, RegistryError

router = APIRouter(tags=["datasets"])

LARGEST_REQUEST = 1 << 20
_FILE = {"type": "string", "format": "binary", "description": "JSON lines"}


class _Said(BaseModel):
    """What may be said about a set, at its creation and later."""

    model_config = ConfigDict(extra="ignore", strict=True)

    purpose: Purpose | None = None
    mode: Mode | None = None
    agent: str | None = Field(None, max_length=200)
    description: str | None = Field(None, max_length=4_000)


class CreateRequest(_Said):
    """The body of `POST /datasets`."""

    name: str = Field(min_length=1, max_length=200)
    parent: str | None = Field(None, validation_alias=AliasChoices("parentDatasetId", "parent"), max_length=100)


class MetaRequest(_Said):
    """The body of `POST /datasets/{id}/meta`: at least one field."""


@router.post("/datasets", openapi_extra=takes(body=CreateRequest))
async def create(request: Request, services: ServicesDep, caller: Writer) -> Response:
    """A set whose file is still to come; the answer says where to send it."""
    said = read_model(CreateRequest, await read_body(request, LARGEST_REQUEST))
    new = NewDataset(
        name=said.name,
        purpose=said.purpose or "train",
        mode=said.mode,
        agent=said.agent,
        description=said.description,
        parent_id=said.parent,
    )
    made, upload_id = await run_in_threadpool(_create, services, caller.account_id, new)
    url = upload_url(services, request, caller.account_id, made.id, upload_id)
    return Json({**dataset_view(made), "uploadUrl": url})


@router.put("/datasets/{dataset_id}/file", openapi_extra=takes(body=_FILE, media="application/octet-stream"))
async def send(dataset_id: str, request: Request, services: ServicesDep, grant: str = "") -> Response:
    """The file itself, JSON lines. The permission is in the link; sending again replaces until the set is finalized."""
    account, upload_id = sender_of(services, grant, dataset_id)
    announced = request.headers.get("content-length", "")
    bound = await run_in_threadpool(
        _room, services, account, upload_id, int(announced) if announced.isdigit() else None
    )
    received = await receive(services.objects, f"{account}/{dataset_id}", request.stream(), bound)
    await run_in_threadpool(_keep, services, account, dataset_id, upload_id, received)
    return Json({"datasetId": dataset_id, "rows": received.rows, "sizeBytes": received.size, "sha256": received.sha256})


@router.post("/datasets/{dataset_id}/finalize")
def finalize(dataset_id: str, services: ServicesDep, caller: Writer) -> Response:
    """The file that was sent becomes the set. Finalizing again changes nothing and gives the same answer."""
    account = caller.account_id
    found = stored_dataset(services, account, dataset_id)
    if found.status != "ready":
        sent = services.registry.uploads.stored_file(account, dataset_id)
        if sent is None or sent.object_key is None:
            raise Conflict(f"no file was sent for dataset {dataset_id}; PUT it to the uploadUrl first")
        found = services.registry.datasets.finalize(
            account, dataset_id, rows=sent.rows or 0, size_bytes=sent.size_bytes or 0, files=[sent.object_key]
        )
        services.registry.uploads.close(account, dataset_id)
    return Json(dataset_view(found, whole=True))


@router.post("/datasets/{dataset_id}/meta", openapi_extra=takes(body=MetaRequest))
async def meta(dataset_id: str, request: Request, services: ServicesDep, caller: Writer) -> Response:
    """Change what is said about a set; what is absent stays."""
    said = read_model(MetaRequest, await read_body(request, LARGEST_REQUEST)).model_dump(exclude_none=True)
    if not said:
        raise BadRequest(f"say at least one of {', '.join(MetaRequest.model_fields)}")
    return Json(dataset_view(await run_in_threadpool(_say, services, caller.account_id, dataset_id, said), whole=True))


def _say(services: Services, account: str, dataset_id: str, said: dict[str, str]) -> Dataset:
    return services.registry.datasets.update_meta(account, dataset_id, **said)


def _create(services: Services, account: str, new: NewDataset) -> tuple[Dataset, str]:
    if new.parent_id is not None and services.registry.catalog.find(new.parent_id) is None:
        find_dataset(services, account, new.parent_id)
    made = services.registry.datasets.create(account, new)
    return made, services.registry.uploads.grant(account, made.id, LIFETIME).id


def _room(services: Services, account: str, upload_id: str, announced: int | None) -> int:
    services.registry.uploads.find_open(account, upload_id)
    return room_left(services, account, announced)


def _keep(services: Services, account: str, dataset_id: str, upload_id: str, received: Received) -> None:
    """Note the file; an earlier one of the same set goes, and so does this one when it came too late."""
    before = services.registry.uploads.stored_file(account, dataset_id)
    try:
        services.registry.uploads.store(
            account,
            upload_id,
            object_key=received.key,
            rows=received.rows,
            size_bytes=received.size,
            sha256=received.sha256,
        )
    except RegistryError:
        services.objects.delete(received.key)
        raise
    if before is not None and before.object_key is not None:
        services.objects.delete(before.object_key)
