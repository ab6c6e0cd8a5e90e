"""The rows of `runs`: the one place that says whose they are and which copy counts.

Every read of runs goes through `select_runs`, so the tenant filter and the deduplication cannot be forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whileai_ingest import Store
from whileai_query.filters import Conditions

IDS_PER_QUERY = 1000
# A row without spans only holds the place of gradings or log records that came before their trace.
_SOURCE = "runs FINAL WHERE account = {account:String} AND span_count > 0"
_PREFIXES = "substring(trace_id, 1, 16) AS prefix, groupArray(2)(trace_id)"


def select_runs(
    store: Store,
    account: str,
    columns: str,
    conditions: Conditions,
    tail: str = "",
    values: Mapping[str, Any] | None = None,
) -> list[tuple[Any, ...]]:
    """`SELECT columns` over the account's runs that meet the conditions; `tail` is ORDER BY, GROUP BY, LIMIT."""
    sql = f"SELECT {columns} FROM {_SOURCE}{conditions.sql} {tail}"
    return store.query(sql, {"account": account, **conditions.values, **(values or {})})


def also(conditions: Conditions, part: str, **values: Any) -> Conditions:
    """The conditions and one more."""
    return Conditions((*conditions.parts, part), {**conditions.values, **values})


def known_runs(store: Store, account: str, ids: Sequence[str]) -> set[str]:
    """Which of these trace ids are runs of the account."""
    found: set[str] = set()
    for part in _parts(ids):
        asked = Conditions(("trace_id IN {ids:Array(String)}",), {"ids": part})
        found.update(trace_id for (trace_id,) in select_runs(store, account, "trace_id", asked))
    return found


def runs_by_prefix(store: Store, account: str, prefixes: Sequence[str]) -> dict[str, list[str]]:
    """For 16 hex digits: the runs whose trace id begins with them, two at most."""
    found: dict[str, list[str]] = {}
    for part in _parts(prefixes):
        asked = Conditions(("substring(trace_id, 1, 16) IN {prefixes:Array(String)}",), {"prefixes": part})
        rows = select_runs(store, account, _PREFIXES, asked, "GROUP BY prefix")
        found |= {prefix: list(ids) for prefix, ids in rows}
    return found


def _parts(ids: Sequence[str]) -> Iterator[list[str]]:
    """A bound value travels in the address of an HTTP request, which a server bounds."""
    for at in range(0, len(ids), IDS_PER_QUERY):
        yield list(ids[at : at + IDS_PER_QUERY])
