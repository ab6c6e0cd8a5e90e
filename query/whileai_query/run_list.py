"""`GET /traces` with parameters: pages of runs, from the columns of `runs` only.

Two orders. `started` goes from the newest start backwards. `arrived` goes forward by the moment a run became complete:
that moment never moves and later ones are greater, so whoever keeps the cursor and asks again meets each run once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whileai_ingest import Store
from whileai_query.cursors import read_cursor, write_cursor
from whileai_query.filters import FILTERS, Conditions, one_of, read_filters
from whileai_query.parameters import read_limit, read_page
from whileai_query.runs import also, select_runs
from whileai_query.times import iso

LIST_PARAMETERS = (*FILTERS, "order", "limit", "cursor", "page")
PREVIEW_CHARS = 200

_COLUMNS = f"""trace_id, completed_at, agent, model, scenario_id, start_time_unix_nano, end_time_unix_nano, status,
verdict, reward, substringUTF8(prompt, 1, {PREVIEW_CHARS + 1}), substringUTF8(final_text, 1, {PREVIEW_CHARS + 1}),
input_tokens, output_tokens, cost_usd, span_count"""

_COMPLETE = "completed_at <= {now:UInt64}"


@dataclass(frozen=True, slots=True)
class _Order:
    """One order of the list: its key columns, their place in a row, and how a cursor goes on from there."""

    sql: str
    beyond: str
    at: int


_ORDERS = {
    "started": _Order(
        "start_time_unix_nano DESC, trace_id DESC",
        "(start_time_unix_nano, trace_id) < ({after_time:Int64}, {after_id:String})",
        5,
    ),
    "arrived": _Order(
        "completed_at, trace_id", "(completed_at, trace_id) > ({after_time:UInt64}, {after_id:String})", 1
    ),
}


def list_runs(store: Store, account: str, query: Mapping[str, str], now: int) -> dict[str, Any]:
    """One page of runs. Raises `BadRequest` naming a parameter that makes no sense."""
    limit, page = read_limit(query), read_page(query)
    arrived = one_of("order", query.get("order") or "started", tuple(_ORDERS)) == "arrived"
    order = _ORDERS["arrived" if arrived else "started"]
    conditions = read_filters({name: value for name, value in query.items() if name in FILTERS}, now)
    if arrived:
        conditions = also(conditions, _COMPLETE, now=now)
    beyond = _beyond(conditions, order, query.get("cursor", ""))
    tail = f"ORDER BY {order.sql} LIMIT {limit + 1} OFFSET {((page or 1) - 1) * limit}"
    found = select_runs(store, account, _COLUMNS, beyond, tail)
    rows, more = found[:limit], len(found) > limit
    ((count,),) = select_runs(store, account, "count()", conditions)
    # A grader comes back later with the cursor of the last run it saw, so `arrived` gives one as long as it gives runs.
    onward = rows and (more or arrived)
    return {
        "traces": [_row(row, now) for row in rows],
        "next": write_cursor([rows[-1][order.at], rows[-1][0]]) if onward else None,
        "pages": -(-count // limit),
    }


def _beyond(conditions: Conditions, order: _Order, cursor: str) -> Conditions:
    if not cursor:
        return conditions
    after_time, after_id = read_cursor(cursor, (int, str))
    return also(conditions, order.beyond, after_time=after_time, after_id=after_id)


def _row(row: tuple[Any, ...], now: int) -> dict[str, Any]:
    (
        trace_id,
        completed_at,
        agent,
        model,
        scenario,
        start,
        end,
        status,
        verdict,
        reward,
        prompt,
        final_text,
        input_tokens,
        output_tokens,
        cost,
        spans,
    ) = row
    return {
        "traceId": trace_id,
        "state": state_of(completed_at, now),
        "agent": preview(agent),
        "model": preview(model),
        "scenarioId": preview(scenario),
        "startTimeUnixNano": str(start),
        "startedAt": iso(start),
        "durationMs": (end - start) / 1e6,
        "status": status,
        "verdict": verdict or None,
        "reward": reward,
        "prompt": preview(prompt),
        "finalText": preview(final_text),
        "inputTokens": input_tokens,
        "outputTokens": output_tokens,
        "costUsd": cost,
        "spanCount": spans,
    }


def state_of(completed_at: int, now: int) -> str:
    """A run is complete from the moment noted in its row."""
    return "complete" if completed_at <= now else "running"


def preview(text: str | None) -> str | None:
    """At most 200 characters of a text."""
    return text if text is None or len(text) <= PREVIEW_CHARS else text[: PREVIEW_CHARS - 1] + "…"
