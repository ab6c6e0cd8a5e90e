"""Agents: one row serves the datasets side and the tracked side. Registering merges; what is not said stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select

from whileai_registry.database import Database
from whileai_registry.errors import InvalidInput, NotFound
from whileai_registry.paging import Page, checked_limit, page_of, read_text_cursor, text_cursor
from whileai_registry.rows import columns_of, record
from whileai_registry.tables import agents
from whileai_registry.tenant import owned

LONGEST_ID = 64
LONGEST_NAME = 200

_KEPT = frozenset("._-")


@dataclass(frozen=True)
class Agent:
    """`key` is the identity, `id` the slug that the tracked client computes, `name` what was first said."""

    key: str
    id: str
    name: str
    description: str | None
    tools: list[dict[str, Any]] | None
    system_prompt: str | None
    model: str | None
    harness: dict[str, Any] | None
    frontier: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime


def agent_slug(name: str) -> str:
    """The id of a tracked agent, as the published client makes it from a name: `Refund Bot!` is `Refund-Bot`."""
    mapped = "".join(char if char.isalnum() or char in _KEPT else "-" for char in name)
    return mapped.strip("-._")[:LONGEST_ID].strip("-._") or "agent"


def agent_key(name: str) -> str:
    """What makes two spellings one agent: the slug without its case, so that a name and its own slug agree."""
    return agent_slug(name.casefold())


def ensure_agents(database: Database, connection: Connection, account_id: str, names: Iterable[str]) -> None:
    """Make agents exist, inside the caller's transaction. In order of key, so that two batches cannot deadlock."""
    now = database.now()
    wanted = {agent_key(name): name for name in names if name.strip()}
    found = select(agents.c.key).where(owned(agents, account_id), agents.c.key.in_(list(wanted)))
    known = set(connection.execute(found).scalars())
    missing = sorted((key, name) for key, name in wanted.items() if key not in known)
    fresh = [_new_row(account_id, key, agent_slug(name), name, now) for key, name in missing]
    if fresh:
        connection.execute(database.insert(agents).on_conflict_do_nothing(index_elements=["account_id", "key"]), fresh)


def hold_agent(connection: Connection, account_id: str, name: str) -> str:
    """The key of an agent that nobody deletes before the caller's transaction ends. Raises `NotFound`."""
    query = select(agents.c.key).where(owned(agents, account_id), agents.c.key == agent_key(name))
    key: str | None = connection.execute(query.with_for_update()).scalar_one_or_none()
    if key is None:
        raise NotFound(f"there is no agent {name[:60]!r}")
    return key


class Agents:
    def __init__(self, database: Database) -> None:
        self._database = database

    def register(
        self,
        account_id: str,
        name: str,
        *,
        agent_id: str | None = None,
        description: str | None = None,
        tools: list[dict[str, Any]] | None = None,
        system_prompt: str | None = None,
        model: str | None = None,
        harness: dict[str, Any] | None = None,
        frontier: dict[str, Any] | None = None,
    ) -> Agent:
        """Create the agent, or merge what is given into it. The first spelling of the name stays.

        `agent_id` is the id that a tracking client chose; without it the id is the slug of the name.
        """
        if not name.strip():
            raise InvalidInput("name of an agent must not be empty")
        identity = agent_id or name
        now = self._database.now()
        said = {
            "description": description,
            "tools": tools,
            "system_prompt": system_prompt,
            "model": model,
            "harness": harness,
            "frontier": frontier,
        }
        changes = {column: value for column, value in said.items() if value is not None}
        row = _new_row(account_id, agent_key(identity), agent_slug(identity), name, now) | changes
        upsert = self._database.insert(agents).values(**row)
        merge = upsert.on_conflict_do_update(index_elements=["account_id", "key"], set_={**changes, "updated_at": now})
        with self._database.write() as connection:
            connection.execute(merge)
            return _one(connection, account_id, row["key"])

    def ensure(self, account_id: str, names: Iterable[str]) -> None:
        """Make the agents that traces carry exist; cheap when they do."""
        names = list(names)
        wanted = {agent_key(name) for name in names if name.strip()}
        with self._database.read() as connection:
            query = select(agents.c.key).where(owned(agents, account_id), agents.c.key.in_(list(wanted)))
            if wanted <= set(connection.execute(query).scalars()):
                return
        with self._database.write() as connection:
            ensure_agents(self._database, connection, account_id, names)

    def get(self, account_id: str, name: str) -> Agent | None:
        """By name or id, in any case."""
        query = select(*columns_of(Agent, agents)).where(owned(agents, account_id), agents.c.key == agent_key(name))
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else record(Agent, row)

    def ids(self, account_id: str, keys: Iterable[str]) -> dict[str, str]:
        """The ids of the agents with these keys."""
        query = select(agents.c.key, agents.c.id).where(owned(agents, account_id), agents.c.key.in_(list(keys)))
        with self._database.read() as connection:
            return {row.key: row.id for row in connection.execute(query)}

    def list_page(self, account_id: str, *, limit: int = 500, cursor: str | None = None) -> Page[Agent]:
        query = select(*columns_of(Agent, agents)).where(owned(agents, account_id)).order_by(agents.c.key)
        if cursor is not None:
            query = query.where(agents.c.key > read_text_cursor(cursor))
        with self._database.read() as connection:
            found = connection.execute(query.limit(checked_limit(limit) + 1)).all()
        return page_of([record(Agent, row) for row in found], limit, lambda agent: text_cursor(agent.key))

    def delete(self, account_id: str, name: str) -> bool:
        """True when there was one; what was tracked of it goes with it, its datasets and traces stay."""
        with self._database.write() as connection:
            query = delete(agents).where(owned(agents, account_id), agents.c.key == agent_key(name))
            return connection.execute(query).rowcount == 1


def _new_row(account_id: str, key: str, slug: str, name: str, now: datetime) -> dict[str, Any]:
    return {
        "account_id": account_id,
        "key": key,
        "id": slug,
        "name": name.strip()[:LONGEST_NAME],
        "created_at": now,
        "updated_at": now,
    }


def _one(connection: Connection, account_id: str, key: str) -> Agent:
    query = select(*columns_of(Agent, agents)).where(owned(agents, account_id), agents.c.key == key)
    return record(Agent, connection.execute(query).one())
