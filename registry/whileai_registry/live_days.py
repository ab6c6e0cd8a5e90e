"""Reported traffic: a day of a version that is served elsewhere. The same day again replaces what was reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import select

from whileai_registry.agents import agent_key, hold_agent
from whileai_registry.database import Database
from whileai_registry.rows import columns_of, record
from whileai_registry.tables import live_days
from whileai_registry.tenant import owned


@dataclass(frozen=True)
class LiveDay:
    day: date
    version: str
    replies: int
    flagged: int
    p50_s: float | None
    cost_usd: float | None


class LiveDays:
    def __init__(self, database: Database) -> None:
        self._database = database

    def report(self, account_id: str, days: Sequence[tuple[str, LiveDay]]) -> None:
        """Days with the agents they are of: all of them, or none when an agent is unknown."""
        with self._database.write() as connection:
            # In the order of their keys, so that two reports cannot wait for each other.
            for key in sorted({agent_key(agent) for agent, _ in days}):
                hold_agent(connection, account_id, key)
            for agent, day in days:
                keys = {"agent_key": agent_key(agent), "day": day.day, "version": day.version}
                values = {name: value for name, value in vars(day).items() if name not in keys}
                first = self._database.insert(live_days).values(account_id=account_id, **keys, **values)
                place = ["account_id", *keys]
                connection.execute(first.on_conflict_do_update(index_elements=place, set_=values))

    def list_all(self, account_id: str, agent: str, since: date) -> list[LiveDay]:
        """By day, then by version."""
        query = select(*columns_of(LiveDay, live_days)).where(
            owned(live_days, account_id), live_days.c.agent_key == agent_key(agent), live_days.c.day >= since
        )
        with self._database.read() as connection:
            found = connection.execute(query.order_by(live_days.c.day, live_days.c.version))
            return [record(LiveDay, row) for row in found]
