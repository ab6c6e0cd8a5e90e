"""Routes of tracked agents: their behaviors, promoting, reported traffic, the dashboard."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field
from starlette.responses import Response

from whileai.tracked_models import Behavior, LiveDay, SaidOfBehavior, Version
from whileai_query.agent_list import known_agent
from whileai_query.answers import Json
from whileai_query.auth import Reader, Writer
from whileai_query.bodies import checked, read_body, read_model, read_models
from whileai_query.dashboard import dashboard, declared_behavior
from whileai_query.describing import list_of, takes
from whileai_query.errors import BadRequest
from whileai_query.parameters import checked_query
from whileai_query.promoting import promote
from whileai_query.services import Services, ServicesDep
from whileai_registry import LiveDay as ReportedDay
from whileai_registry import Principal

router = APIRouter(tags=["tracked agents"])

LARGEST_REQUEST = 1 << 20
MOST_DAYS = 1_000


class PromoteRequest(BaseModel):
    version: Version


class ReportedTraffic(LiveDay):
    """A day of traffic, and whose it is."""

    agent: str = Field(min_length=1, max_length=200)


@router.get("/agents/{agent_id}/behaviors")
def behaviors(agent_id: str, services: ServicesDep, caller: Reader) -> Response:
    """What is tested about the agent."""
    agent = known_agent(services, caller.account_id, agent_id)
    found = services.registry.behaviors.list_all(caller.account_id, agent.key)
    return Json({"behaviors": [declared_behavior(row).wire() for row in found]})


@router.put("/agents/{agent_id}/behaviors/{behavior}", openapi_extra=takes(body=SaidOfBehavior))
async def declare(agent_id: str, behavior: str, request: Request, services: ServicesDep, caller: Writer) -> Response:
    """Say what is tested; it replaces what was said of this behavior before."""
    said = read_model(SaidOfBehavior, await read_body(request, LARGEST_REQUEST), strict=True)
    whole = checked(Behavior, {**said.wire(), "name": behavior})

    def keep() -> dict[str, Any]:
        agent = known_agent(services, caller.account_id, agent_id)
        return declared_behavior(
            services.registry.behaviors.declare(caller.account_id, agent.key, whole.name, said.wire())
        ).wire()

    return Json(await run_in_threadpool(keep))


@router.post("/agents/{agent_id}/promote", openapi_extra=takes(body=PromoteRequest))
async def promote_version(agent_id: str, request: Request, services: ServicesDep, caller: Writer) -> Response:
    """Serve this version from now on."""
    said = read_model(PromoteRequest, await read_body(request, LARGEST_REQUEST), strict=True)

    def keep() -> dict[str, Any]:
        agent = known_agent(services, caller.account_id, agent_id)
        return promote(services, caller.account_id, agent, said.version, name_of(services, caller))

    return Json(await run_in_threadpool(keep))


@router.get("/agents/{agent_id}/dashboard", openapi_extra=takes(("behavior",)))
def show_dashboard(agent_id: str, request: Request, services: ServicesDep, caller: Reader) -> Response:
    """Scores by version, the newest curve, what moved, live traffic, the verdict."""
    query = checked_query(request.query_params.multi_items(), ("behavior",))
    services.settle()
    agent = known_agent(services, caller.account_id, agent_id)
    return Json(dashboard(services, caller.account_id, agent, query.get("behavior") or None).wire())


@router.post("/live", openapi_extra=takes(body=list_of(ReportedTraffic, MOST_DAYS)))
async def report_traffic(request: Request, services: ServicesDep, caller: Writer) -> Response:
    """Days of traffic of versions that are served elsewhere; the same agent, day and version again replaces."""
    told = read_models(ReportedTraffic, await read_body(request, LARGEST_REQUEST), MOST_DAYS)
    for day in told:
        if day.flagged > day.replies:
            raise BadRequest(f"flagged: {day.flagged} of {day.replies} replies cannot be flagged")

    def keep() -> None:
        account = caller.account_id
        keys = {name: known_agent(services, account, name).key for name in {day.agent for day in told}}
        services.registry.live_days.report(account, [(keys[day.agent], reported(day)) for day in told])

    await run_in_threadpool(keep)
    return Json({"days": [day.wire() for day in told]})


def reported(day: LiveDay) -> ReportedDay:
    return ReportedDay(day.day, day.version, day.replies, day.flagged, day.p50_s, day.cost_usd)


def name_of(services: Services, caller: Principal) -> str:
    """Who did it, for people: the name of the key, or the account of a person who is signed in."""
    names = {key.id: key.name for key in services.registry.keys.list_all(caller.account_id)}
    if caller.key_id in names:
        return f"key {names[caller.key_id]}"
    account = services.registry.accounts.get(caller.account_id)
    return account.email or account.name
