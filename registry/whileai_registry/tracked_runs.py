"""Tracked runs: the record of a run that makes a version of an agent, from its start to what it came to.

The curve and the scores of a run are in `run_points` and `run_scores`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, update

from whileai_registry.agents import agent_key, hold_agent
from whileai_registry.database import Database
from whileai_registry.errors import NotAllowed, NotFound
from whileai_registry.paging import Page, before, checked_limit, moment_cursor, page_of
from whileai_registry.rows import columns_of, record
from whileai_registry.tables import tracked_runs
from whileai_registry.tenant import owned
from whileai_registry.tokens import new_id

Json = dict[str, Any]

STATUSES = ("running", "evaluated", "done", "failed", "stopped")
# Sections of what a run records about itself: what is said later is added to what was said before.
_MERGED = ("record", "summary")


@dataclass(frozen=True)
class NewRun:
    """`id` is the caller's own, or None for one of ours."""

    agent: str
    version: str
    id: str | None = None
    method: str | None = None
    base: str | None = None
    harness: str | None = None
    gpu: str | None = None
    targets: Sequence[str] = ()
    trained_on: Sequence[str] = ()
    record: Json | None = field(default=None)


@dataclass(frozen=True)
class TrackedRun:
    id: str
    agent_key: str
    version: str
    status: str
    method: str | None
    base: str | None
    harness: str | None
    gpu: str | None
    targets: list[str]
    trained_on: list[str]
    record: Json | None
    summary: Json | None
    hours: float | None
    cost_usd: float | None
    steps: int | None
    error: str | None
    created_at: datetime
    updated_at: datetime


class TrackedRuns:
    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, account_id: str, new: NewRun) -> TrackedRun:
        """Begin a run. The same id again, for the same agent and version, is the run that is there already."""
        run_id, now = new.id or new_id("run"), self._database.now()
        with self._database.write() as connection:
            key = hold_agent(connection, account_id, new.agent)
            row = {
                "account_id": account_id,
                "id": run_id,
                "agent_key": key,
                "version": new.version,
                "status": "running",
                "method": new.method,
                "base": new.base,
                "harness": new.harness,
                "gpu": new.gpu,
                "targets": list(new.targets),
                "trained_on": list(new.trained_on),
                "record": new.record,
                "created_at": now,
                "updated_at": now,
            }
            fresh = self._database.insert(tracked_runs).values(**row)
            connection.execute(fresh.on_conflict_do_nothing(index_elements=["account_id", "id"]))
            run = find_run(connection, account_id, run_id)
        if (run.agent_key, run.version) != (key, new.version):
            told = f"run {run_id} is of agent {run.agent_key}, version {run.version}; give this one another id"
            raise NotAllowed(told)
        return run

    def change(self, account_id: str, run_id: str, changes: Mapping[str, Any]) -> TrackedRun:
        """Set these columns; a record and a summary are merged into what is there, section by section."""
        with self._database.write() as connection:
            old = find_run(connection, account_id, run_id, lock=True)
            values = {**changes, "updated_at": self._database.now()}
            for name in _MERGED:
                if name in changes:
                    values[name] = merged(getattr(old, name) or {}, changes[name])
            mine = (owned(tracked_runs, account_id), tracked_runs.c.id == run_id)
            connection.execute(update(tracked_runs).where(*mine).values(values))
            return find_run(connection, account_id, run_id)

    def get(self, account_id: str, run_id: str) -> TrackedRun:
        """Raises `NotFound`."""
        with self._database.read() as connection:
            return find_run(connection, account_id, run_id)

    def list_page(
        self, account_id: str, *, agent: str | None = None, limit: int = 500, cursor: str | None = None
    ) -> Page[TrackedRun]:
        """Newest first."""
        query = select(*columns_of(TrackedRun, tracked_runs)).where(owned(tracked_runs, account_id))
        if agent is not None:
            query = query.where(tracked_runs.c.agent_key == agent_key(agent))
        if cursor is not None:
            query = query.where(before(tracked_runs, "created_at", cursor))
        query = query.order_by(tracked_runs.c.created_at.desc(), tracked_runs.c.id.desc())
        with self._database.read() as connection:
            found = [record(TrackedRun, row) for row in connection.execute(query.limit(checked_limit(limit) + 1))]
        return page_of(found, limit, lambda run: moment_cursor(run.created_at, run.id))

    def delete(self, account_id: str, run_id: str) -> bool:
        """True when there was one; its curve and its scores go with it."""
        with self._database.write() as connection:
            query = delete(tracked_runs).where(owned(tracked_runs, account_id), tracked_runs.c.id == run_id)
            return connection.execute(query).rowcount == 1


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> Json:
    """The new over the old; where both hold an object, the two of them merged."""
    both = {**old, **new}
    for name in old.keys() & new.keys():
        if isinstance(old[name], dict) and isinstance(new[name], dict):
            both[name] = merged(old[name], new[name])
    return both


def find_run(connection: Connection, account_id: str, run_id: str, *, lock: bool = False) -> TrackedRun:
    """The run inside the caller's transaction; with `lock`, nobody else changes it meanwhile. Raises `NotFound`."""
    query = select(*columns_of(TrackedRun, tracked_runs)).where(
        owned(tracked_runs, account_id), tracked_runs.c.id == run_id
    )
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        raise NotFound(f"there is no run {run_id[:60]!r}")
    return record(TrackedRun, row)
