"""Tracked agents: the record of an agent, its behaviors, its runs, what it serves, and the verdict on its candidate."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from whileai import credentials, environment, transport
from whileai.agent_objects import Read, read_agent
from whileai.dashboards import Dashboard, TrackedInfo, Verdict
from whileai.errors import PlatformError
from whileai.service import given, segment
from whileai.tracked_models import Behavior, Frontier, Harness, LiveDay, RunSpec, as_harness
from whileai.tracked_run import Run

Transport = Callable[..., dict[str, Any]]

LONGEST_ID = 64
_KEPT = frozenset("._-")


def agent_id(name: str) -> str:
    """The id under which an agent of this name is tracked: `Refund Bot!` is `Refund-Bot`."""
    mapped = "".join(char if char.isalnum() or char in _KEPT else "-" for char in name)
    return mapped.strip("-._")[:LONGEST_ID].strip("-._") or "agent"


def call(
    method: str,
    path: str,
    json: Any = None,
    *,
    api_key: str | None = None,
    params: Mapping[str, str] | None = None,
    idempotent: bool | None = None,
) -> dict[str, Any]:
    """A call about tracked agents, with the account's key."""
    credential = credentials.require("account", api_key, environment.api_url())
    url = environment.platform_url() + path
    return transport.call(
        method, url, credential=credential, json=json, params=params, timeout=30, idempotent=idempotent
    )


def track(
    agent: str | Any,
    *,
    name: str | None = None,
    model: str | None = None,
    harness: Harness | str | Mapping[str, Any] | None = None,
    frontier: Frontier | Mapping[str, Any] | None = None,
    api_key: str | None = None,
    transport: Transport | None = None,
    register: bool = True,
) -> "Tracked":
    """Track an agent: its name, or the agent object that you have, off which model, prompt and tools are read.

    `transport(method, path, body, …)` takes the place of HTTP. Registering is idempotent, and what is not said stays.
    """
    read = Read(agent, None, None, []) if isinstance(agent, str) else read_agent(agent)
    called = name or read.name
    if not called:
        raise ValueError("this agent object has no name; say track(agent, name=…)")
    model = model or read.model
    if harness is None and (read.instructions or read.tools):
        harness = Harness(instructions=read.instructions, tools=read.tools)
    tracked = Tracked(
        called,
        model=model,
        harness=as_harness(harness, model),
        frontier=Frontier.model_validate(frontier) if isinstance(frontier, Mapping) else frontier,
        api_key=api_key,
        transport=transport,
    )
    if register:
        tracked.register()
    return tracked


def tracked_agents(api_key: str | None = None) -> list[TrackedInfo]:
    """Every agent of the account, with what it serves and what could be promoted."""
    rows = call("GET", "/agents", api_key=api_key).get("agents") or []
    return [TrackedInfo.model_validate(row) for row in rows]


class Tracked:
    """One tracked agent. Made by `track`."""

    def __init__(
        self,
        name: str,
        *,
        model: str | None = None,
        harness: Harness | None = None,
        frontier: Frontier | None = None,
        api_key: str | None = None,
        transport: Transport | None = None,
    ) -> None:
        self.id, self.name = agent_id(name), name
        self.model, self.harness, self.frontier = model, harness, frontier
        self._api_key, self._transport = api_key, transport

    def __repr__(self) -> str:
        return f"Tracked({self.id!r})"

    def register(self) -> dict[str, Any]:
        """Say who it is; done by `track` already."""
        body = given(
            id=self.id,
            name=self.name,
            model=self.model,
            harness=self.harness.wire() if self.harness else None,
            frontier=self.frontier.wire() if self.frontier else None,
        )
        return self._call("POST", "/agents", body, idempotent=True)

    def behavior(self, behavior: str | Behavior, **fields: Any) -> Behavior:
        """Declare what is tested. It replaces what was declared of this behavior before."""
        said = behavior if isinstance(behavior, Behavior) else Behavior(name=behavior, **fields)
        body = said.wire()
        answer = self._call("PUT", self._path("behaviors", body.pop("name")), body)
        return Behavior.model_validate(answer) if answer.get("name") else said

    def behaviors(self) -> list[Behavior]:
        """What is declared."""
        found = self._call("GET", self._path("behaviors")).get("behaviors") or []
        return [Behavior.model_validate(row) for row in found]

    def run(self, version: str | RunSpec, *, flush_every: int = 25, flush_seconds: float = 15.0, **fields: Any) -> Run:
        """Begin the run that makes this version."""
        spec = version if isinstance(version, RunSpec) else RunSpec(version=version, **fields)
        harness = given(harness=self.harness.version if self.harness else None)
        body = {"agent": self.id, **harness, **spec.wire()}
        answer = self._call("POST", "/runs", body, idempotent=spec.id is not None)
        run_id = answer.get("id")
        if not isinstance(run_id, str):
            raise PlatformError("POST /runs answered without an id; check that the URL is that of the service")
        return Run(run_id, spec.version, self.id, self._call, flush_every=flush_every, flush_seconds=flush_seconds)

    def runs(self) -> list[dict[str, Any]]:
        """Its runs, newest first."""
        found: list[dict[str, Any]] = self._call("GET", "/runs", params={"agent": self.id}).get("runs") or []
        return found

    def promote(self, version: str) -> dict[str, Any]:
        """Serve this version from now on, and compare what comes with it."""
        return self._call("POST", self._path("promote"), {"version": version}, idempotent=True)

    def live(self, day: str | date | LiveDay, **fields: Any) -> dict[str, Any]:
        """Report a day of traffic of a version that is served elsewhere; the same day again replaces."""
        said = day if isinstance(day, LiveDay) else LiveDay(day=day, **fields)  # type: ignore[arg-type]  # text is read
        return self._call("POST", "/live", [{"agent": self.id, **said.wire()}], idempotent=True)

    def dashboard(self, behavior: str | None = None) -> Dashboard:
        """All that is known, around one behavior; without one, what the newest run is after."""
        answer = self._call("GET", self._path("dashboard"), params=given(behavior=behavior))
        return Dashboard.model_validate(answer)

    def verdict(self, behavior: str | None = None) -> Verdict:
        """Whether the candidate beats what is served. Prints as one sentence."""
        return self.dashboard(behavior).verdict

    def _path(self, *parts: str) -> str:
        return "/".join(("/agents", segment(self.id), *map(segment, parts)))

    def _call(self, method: str, path: str, json: Any = None, **options: Any) -> dict[str, Any]:
        if self._transport is not None:
            return self._transport(method, path, json, **options) or {}
        return call(method, path, json, api_key=self._api_key, **options)
