"""Every route of the application, API and pages, asked by a stranger with the ids of another account.

The routes are walked by reflection, so one that is added later is walked too. Nothing that is the other's may be told,
and nothing of it may change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.routing import Route
from support.api import Caller
from support.rows import shelf

from whileai_query.app import ROUTERS
from whileai_query.pages.app import ROUTERS as PAGE_ROUTERS
from whileai_query.sessions import COOKIE, csrf_of

# In every text of the victim's: prompts, names, scenarios, errors.
MARK = "zebrafinch"
# What a stranger sends where a body is read; each call takes what it knows of it.
BODY = {
    "name": "a stranger's",
    "traceId": "",
    "value": 1.0,
    "email": "stranger@example.com",
    "credential": "zp_dc_none",
    "token": "hf_none",
    "repo": "nobody/nothing",
    "device_code": "none",
    "user_code": "BCDF-GHJK",
    "purpose": "eval",
    "description": "changed by a stranger",
    "kind": "rl",
    "scopes": ["read"],
    "status": "failed",
    "version": "a stranger's",
}
# Not walked: files that are everybody's, and streams, which show what their pages show and have no end.
APART = ("/static/", "/traffic/stream", "/ui/stream", "/ui/live/stream")


@dataclass(frozen=True)
class Victim:
    caller: Caller
    ids: dict[str, str]

    def state(self) -> dict[str, Any]:
        """What the victim sees of its own."""
        seen = {
            path: self.caller.get(path)
            for path in ("/traces", "/datasets", "/agents", "/runs", "/keys", "/hf/me", "/rejections", "/traces/cuts")
        }
        for name, path in (
            ("trace_id", "/traces/{}"),
            ("dataset_id", "/datasets/{}"),
            ("run_id", "/runs/{}"),
            ("agent_id", "/agents/{}/dashboard"),
        ):
            seen[name] = self.caller.get(path.format(self.ids[name]))
        return seen


@pytest.fixture
def victim(caller: Caller) -> Victim:
    """One of everything."""
    trace_id = caller.task(MARK, [1.0, 0.0], agent=f"{MARK}-agent")[0]
    caller.post("/v1/scores", {"traceId": trace_id, "name": f"{MARK}-measure", "value": 0.5})
    made = caller.post("/datasets", {"name": f"{MARK}-set", "agent": f"{MARK}-agent", "description": MARK})
    lines = "".join(f'{{"prompt": "{MARK}", "scenario_id": "{row["scenario_id"]}"}}\n' for row in shelf())
    assert caller.client.put(made["uploadUrl"], content=lines).is_success
    caller.post(f"/datasets/{made['datasetId']}/finalize")
    caller.post("/datasets/cut", {"holdout": 0})
    key = caller.post("/keys", {"name": f"{MARK}-key"})
    caller.services.registry.connections.connect(caller.account, "huggingface", MARK, caller.services.vault.seal(MARK))
    run_id = track(caller, f"{MARK}-agent")
    ids = {
        "trace_id": trace_id,
        "run_id": run_id,
        "behavior": f"{MARK}-behavior",
        "dataset_id": made["datasetId"],
        "agent_id": f"{MARK}-agent",
        "name": f"{MARK}-agent",
        "key_id": key["id"],
        "span_id": caller.get(f"/traces/{trace_id}")["spans"][0]["spanId"],
        "number": "0",
    }
    return Victim(caller, ids)


def track(caller: Caller, agent: str) -> str:
    """Everything that can be tracked of the agent; the id of its run."""
    behavior, version = f"{MARK}-behavior", f"{MARK}-version"
    run_id: str = caller.post("/runs", {"agent": agent, "version": version, "base": MARK})["id"]
    caller.post(f"/runs/{run_id}/train", [{"step": 1, MARK: 1.0}])
    caller.post(f"/runs/{run_id}/evals", [{"behavior": behavior, "score": 1.0}])
    assert caller.request("PUT", f"/agents/{agent}/behaviors/{behavior}", json={"description": MARK}).is_success
    caller.post(f"/agents/{agent}/promote", {"version": version})
    caller.post("/live", [{"agent": agent, "day": "2026-03-01", "version": version, "replies": 1}])
    return run_id


def routes(routers: Any) -> Iterator[tuple[str, str]]:
    for router in routers:
        for route in router.routes:
            if isinstance(route, Route) and not route.path.startswith(APART):
                for method in sorted((route.methods or set()) - {"HEAD"}):
                    yield method, route.path


def filled(path: str, ids: dict[str, str]) -> str:
    """The path with the victim's ids; a parameter without one has to get it above."""
    return re.sub(r"{(\w+)(?::\w+)?}", lambda found: ids[found[1]], path)


def test_a_foreign_key_is_told_nothing_and_changes_nothing(victim: Victim, new_caller: Callable[[], Caller]) -> None:
    stranger = new_caller()
    before = victim.state()
    walked = 0
    for method, path in routes(ROUTERS):
        body = {**BODY, "traceId": victim.ids["trace_id"], "parentDatasetId": victim.ids["dataset_id"]}
        sent = {} if method in ("GET", "DELETE") else {"json": body}
        answer = stranger.request(method, filled(path, victim.ids), **sent)
        told = answer.text.replace(victim.ids["agent_id"], "")  # what was asked for may be repeated
        assert MARK not in told, (method, path, told[:300])
        if "_id}" in path and method == "GET":
            assert answer.status_code in (403, 404), (method, path, told[:300])
        assert answer.status_code < 500, (method, path, told[:300])
        walked += 1
    assert walked > 40
    assert victim.state() == before


def test_a_filter_for_another_accounts_things_finds_nothing(victim: Victim, new_caller: Callable[[], Caller]) -> None:
    stranger = new_caller()
    agent = victim.ids["agent_id"]
    assert stranger.get("/traces", agent=agent)["traces"] == []
    assert stranger.get("/traces", q=MARK)["traces"] == []
    assert stranger.get("/traces/cuts", agent=agent)["runs"] == 0
    assert stranger.get("/datasets", agent=agent)["datasets"] == []
    assert stranger.get("/traffic", agent=agent)["totals"]["runs"] == 0


def test_a_foreign_session_is_shown_nothing_and_changes_nothing(
    victim: Victim, new_caller: Callable[[], Caller]
) -> None:
    stranger = new_caller()
    token = stranger.services.registry.sessions.open(stranger.account).token
    stranger.client.cookies.set(COOKIE, token)
    before = victim.state()
    walked = 0
    for method, path in routes(PAGE_ROUTERS):
        data = {"csrf": csrf_of(token), "name": "x", "agent": "x", "email": "no address", "value": "1"}
        address = filled(path, victim.ids)
        sent: dict[str, Any] = {"data": data} if method == "POST" else {}
        answer = stranger.client.request(method, address, follow_redirects=False, **sent)
        told = answer.text.replace(victim.ids["agent_id"], "")
        assert MARK not in told, (method, path)
        assert answer.status_code < 500, (method, path)
        walked += 1
        if method == "POST" and "sign-out" in path:
            token = stranger.services.registry.sessions.open(stranger.account).token
            stranger.client.cookies.set(COOKIE, token)
    assert walked > 25
    assert victim.state() == before
