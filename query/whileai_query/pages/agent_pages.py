"""Agents: the list, and one agent with its traffic, its sets, and the place where its versions will be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from whileai.cut_words import format_cuts
from whileai_query.agent_list import list_agents
from whileai_query.cut_report import report_of
from whileai_query.cut_sources import count_tasks
from whileai_query.cutting import Rules
from whileai_query.dataset_list import list_datasets
from whileai_query.errors import Missing
from whileai_query.filters import read_filters
from whileai_query.pages.dataset_pages import PURPOSES
from whileai_query.pages.people import SignedIn
from whileai_query.pages.render import render
from whileai_query.run_list import list_runs
from whileai_query.services import Services, ServicesDep
from whileai_query.traffic import traffic
from whileai_registry import agent_key

router = APIRouter()

_WEEK = {"window": "7d", "step": "1d"}
_NEWEST = "5"


@router.get("/ui/agents")
def agents(request: Request, services: ServicesDep, person: SignedIn) -> Response:
    """Every agent by name."""
    services.settle()
    found = list_agents(services, person.account_id)
    return render(request, "agents.html", person, agents=found, origin=str(request.base_url).rstrip("/"))


@router.get("/ui/agents/{name:path}")
def agent(name: str, request: Request, services: ServicesDep, person: SignedIn) -> Response:
    """One agent, by name or id in any case."""
    services.settle()
    found = _find(services, person.account_id, name)
    return render(request, "agent.html", person, agent=found, **_told(services, person.account_id, found["name"]))


def _find(services: Services, account: str, name: str) -> Mapping[str, Any]:
    key = agent_key(name)
    for row in list_agents(services, account):
        if agent_key(row["name"]) == key or agent_key(row["id"]) == key:
            return row
    raise Missing(f"There is no agent {name[:60]!r}.")


def _told(services: Services, account: str, name: str) -> dict[str, Any]:
    store, now = services.ingest.store, services.now()
    filters = {"agent": name}
    counted = count_tasks(store, account, read_filters(filters, now), now)
    sets = list_datasets(services, account, filters)["datasets"]
    return {
        "traffic": traffic(store, account, {**filters, **_WEEK}, now),
        "runs": list_runs(store, account, {**filters, "limit": _NEWEST}, now)["traces"],
        "sentence": format_cuts(report_of(counted, Rules(), filters), agent=name),
        "sets": {purpose: [row for row in sets if row["purpose"] == purpose] for purpose in PURPOSES},
    }
