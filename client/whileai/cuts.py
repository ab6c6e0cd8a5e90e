"""Training data out of traces: what a cut would hold, and making it. Grouping and splitting are the service's work."""

from typing import Any

from whileai import service


def cuts(agent: str | None = None, *, since: str = "all", api_key: str | None = None, **filters: Any) -> dict[str, Any]:
    """What a cut of these runs would hold; nothing is made. Other keywords are trace filters: `model=`, `tool=`, …"""
    wanted = _filter(agent, since, filters)
    report = service.api("GET", "/traces/cuts", api_key=api_key, params=wanted)
    return {"filter": wanted, **report}


def cut(
    agent: str | None = None,
    *,
    kind: str = "rl",
    since: str = "all",
    holdout: float | None = None,
    band: tuple[float, float] | None = None,
    name: str | None = None,
    api_key: str | None = None,
    **filters: Any,
) -> dict[str, Any]:
    """Make the train and the holdout set, found under `train` and `holdout` of the answer (None where a side is empty).

    `kind="rl"` takes every graded run of the tasks whose pass rate lies in `band`; `kind="sft"` the best run of every
    task that ever passed. A task is wholly on one side.
    """
    low, high = band if band is not None else (None, None)
    body = {
        "filter": _filter(agent, since, filters),
        "kind": kind.lower(),
        **service.given(holdout=holdout, lo=low, hi=high, name=name),
    }
    answer = service.api("POST", "/datasets/cut", api_key=api_key, json=body)
    made = {entry.get("role"): entry for entry in answer.get("made") or []}
    return {**answer, "train": made.get("train"), "holdout": made.get("holdout")}


def _filter(agent: str | None, since: str, filters: dict[str, Any]) -> dict[str, str]:
    wanted = {name: str(value) for name, value in filters.items() if value is not None}
    return {**wanted, **({"agent": agent.lower()} if agent else {}), "from": since}
