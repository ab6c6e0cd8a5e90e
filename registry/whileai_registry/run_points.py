"""The curve of a tracked run: numbers by step. What comes again, or comes in parts, is one point all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import func, select

from whileai_registry.database import Database
from whileai_registry.errors import NotAllowed
from whileai_registry.tables import run_points
from whileai_registry.tenant import owned
from whileai_registry.tracked_runs import find_run

Point = tuple[int, Mapping[str, float]]

MOST_STEPS = 100_000  # of one run; a trainer that logs more says nothing more


class RunPoints:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, account_id: str, run_id: str, points: Sequence[Point]) -> None:
        """Numbers of one step come together, whenever they are sent; for the same name the later one stands."""
        told: dict[int, dict[str, float]] = {}
        for step, values in points:
            told.setdefault(step, {}).update(values)
        with self._database.write() as connection:
            find_run(connection, account_id, run_id, lock=True)
            mine = (owned(run_points, account_id), run_points.c.run_id == run_id)
            known = select(run_points.c.step, run_points.c.numbers).where(*mine, run_points.c.step.in_(list(told)))
            old: dict[int, dict[str, float]] = {row.step: row.numbers for row in connection.execute(known)}
            count = connection.execute(select(func.count()).select_from(run_points).where(*mine)).scalar_one()
            if count + len(told.keys() - old.keys()) > MOST_STEPS:
                raise NotAllowed(f"run {run_id} has {count} steps; {MOST_STEPS} are kept of one, so log fewer")
            rows = [
                {"account_id": account_id, "run_id": run_id, "step": step, "numbers": {**old.get(step, {}), **values}}
                for step, values in told.items()
            ]
            if rows:
                insert = self._database.insert(run_points)
                keys = ["account_id", "run_id", "step"]
                upsert = insert.on_conflict_do_update(index_elements=keys, set_={"numbers": insert.excluded.numbers})
                connection.execute(upsert, rows)

    def series(self, account_id: str, run_id: str) -> list[Point]:
        """By step."""
        query = select(run_points.c.step, run_points.c.numbers).where(
            owned(run_points, account_id), run_points.c.run_id == run_id
        )
        with self._database.read() as connection:
            return [(step, values) for step, values in connection.execute(query.order_by(run_points.c.step))]
