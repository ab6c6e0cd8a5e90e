"""The agents of an account: those that were registered and those that its traces carry, one row for both clients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from whileai_ingest import Store
from whileai_query.dataset_list import stored_datasets
from whileai_query.errors import Missing
from whileai_query.filters import Conditions
from whileai_query.runs import select_runs
from whileai_query.services import Services
from whileai_query.standings import Standing, standings
from whileai_query.times import iso, iso_of
from whileai_registry import Agent, agent_key, agent_slug

_BY_AGENT = """arrayJoin(arrayDistinct(arrayConcat(agents, if(agent IS NULL, [], [assumeNotNull(agent)])))) AS name,
countIf(agent = name), count(), max(start_time_unix_nano)"""


@dataclass(slots=True)
class _Seen:
    """What the runs say of one agent. The spelling that most runs use is its name."""

    name: str
    main: int
    takes_part: int
    last: int


def list_agents(services: Services, account: str) -> list[dict[str, Any]]:
    """Every agent by name, with what there is of it."""
    seen = _seen(services.ingest.store, account)
    registered = {agent.key: agent for agent in _registered(services, account)}
    sets = services.registry.datasets.counts_by_agent(account)
    cards = Counter(dataset.agent_key for dataset in stored_datasets(services, account) if dataset.published_at)
    tracked = standings(services, account)
    rows = [
        _row(registered.get(key), seen.get(key), sets.get(key, {}), cards[key], tracked.get(key, Standing()))
        for key in sorted(seen.keys() | registered.keys())
    ]
    return sorted(rows, key=lambda row: str(row["name"]).casefold())


def find_row(services: Services, account: str, name: str) -> dict[str, Any]:
    """An agent of the list, by name or id in any case. Raises `Missing`."""
    key = agent_key(name)
    for row in list_agents(services, account):
        if key in (agent_key(row["name"]), agent_key(row["id"])):
            return row
    raise Missing(f"there is no agent {name[:60]!r}")


def known_agent(services: Services, account: str, name: str) -> Agent:
    """The record of an agent; one that only its traces name gets its record now. Raises `Missing`."""
    agents = services.registry.agents
    found = agents.get(account, name)
    if found is None:
        services.settle()
        agents.ensure(account, [find_row(services, account, name)["name"]])
        found = agents.get(account, name)
    if found is None:
        raise Missing(f"there is no agent {name[:60]!r}")
    return found


def agent_view(agent: Agent) -> dict[str, Any]:
    """A registered agent. What was never said is left out: the published client refuses a null harness."""
    view = {
        "id": agent.id,
        "name": agent.name,
        "description": agent.description,
        "tools": agent.tools,
        "systemPrompt": agent.system_prompt,
        "model": agent.model,
        "harness": agent.harness,
        "frontier": agent.frontier,
        "createdAt": iso_of(agent.created_at),
        "updatedAt": iso_of(agent.updated_at),
    }
    return {name: value for name, value in view.items() if value is not None}


def _row(
    agent: Agent | None, seen: _Seen | None, sets: dict[str, int], cards: int, standing: Standing
) -> dict[str, Any]:
    name = seen.name if seen else ""
    told = agent_view(agent) if agent else {"id": agent_slug(name), "name": name}
    counts = {
        "traces": seen.main if seen else 0,
        "takesPart": seen.takes_part if seen else 0,
        "datasets": {purpose: sets.get(purpose, 0) for purpose in ("train", "holdout", "eval")},
        "publicCards": cards,
    }
    known = {
        "serving": standing.serving,
        "candidate": standing.candidate,
        "lastSeenAt": iso(seen.last) if seen else None,
    }
    return {**told, **counts, **{name: value for name, value in known.items() if value is not None}}


def _seen(store: Store, account: str) -> dict[str, _Seen]:
    """By identity; spellings that differ only in case or punctuation are one agent."""
    seen: dict[str, _Seen] = {}
    for name, main, takes_part, last in select_runs(
        store, account, _BY_AGENT, Conditions(), "GROUP BY name ORDER BY count() DESC, name"
    ):
        known = seen.setdefault(agent_key(name), _Seen(name, 0, 0, 0))
        known.main += main
        known.takes_part += takes_part
        known.last = max(known.last, last)
    return seen


def _registered(services: Services, account: str) -> Iterator[Agent]:
    cursor = None
    while True:
        page = services.registry.agents.list_page(account, cursor=cursor)
        yield from page.items
        if page.next is None:
            return
        cursor = page.next
