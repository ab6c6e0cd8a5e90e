"""Live traffic: runs, failures, tokens, cost and latency over a window of time, in steps, by model and by version.

Over every run, complete or not. A run is flagged when it ended in error or its verdict is a fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_ingest import Store
from whileai_query.errors import BadRequest
from whileai_query.filters import FILTERS, Conditions, read_filters
from whileai_query.runs import also, select_runs
from whileai_query.times import iso_second
from whileai_query.windows import read_span

_FILTERS = tuple(name for name in FILTERS if name not in ("from", "to"))
PARAMETERS = (*_FILTERS, "version", "window", "step")
MOST_STEPS = 1_500

_MILLISECONDS = "(end_time_unix_nano - start_time_unix_nano) / 1e6"
_COUNTS = f"""count(), countIf(status = 'error'), countIf(status = 'error' OR verdict = 'fail'), sum(input_tokens),
sum(output_tokens), sum(cost_usd), quantilesExact(0.5, 0.95, 0.99)({_MILLISECONDS})"""
_NOTHING = (0, 0, 0, None, None, None, None)

# What `grouping(step, agent, model, model_version)` says of a row: a bit for each that it is not grouped by.
_KEYS = {0b0111: "step", 0b1011: "agent", 0b1101: "model", 0b1110: "version", 0b1111: "all"}
_PLACES = {"step": 0, "agent": 1, "model": 2, "version": 3}
_Group = tuple[Any, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class _Window:
    """The steps of a window, aligned to whole multiples so that a step does not change while it is watched."""

    start: int
    step: int
    count: int

    @property
    def end(self) -> int:
        return self.start + self.step * self.count


def traffic(store: Store, account: str, query: Mapping[str, str], now: int) -> dict[str, Any]:
    """The answer of `GET /traffic`. Raises `BadRequest` naming a parameter that makes no sense."""
    window = _window(query, now)
    conditions = read_filters({name: value for name, value in query.items() if name in _FILTERS}, now)
    if query.get("version"):
        conditions = also(conditions, "model_version = {version:String}", version=query["version"])
    within = "start_time_unix_nano >= {window_start:Int64} AND start_time_unix_nano < {window_end:Int64}"
    conditions = also(conditions, within, window_start=window.start, window_end=window.end)
    found = _grouped(store, account, conditions, window)
    by_step = dict(found["step"])
    return {
        "series": [
            {"t": iso_second(window.start + place * window.step), **_view(by_step.get(place, _NOTHING))}
            for place in range(window.count)
        ],
        "totals": _view(found["all"][0][1] if found["all"] else _NOTHING),
        "byAgent": _rows("agent", found["agent"]),
        "byModel": _rows("model", found["model"]),
        "byVersion": _rows("version", found["version"]),
    }


def _window(query: Mapping[str, str], now: int) -> _Window:
    length = read_span("window", query.get("window") or "1h")
    step = read_span("step", query.get("step") or "1m")
    count = -(-length // step)
    if count > MOST_STEPS:
        raise BadRequest(f"window and step make {count} steps; {MOST_STEPS} are shown at most, so give a longer step")
    end = (now // step + 1) * step
    return _Window(max(0, end - count * step), step, count)


def _grouped(store: Store, account: str, conditions: Conditions, window: _Window) -> dict[str, list[_Group]]:
    """The counts by step, by agent, by model, by version and of all, from one reading of the runs."""
    step = f"intDiv(start_time_unix_nano - {window.start}, {window.step}) AS step"
    columns = f"{step}, agent, model, model_version, grouping(step, agent, model, model_version), {_COUNTS}"
    sets = "GROUP BY GROUPING SETS ((step), (agent), (model), (model_version), ())"
    found: dict[str, list[_Group]] = {name: [] for name in _KEYS.values()}
    for *keys, absent, runs, errors, flagged, inputs, outputs, cost, latencies in select_runs(
        store, account, columns, conditions, sets
    ):
        name = _KEYS[absent]
        key = keys[_PLACES[name]] if name in _PLACES else None
        found[name].append((key, (runs, errors, flagged, inputs, outputs, cost, latencies)))
    return found


def _rows(name: str, groups: Sequence[_Group]) -> list[dict[str, Any]]:
    """The most runs first; what is not named comes after what is, among equals."""
    ordered = sorted(groups, key=lambda group: (-group[1][0], group[0] is None, group[0] or ""))
    return [{name: key, **_view(counts)} for key, counts in ordered]


def _view(counts: Any) -> dict[str, Any]:
    runs, errors, flagged, input_tokens, output_tokens, cost, latencies = counts
    p50, p95, p99 = latencies if runs else (None, None, None)
    return {
        "runs": runs,
        "errors": errors,
        "flagged": flagged,
        "inputTokens": input_tokens,
        "outputTokens": output_tokens,
        "costUsd": cost,
        "p50Ms": p50,
        "p95Ms": p95,
        "p99Ms": p99,
    }
