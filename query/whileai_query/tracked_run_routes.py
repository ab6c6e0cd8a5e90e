"""Routes of tracked runs: begun, logged, scored, ended, listed, forgotten."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import Field
from starlette.responses import Response

from whileai.tracked_models import RunEnd, RunSpec, Score, TrainPoint
from whileai_query.agent_list import known_agent
from whileai_query.answers import Json
from whileai_query.auth import Reader, Writer
from whileai_query.bodies import checked, read_body, read_json, read_model, read_models
from whileai_query.describing import list_of, takes
from whileai_query.errors import BadRequest
from whileai_query.filters import one_of
from whileai_query.parameters import LARGEST_LIMIT, checked_query, read_integer
from whileai_query.services import ServicesDep
from whileai_query.tracked_run_view import end_of, run_view, score_view, whole_run
from whileai_registry import STATUSES, NewRun, NewScore

router = APIRouter(tags=["tracked agents"])

LARGEST_REQUEST = 2 << 20
MOST_POINTS = 2_000
MOST_SCORES = 500


class RunRequest(RunSpec):
    """A run, and of which agent it is."""

    agent: str = Field(min_length=1, max_length=200)


@router.post("/runs", openapi_extra=takes(body=RunRequest))
async def begin(request: Request, services: ServicesDep, caller: Writer) -> Response:
    """Begin the run that makes a version of an agent. The caller's own id makes it safe to repeat."""
    document = read_json(await read_body(request, LARGEST_REQUEST))
    if isinstance(document, dict) and "agent" not in document and "name" in document:
        raise BadRequest("this run names no agent: send agent and version; runs of a trainer alone are not kept here")
    said = checked(RunRequest, document, strict=True)

    def keep() -> dict[str, Any]:
        agent = known_agent(services, caller.account_id, said.agent)
        new = NewRun(
            agent.key,
            said.version,
            said.id,
            method=said.method,
            base=said.base,
            harness=said.harness,
            gpu=said.gpu,
            targets=said.targets,
            trained_on=said.trained_on,
            record=said.record.wire() if said.record else None,
        )
        return run_view(services.registry.tracked_runs.create(caller.account_id, new), agent.id)

    return Json(await run_in_threadpool(keep))


@router.get("/runs", openapi_extra=takes(("agent", "limit", "cursor")))
def runs(request: Request, services: ServicesDep, caller: Reader) -> Response:
    """Runs, newest first; of one agent when it is named."""
    query = checked_query(request.query_params.multi_items(), ("agent", "limit", "cursor"))
    account, registry = caller.account_id, services.registry
    asked = query.get("agent") or None
    page = registry.tracked_runs.list_page(
        account,
        agent=known_agent(services, account, asked).key if asked else None,
        limit=read_integer(query, "limit", LARGEST_LIMIT, 1, LARGEST_LIMIT),
        cursor=query.get("cursor") or None,
    )
    ids = registry.agents.ids(account, {run.agent_key for run in page.items})
    return Json(
        {"runs": [run_view(run, ids.get(run.agent_key, run.agent_key)) for run in page.items], "next": page.next}
    )


@router.get("/runs/{run_id}")
def run(run_id: str, services: ServicesDep, caller: Reader) -> Response:
    """One run with its curve, oldest point first, and its scores."""
    return Json(whole_run(services, caller.account_id, run_id))


@router.patch("/runs/{run_id}", openapi_extra=takes(body=RunEnd))
async def end(run_id: str, request: Request, services: ServicesDep, caller: Writer) -> Response:
    """What the run came to; what is not said stays, and it can be said again."""
    said = read_model(RunEnd, await read_body(request, LARGEST_REQUEST), strict=True)
    if said.status is not None:
        one_of("status", said.status, STATUSES)

    def keep() -> dict[str, Any]:
        changed = services.registry.tracked_runs.change(caller.account_id, run_id, end_of(said))
        return whole_run(services, caller.account_id, changed.id)

    return Json(await run_in_threadpool(keep))


@router.delete("/runs/{run_id}", status_code=204)
def forget(run_id: str, services: ServicesDep, caller: Writer) -> Response:
    """Forget a run, its curve and its scores."""
    services.registry.tracked_runs.delete(caller.account_id, run_id)
    return Response(status_code=204)


@router.post("/runs/{run_id}/train", openapi_extra=takes(body=list_of(TrainPoint, MOST_POINTS)))
async def log_points(run_id: str, request: Request, services: ServicesDep, caller: Writer) -> Response:
    """Points of the curve. What comes again, or late, is one point all the same."""
    points = read_models(TrainPoint, await read_body(request, LARGEST_REQUEST), MOST_POINTS)
    numbers = [(point.step, point.numbers()) for point in points]
    await run_in_threadpool(services.registry.run_points.add, caller.account_id, run_id, numbers)
    return Json({"points": len(points)})


@router.post("/runs/{run_id}/evals", openapi_extra=takes(body=list_of(Score, MOST_SCORES)))
async def score(run_id: str, request: Request, services: ServicesDep, caller: Writer) -> Response:
    """Scores of the version that the run makes, or of another one; a behavior again replaces."""
    scores = read_models(Score, await read_body(request, LARGEST_REQUEST), MOST_SCORES)
    new = [NewScore(**said.model_dump()) for said in scores]
    kept = await run_in_threadpool(services.registry.run_scores.record, caller.account_id, run_id, new)
    return Json({"evals": [score_view(one) for one in kept]})
