"""Routes of agents, for both clients: the datasets side registers by name, the tracked side by the id it computed."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from starlette.responses import Response

from whileai.tracked_models import Frontier
from whileai_query.agent_list import agent_view, list_agents
from whileai_query.answers import Json
from whileai_query.auth import Reader, Writer
from whileai_query.bodies import read_body, read_model
from whileai_query.describing import takes
from whileai_query.parameters import checked_query
from whileai_query.services import ServicesDep

router = APIRouter(tags=["agents"])

LARGEST_REQUEST = 4 << 20


class AgentRequest(BaseModel):
    """Absent keys leave the record's values alone."""

    model_config = ConfigDict(extra="ignore", strict=True)

    name: str = Field(min_length=1, max_length=200)
    id: str | None = Field(None, min_length=1, max_length=200)
    description: str | None = Field(None, max_length=2_000)
    tools: list[dict[str, Any]] | None = None
    system_prompt: str | None = Field(None, validation_alias=AliasChoices("system_prompt", "systemPrompt"))
    model: str | None = Field(None, max_length=400)
    harness: dict[str, Any] | None = None
    frontier: Frontier | None = None


@router.get("/agents")
def agents(request: Request, services: ServicesDep, caller: Reader) -> Response:
    """Every agent: its traces, its sets by purpose, its public cards, what it serves, what could be promoted."""
    checked_query(request.query_params.multi_items(), ())
    services.settle()
    return Json({"agents": list_agents(services, caller.account_id)})


@router.post("/agents", openapi_extra=takes(body=AgentRequest))
async def register(request: Request, services: ServicesDep, caller: Writer) -> Response:
    """Register an agent, or merge what is said into its record."""
    said = read_model(AgentRequest, await read_body(request, LARGEST_REQUEST))
    agent = await run_in_threadpool(
        services.registry.agents.register,
        caller.account_id,
        said.name,
        agent_id=said.id,
        description=said.description,
        tools=said.tools,
        system_prompt=said.system_prompt,
        model=said.model,
        harness=said.harness,
        frontier=said.frontier.wire() if said.frontier else None,
    )
    return Json(agent_view(agent))


@router.delete("/agents/{agent_id}", status_code=204)
def delete(agent_id: str, services: ServicesDep, caller: Writer) -> Response:
    """Forget the record and what was tracked; traces and sets stay, and bring the agent back while they are there."""
    services.registry.agents.delete(caller.account_id, agent_id)
    return Response(status_code=204)
