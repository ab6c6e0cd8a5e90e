"""Scores of versions on frozen tests. One version has one score a behavior in each run; a later one replaces it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, select

from whileai_registry.agents import agent_key
from whileai_registry.database import Database
from whileai_registry.rows import columns_of, record
from whileai_registry.tables import run_scores, tracked_runs
from whileai_registry.tenant import owned
from whileai_registry.tracked_runs import find_run


@dataclass(frozen=True)
class NewScore:
    """`ci` is the half-width of the 95% interval. Without a version it is the run's own that was scored."""

    behavior: str
    score: float
    ci: float | None = None
    n: int | None = None
    test_version: str | None = None
    version: str | None = None


@dataclass(frozen=True)
class RunScore:
    run_id: str
    version: str
    behavior: str
    score: float
    ci: float | None
    n: int | None
    test_version: str | None
    scored_at: datetime


class RunScores:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, account_id: str, run_id: str, scores: Sequence[NewScore]) -> list[RunScore]:
        """All of them or none; given back as they are kept."""
        now = self._database.now()
        kept = []
        with self._database.write() as connection:
            run = find_run(connection, account_id, run_id, lock=True)
            for new in scores:
                score = RunScore(
                    run_id, new.version or run.version, new.behavior, new.score, new.ci, new.n, new.test_version, now
                )
                keys = {"run_id": run_id, "version": score.version, "behavior": score.behavior}
                values = {name: value for name, value in vars(score).items() if name not in keys}
                first = self._database.insert(run_scores).values(account_id=account_id, **keys, **values)
                place = ["account_id", *keys]
                connection.execute(first.on_conflict_do_update(index_elements=place, set_=values))
                kept.append(score)
        return kept

    def of_run(self, account_id: str, run_id: str) -> list[RunScore]:
        """By behavior."""
        query = select(*columns_of(RunScore, run_scores)).where(
            owned(run_scores, account_id), run_scores.c.run_id == run_id
        )
        with self._database.read() as connection:
            return [record(RunScore, row) for row in connection.execute(query.order_by(run_scores.c.behavior))]

    def list_all(self, account_id: str, agent: str | None = None) -> list[tuple[str, RunScore]]:
        """Every score of an agent, or of all of them, with the key of its agent; oldest first."""
        joined = and_(
            owned(tracked_runs, account_id),
            run_scores.c.account_id == tracked_runs.c.account_id,
            run_scores.c.run_id == tracked_runs.c.id,
        )
        query = (
            select(tracked_runs.c.agent_key, *columns_of(RunScore, run_scores))
            .join(tracked_runs, joined)
            .where(owned(run_scores, account_id))
            .order_by(run_scores.c.scored_at, tracked_runs.c.created_at, run_scores.c.run_id, run_scores.c.behavior)
        )
        if agent is not None:
            query = query.where(tracked_runs.c.agent_key == agent_key(agent))
        with self._database.read() as connection:
            return [(row.agent_key, record(RunScore, row)) for row in connection.execute(query)]
