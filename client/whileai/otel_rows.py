"""Rows out of traces that went to no service: one per conversation, read by the code that reads the service's runs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from whileai import otlp_source
from whileai.otlp_source import Telemetry
from whileai_dialects import LogRecord, Run, Span, row_of, summarise

REWARD = "whileai.reward"


def rows_from_otel(source: Any, *, reward_keys: Sequence[str] = (REWARD,)) -> list[dict[str, Any]]:
    """One row per conversation of the traces in `source`: OTLP files, bodies, documents, or spans of an SDK.

    Traces that share a conversation id are turns of one conversation. A reward is the last of `reward_keys` found on a
    span, else the trace's verdict; outside 0 to 1 it is left out.
    """
    telemetry = otlp_source.read(source)
    conversations: dict[str, list[tuple[Run, list[Span]]]] = {}
    for trace_id, (spans, logs) in _by_trace(telemetry).items():
        run = summarise(spans, logs)
        conversations.setdefault(run.conversation_id or trace_id, []).append((run, spans))
    return [_row(name, turns, reward_keys) for name, turns in conversations.items()]


def _by_trace(telemetry: Telemetry) -> dict[str, tuple[list[Span], list[LogRecord]]]:
    traces: dict[str, tuple[list[Span], list[LogRecord]]] = {}
    for span in telemetry.spans:
        traces.setdefault(span.trace_id, ([], []))[0].append(span)
    for record in telemetry.logs:
        if record.trace_id in traces:
            traces[record.trace_id][1].append(record)
    return traces


def _row(name: str, turns: Sequence[tuple[Run, list[Span]]], reward_keys: Sequence[str]) -> dict[str, Any]:
    ordered = sorted(turns, key=lambda turn: turn[0].start)
    parts: list[dict[str, Any]] = [dict(row_of(run)) for run, _ in ordered]
    row: dict[str, Any] = parts[0] if len(parts) == 1 else _joined(parts)
    row["conversation_id"] = name
    row["ts"] = ordered[0][0].start
    rewards = [_reward(run, spans, reward_keys) for run, spans in ordered]
    row["reward"] = next((reward for reward in reversed(rewards) if reward is not None), None)
    if row["reward"] is None:
        del row["reward"]
    return row


def _joined(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The turns of a conversation as one row: it begins as the first does and ends as the last does."""
    joined = {key: value for part in parts for key, value in part.items()}
    joined["prompt"] = parts[0]["prompt"]
    joined["messages"] = _history(part.get("messages") or [] for part in parts)
    joined["steps"] = [*(parts[0].get("steps") or [])]
    for part in parts[1:]:
        joined["steps"] += [{"user": part["prompt"]}, *(part.get("steps") or [])]
    joined["usage"] = _summed(part.get("usage") or {} for part in parts)
    if len(trace_ids := [part["lineage"]["trace_id"] for part in parts]) > 1:
        joined["lineage"] = {**parts[0]["lineage"], "trace_ids": trace_ids}
    return joined


def _history(turns: Iterable[Sequence[Mapping[str, Any]]]) -> list[Mapping[str, Any]]:
    """The messages of all turns; a turn that carries the earlier ones already replaces them."""
    history: list[Mapping[str, Any]] = []
    for messages in turns:
        talk = [message for message in history if message.get("role") != "system"]
        fresh = [message for message in messages if message.get("role") != "system"]
        carries = bool(talk) and fresh[: len(talk)] == talk
        history = list(messages) if carries or not history else [*history, *fresh]
    return history


def _summed(usages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    total: dict[str, Any] = {}
    for usage in usages:
        for key, value in usage.items():
            known = total.get(key)
            total[key] = value if known is None else known if value is None else known + value
    return total


def _reward(run: Run, spans: Sequence[Span], keys: Sequence[str]) -> float | int | None:
    found = [span.attributes.get(key) for span in sorted(spans, key=lambda span: span.end) for key in keys]
    numbers = [value for value in found if isinstance(value, int | float)]
    reward = numbers[-1] if numbers else run.reward
    if reward is None or not 0 <= reward <= 1:
        return None
    return int(reward) if reward in (0, 1) else float(reward)
