"""Finished runs, one row each, as OTLP spans: what `send_runs` sends. Pure; ids and the clock are arguments."""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from whileai.errors import WhileIngestError

PROMPT = ("prompt", "input", "question", "ask")
REPLY = ("final_text", "completion", "response", "output", "answer", "reply")
SCENARIO = ("scenario_id", "scenario", "case", "task_id")
MODEL = ("model", "model_version")
REWARD = ("reward", "score")
APART_NS = 1_000_000  # runs are laid 1 ms apart, so that their order survives

SCOPE = "whileai.send_runs"
Row = Mapping[str, Any]
NewId = Callable[[int], str]


def export_request(agent: str, dataset: str, spans: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The OTLP request that carries `spans` as one resource."""
    resource = {"service.name": agent, "zeroproof.dataset": dataset, "whileai.dataset": dataset}
    scope_spans = [{"scope": {"name": SCOPE}, "spans": list(spans)}]
    return {"resourceSpans": [{"resource": {"attributes": attributes(resource)}, "scopeSpans": scope_spans}]}


def spans_of(
    rows: Sequence[Row], *, agent: str, model: str | None, pass_at: float, now_ns: int, new_id: NewId
) -> list[dict[str, Any]]:
    """One span per row, oldest first, the last of them starting about now."""
    first = now_ns - APART_NS * len(rows)
    return [
        _span(index, row, agent=agent, model=model, pass_at=pass_at, start=first + APART_NS * index, new_id=new_id)
        for index, row in enumerate(rows)
    ]


def attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """OTLP attributes in their JSON form; a value that is None is left out."""
    return [{"key": key, "value": _any_value(value)} for key, value in values.items() if value is not None]


def scenario_of_prompt(prompt: str) -> str:
    """The scenario id of a run that names none: runs of the same prompt are runs of the same task."""
    return "p-" + hashlib.sha1(prompt.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:12]


def _span(
    index: int, row: Row, *, agent: str, model: str | None, pass_at: float, start: int, new_id: NewId
) -> dict[str, Any]:
    prompt = _text(row, PROMPT) or _spoken(row, "user", last=False)
    if not prompt:
        raise WhileIngestError(f"row {index} has no prompt: give it under one of {', '.join(PROMPT)}, or messages")
    reward = _number(row, index, REWARD)
    facts = {
        "gen_ai.agent.name": agent,
        "test.case.name": _text(row, SCENARIO) or scenario_of_prompt(prompt),
        "gen_ai.prompt": prompt,
        "gen_ai.completion": _text(row, REPLY) or _spoken(row, "assistant", last=True),
        "gen_ai.request.model": _text(row, MODEL) or model,
        "zeroproof.score": reward,
        "zeroproof.score.pass_at": None if reward is None else float(pass_at),
    }
    lasted = _number(row, index, ("duration_ms",)) or 0.0
    return {
        "traceId": new_id(16),
        "spanId": new_id(8),
        "name": "agent.run",
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + max(0, round(lasted * 1e6))),
        "attributes": attributes(facts),
    }


def _any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int | float):
        return {"doubleValue": float(value)}
    return {"stringValue": str(value)}


def _text(row: Row, names: Iterable[str]) -> str | None:
    return next((str(row[name]) for name in names if row.get(name) not in (None, "")), None)


def _spoken(row: Row, role: str, *, last: bool) -> str | None:
    said = [
        message["content"]
        for message in row.get("messages") or ()
        if message.get("role") == role and isinstance(message.get("content"), str) and message["content"]
    ]
    return (said[-1] if last else said[0]) if said else None


def _number(row: Row, index: int, names: Iterable[str]) -> float | None:
    for name in names:
        value = row.get(name)
        if value is None:
            continue
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise WhileIngestError(
                f"row {index}: {name} is {value!r}, which is not a number; leave it out when unknown"
            )
        return float(value)
    return None
