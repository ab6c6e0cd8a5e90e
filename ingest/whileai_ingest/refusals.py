"""Why an item was refused at the door: the reasons, and the row that `GET /rejections` shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """The fixed vocabulary of refusals; each value is what people see and filter by."""

    TRACE_ID = "trace_id"
    SPAN_ID = "span_id"
    PARENT_SPAN_ID = "parent_span_id"
    TIME = "time"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One item that was not taken, and what was wrong with it."""

    reason: Reason
    detail: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class RefusalRow:
    """Refusals of one request with the same reason and agent; `detail` is a sample."""

    signal: str
    reason: str
    agent: str
    detail: str
    count: int


def rows(signal: str, refusals: Iterable[Refusal]) -> list[RefusalRow]:
    """Refusals grouped by (reason, agent), each with its first detail."""
    counts: Counter[tuple[Reason, str]] = Counter()
    samples: dict[tuple[Reason, str], str] = {}
    for refusal in refusals:
        key = (refusal.reason, refusal.agent)
        counts[key] += 1
        samples.setdefault(key, refusal.detail)
    return [
        RefusalRow(signal, reason.value, agent, samples[reason, agent], count)
        for (reason, agent), count in counts.items()
    ]


def summary(refusals: Sequence[Refusal]) -> str:
    """The `error_message` of a partial success: each reason with its count and one sample."""
    return "; ".join(f"{row.count} refused for {row.reason}: {row.detail}" for row in rows("", refusals))
