"""Where a new version of an agent began to answer: the first run of each version, for the time axis of live traffic."""

from __future__ import annotations

from typing import Any

from whileai_ingest import Store
from whileai_query.filters import Conditions
from whileai_query.runs import select_runs
from whileai_query.times import iso_second

_FIRST = "agent, model_version, min(start_time_unix_nano) AS first"
_LATER = "GROUP BY agent, model_version HAVING first >= {since:Int64} ORDER BY first LIMIT 50"


def version_marks(store: Store, account: str, conditions: Conditions, since: int) -> list[dict[str, Any]]:
    """The versions whose first run ever started since then, oldest first."""
    named = Conditions((*conditions.parts, "model_version IS NOT NULL"), conditions.values)
    rows = select_runs(store, account, _FIRST, named, _LATER, {"since": since})
    return [{"t": iso_second(first), "agent": agent, "version": version} for agent, version, first in rows]
