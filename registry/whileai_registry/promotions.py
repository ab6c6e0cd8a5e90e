"""Promotions: which version an agent serves, since when, by whom, and what it served before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from whileai_registry.agents import agent_key, hold_agent
from whileai_registry.database import Database
from whileai_registry.rows import columns_of, record
from whileai_registry.tables import promotions
from whileai_registry.tenant import owned


@dataclass(frozen=True)
class Promotion:
    agent_key: str
    number: int
    version: str
    promoted_by: str
    promoted_at: datetime


class Promotions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def promote(self, account_id: str, agent: str, version: str, promoted_by: str) -> Promotion:
        """The agent serves this version from now on. What it serves already is not promoted a second time."""
        with self._database.write() as connection:
            key = hold_agent(connection, account_id, agent)
            newest = (
                select(*columns_of(Promotion, promotions))
                .where(owned(promotions, account_id), promotions.c.agent_key == key)
                .order_by(promotions.c.number.desc())
                .limit(1)
            )
            row = connection.execute(newest).one_or_none()
            last = None if row is None else record(Promotion, row)
            if last is not None and last.version == version:
                return last
            made = Promotion(key, last.number + 1 if last else 1, version, promoted_by, self._database.now())
            insert = self._database.insert(promotions)
            connection.execute(insert.values(account_id=account_id, **vars(made)))
            return made

    def history(self, account_id: str, agent: str | None = None) -> list[Promotion]:
        """Oldest first, of one agent or of all."""
        query = select(*columns_of(Promotion, promotions)).where(owned(promotions, account_id))
        if agent is not None:
            query = query.where(promotions.c.agent_key == agent_key(agent))
        with self._database.read() as connection:
            found = connection.execute(query.order_by(promotions.c.promoted_at, promotions.c.number))
            return [record(Promotion, row) for row in found]

    def count(self, account_id: str) -> int:
        """How many there were; grows with each, until an agent is forgotten."""
        query = select(func.count()).select_from(promotions).where(owned(promotions, account_id))
        with self._database.read() as connection:
            return int(connection.execute(query).scalar_one())
