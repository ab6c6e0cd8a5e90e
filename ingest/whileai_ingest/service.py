"""The room's front: `accept` what the door lets through, and tell readers when it can be read.

`accept` returns after the journal's fsync. That is the acknowledgement: whatever is killed afterwards, it is not lost.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from whileai_ingest.dataset import DEFAULT_DATASET, dataset_id, day_of
from whileai_ingest.door import Checked, check_logs, check_spans
from whileai_ingest.frames import stream
from whileai_ingest.journal import Journal
from whileai_ingest.metrics import IngestMetrics
from whileai_ingest.migrations import migrate
from whileai_ingest.points import count_points
from whileai_ingest.records import Kind
from whileai_ingest.refusals import Refusal, rows
from whileai_ingest.run_writer import RunWriter
from whileai_ingest.store import Store
from whileai_ingest.writer import Writer

# Parsing less than this on the event loop is cheaper than handing it to a thread.
INLINE_BYTES = 128 << 10
DRAIN_SECONDS = 25.0


class Signal(StrEnum):
    """OpenTelemetry's three."""

    TRACES = "traces"
    LOGS = "logs"
    METRICS = "metrics"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one request."""

    accepted: int
    refusals: Sequence[Refusal] = ()
    dataset: str = DEFAULT_DATASET
    dataset_id: str = ""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One grading sent by call."""

    trace_id: str
    name: str
    value: float | None
    label: str | None = None
    pass_at: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


_CHECKS: dict[Signal, tuple[Kind, Callable[[str, bytes], Checked]]] = {
    Signal.TRACES: (Kind.SPANS, check_spans),
    Signal.LOGS: (Kind.LOGS, check_logs),
}


class Ingest:
    """Journal, store and writer of one process. `start` replays what the journal still holds.

    `run_quiet_seconds`: a run without a root is complete when nothing came for so long.
    `shared`: other processes write to the same ClickHouse.
    """

    def __init__(
        self,
        folder: Path,
        store: Store,
        registry: CollectorRegistry,
        *,
        journal_max_bytes: int,
        run_quiet_seconds: float = 60,
        shared: bool = False,
    ) -> None:
        self.store = store
        self.run_quiet_ns = round(run_quiet_seconds * 1e9)
        self.metrics = IngestMetrics(registry)
        self.journal = Journal(folder, max_bytes=journal_max_bytes)
        self._runs = RunWriter(store, self.metrics, self.run_quiet_ns, shared=shared)
        self.writer = Writer(self.journal, store, self.metrics, self._runs)

    def start(self) -> None:
        """Bring the schema up to date and start writing. Raises `StoreUnavailable` or `StoreRefused`."""
        migrate(self.store)
        self._runs.remember_recent()
        self.writer.start()

    async def accept(self, account: str, signal: Signal, body: bytes, early: Sequence[Refusal] = ()) -> Receipt:
        """Check, journal and acknowledge one OTLP request in protobuf form.

        `early` holds what was refused before (items of a JSON request). Raises `Undecodable` or `Overloaded`.
        """
        if signal is Signal.METRICS:
            points, unread = await self._off_loop(len(body), count_points, body)
            self.metrics.accepted.labels(signal).inc(points)
            refusals = [*early, *unread]
            if refusals:
                await self._note_refusals(account, signal, refusals)
            return Receipt(points, refusals)
        kind, check = _CHECKS[signal]
        checked = await self._off_loop(len(body), check, account, body)
        refusals = [*early, *checked.refusals]
        version = self.journal.now()
        if checked.items:
            version, _ = await asyncio.wrap_future(
                self.journal.append(
                    kind, account, len(checked.items), lambda first: stream(checked.items, first), checked.size
                )
            )
            self.metrics.accepted.labels(signal).inc(len(checked.items))
        if refusals:
            await self._note_refusals(account, signal, refusals)
        identity = dataset_id(account, checked.dataset, day_of(version))
        return Receipt(len(checked.items), refusals, checked.dataset, identity)

    async def accept_scores(self, account: str, scores: Sequence[ScoreRow]) -> None:
        """Journal gradings; they are attached to their runs by the writer, now or when the run arrives."""
        lines = [
            {
                "trace_id": score.trace_id,
                "name": score.name,
                "value": score.value,
                "label": score.label,
                "pass_at": score.pass_at,
                "extra": dict(score.extra),
            }
            for score in scores
        ]
        await self._append_lines(Kind.SCORES, account, lines)
        self.metrics.accepted.labels("scores").inc(len(scores))

    async def accept_deletion(self, account: str, trace_ids: Sequence[str]) -> None:
        """Journal a deletion: it hides every earlier arrival of these traces once it is applied."""
        payload = json.dumps(list(trace_ids)).encode()
        await asyncio.wrap_future(self.journal.append(Kind.DELETION, account, 1, lambda _first: payload, len(payload)))

    def settle(self, timeout: float = 30.0) -> bool:
        """Block until all that is acknowledged by now can be read; False when the writer is that far behind."""
        return self.writer.wait_applied(self.journal.durable, timeout)

    def close(self) -> bool:
        """Drain and stop; False when ClickHouse did not take everything in time (the journal keeps the rest)."""
        self.journal.stop_taking()
        drained = self.writer.close(DRAIN_SECONDS)
        self.journal.close()
        if drained:
            self.store.close()
        return drained

    async def _note_refusals(self, account: str, signal: Signal, refusals: Sequence[Refusal]) -> None:
        lines = []
        for row in rows(signal.value, refusals):
            self.metrics.refused.labels(signal, row.reason).inc(row.count)
            lines.append(
                {
                    "signal": row.signal,
                    "reason": row.reason,
                    "agent": row.agent,
                    "detail": row.detail,
                    "count": row.count,
                }
            )
        await self._append_lines(Kind.REJECTIONS, account, lines)

    async def _append_lines(self, kind: Kind, account: str, lines: Sequence[Mapping[str, Any]]) -> None:
        payload = b"\n".join(json.dumps(line).encode() for line in lines)
        await asyncio.wrap_future(self.journal.append(kind, account, len(lines), lambda _first: payload, len(payload)))

    @staticmethod
    async def _off_loop(size: int, function: Callable[..., Any], *arguments: Any) -> Any:
        if size <= INLINE_BYTES:
            return function(*arguments)
        return await asyncio.to_thread(function, *arguments)
