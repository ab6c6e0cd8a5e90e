"""Graded rows, as a judge gave them back: told apart by reward, saved, and pushed."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whileai.row_list import RowList
from whileai.upload import push_rows


class ScoredData:
    """Rows with rewards, and which judging they come from."""

    def __init__(
        self, rows: Sequence[dict[str, Any]], *, run_id: str, source: str, judge_name: str, model: str | None = None
    ) -> None:
        self.rows = RowList(rows)
        self.run_id, self.source, self.judge_name, self.model = run_id, source, judge_name, model
        self.warnings: list[str] = []

    def __len__(self) -> int:
        return len(self.rows)

    def passes(self) -> list[dict[str, Any]]:
        """The rows with full reward."""
        return self.select_by_reward(1)

    def failures(self) -> list[dict[str, Any]]:
        """The rows with no reward."""
        return self.select_by_reward(0)

    def partials(self) -> list[dict[str, Any]]:
        """The rows with partial credit."""
        return self.select_by_reward_range(0, 1, inclusive=False)

    def unjudged(self) -> list[dict[str, Any]]:
        """The rows that the judge gave no reward: a grade that is missing is not a fail."""
        return [row for row in self.rows if row.get("reward") is None]

    def failed_traces(self) -> list[dict[str, Any]]:
        """The failures, as what a simulation around their situations starts from."""
        return self.failures()

    @property
    def traces(self) -> list[dict[str, Any]]:
        return self.failed_traces()

    def select_by_reward(self, reward: float) -> list[dict[str, Any]]:
        """The rows with exactly this reward."""
        return [row for row in self.rows if row.get("reward") is not None and row["reward"] == reward]

    def select_by_reward_range(self, lo: float, hi: float, *, inclusive: bool = True) -> list[dict[str, Any]]:
        """The rows whose reward lies between the two, or on them."""
        graded = [row for row in self.rows if row.get("reward") is not None]
        return [row for row in graded if (lo <= row["reward"] <= hi if inclusive else lo < row["reward"] < hi)]

    def save(self, path: str) -> str:
        """Write the rows as JSON lines."""
        return save_rows(self.rows, path)

    def push(self, name: str, **kwargs: Any) -> dict[str, Any]:
        """Store the rows as a dataset; the keywords are those of `push_rows`."""
        return push_rows(self.rows, name, **kwargs)


def save_rows(rows: Sequence[dict[str, Any]], path: str) -> str:
    """Write rows as JSON lines, and give the path back."""
    with Path(path).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    return path
