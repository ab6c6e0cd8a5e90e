"""Behaviors: what is tested about an agent, each with what its owner says of its frozen test and its judge."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from whileai_registry.agents import agent_key, hold_agent
from whileai_registry.database import Database
from whileai_registry.errors import LimitReached
from whileai_registry.rows import columns_of, record
from whileai_registry.tables import behaviors
from whileai_registry.tenant import owned

MOST_BEHAVIORS = 500  # of one agent; all of them are read whenever it is shown


@dataclass(frozen=True)
class Behavior:
    agent_key: str
    name: str
    said: dict[str, Any]
    updated_at: datetime


class Behaviors:
    def __init__(self, database: Database) -> None:
        self._database = database

    def declare(self, account_id: str, agent: str, name: str, said: dict[str, Any]) -> Behavior:
        """What is said replaces what was said before."""
        values = {"said": said, "updated_at": self._database.now()}
        with self._database.write() as connection:
            key = hold_agent(connection, account_id, agent)
            mine = (owned(behaviors, account_id), behaviors.c.agent_key == key)
            others = select(func.count()).select_from(behaviors).where(*mine, behaviors.c.name != name)
            if connection.execute(others).scalar_one() >= MOST_BEHAVIORS:
                raise LimitReached("behaviors", f"agent {key} has {MOST_BEHAVIORS} behaviors already")
            first = self._database.insert(behaviors).values(account_id=account_id, agent_key=key, name=name, **values)
            keys = ["account_id", "agent_key", "name"]
            connection.execute(first.on_conflict_do_update(index_elements=keys, set_=values))
            query = select(*columns_of(Behavior, behaviors)).where(*mine, behaviors.c.name == name)
            return record(Behavior, connection.execute(query).one())

    def list_all(self, account_id: str, agent: str) -> list[Behavior]:
        """By name."""
        query = select(*columns_of(Behavior, behaviors)).where(
            owned(behaviors, account_id), behaviors.c.agent_key == agent_key(agent)
        )
        with self._database.read() as connection:
            return [record(Behavior, row) for row in connection.execute(query.order_by(behaviors.c.name))]
