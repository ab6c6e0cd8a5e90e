"""The writer: one thread that carries the journal into ClickHouse, in order, and says how far it is.

A turn takes a stretch of the journal, inserts spans, log records and gradings as they are, then summarises every
trace that was touched and writes its row of `runs`. Only then does the journal advance. Everything is keyed by
versions from the journal, so a turn that is repeated after a crash writes the same rows again and nothing is counted
twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import structlog
from google.protobuf.message import Message
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from whileai_ingest.batch import MEASUREMENT_COLUMNS, REJECTION_COLUMNS, Batch, gather
from whileai_ingest.errors import IngestError, StoreRefused, StoreUnavailable
from whileai_ingest.frames import LOG_SCHEMA, SPAN_SCHEMA, join, split
from whileai_ingest.journal import Journal
from whileai_ingest.metrics import IngestMetrics
from whileai_ingest.records import Record
from whileai_ingest.repair import canonical
from whileai_ingest.run_writer import RunWriter
from whileai_ingest.store import Store

log = structlog.get_logger("writer")

# Below a few thousand rows an insert is all fixed cost, so small requests wait this long for company …
LINGER_SECONDS = 0.25
# … unless this much is waiting already. One turn takes up to TURN_BYTES: large blocks, bounded memory.
ENOUGH_BYTES = 8 << 20
TURN_BYTES = 24 << 20
_RETRY_SECONDS = (0.2, 0.5, 1, 2, 5)
# A reader that waits while writes fail is told so after this long, rather than when its patience ends.
TROUBLED_SECONDS = 2.0

_MESSAGES: dict[str, type[Message]] = {"spans": Span, "log_records": LogRecord}
_DELETE_FROM = ("spans", "log_records", "measurements")


class Writer:
    """Start it once; `wait_applied` tells when a position of the journal can be read from ClickHouse."""

    def __init__(self, journal: Journal, store: Store, metrics: IngestMetrics, runs: RunWriter) -> None:
        self._journal = journal
        self._store = store
        self._metrics = metrics
        self._runs = runs
        self._condition = threading.Condition()
        self._urgent = False
        self._closing = False
        self.problem: str | None = None
        self._listeners: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        journal.on_durable(self._wake)

    def start(self) -> None:
        self._thread.start()

    def on_applied(self, listener: Callable[[], None]) -> None:
        """Call `listener` (from the writer's thread) after every turn."""
        self._listeners.append(listener)

    def wait_applied(self, position: int, timeout: float) -> bool:
        """Block until everything before `position` is in ClickHouse; False when that took too long, or writes fail."""
        started = time.monotonic()
        with self._condition:
            while self._journal.applied < position:
                self._urgent = True
                self._condition.notify_all()
                patience = timeout if self.problem is None else min(timeout, TROUBLED_SECONDS)
                remaining = started + patience - time.monotonic()
                if remaining <= 0 or not self._thread.is_alive():
                    return self._journal.applied >= position
                self._condition.wait(min(remaining, TROUBLED_SECONDS))
        return True

    def close(self, timeout: float) -> bool:
        """Write what is durable, then stop; False when that did not finish in time (the journal keeps it)."""
        with self._condition:
            self._closing = True
            self._condition.notify_all()
        if self._thread.ident is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _wake(self) -> None:
        with self._condition:
            self._condition.notify_all()

    def _run(self) -> None:
        failures = 0
        while self._wait_for_work():
            try:
                self._turn()
                failures = 0
                self.problem = None
            except Exception as error:
                # Whatever it was, the journal still holds everything: say so, and try again.
                if not isinstance(error, StoreUnavailable) or failures == 0:
                    log.warning("write failed", error=str(error), exc_info=not isinstance(error, IngestError))
                self.problem = str(error)
                self._metrics.store_failures.inc()
                self._runs.forget()
                if self._pause(_RETRY_SECONDS[min(failures, len(_RETRY_SECONDS) - 1)]):
                    return
                failures += 1

    def _wait_for_work(self) -> bool:
        """Until there is a batch worth writing; False when there is nothing left and the service stops."""
        with self._condition:
            while not self._journal.backlog:
                self._urgent = False
                if self._closing:
                    return False
                due_in = self._runs.due_in(time.monotonic())
                if due_in is not None and due_in <= 0:
                    return True
                self._condition.wait(due_in)
            deadline = time.monotonic() + LINGER_SECONDS
            while not (self._urgent or self._closing) and self._journal.backlog < ENOUGH_BYTES:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    break
                self._condition.wait(remaining)
        return True

    def _pause(self, seconds: float) -> bool:
        """Wait before a retry, not for long when a reader waits too; True when the service stops meanwhile."""
        with self._condition:
            self._condition.wait_for(lambda: self._closing or self._urgent, seconds)
            return self._condition.wait_for(lambda: self._closing, min(seconds, _RETRY_SECONDS[0]))

    def _turn(self) -> None:
        started = time.monotonic()
        self._runs.rewrite_due(started)
        batch = gather(self._journal.read(self._journal.applied, TURN_BYTES))
        if not batch.end:
            return
        self.write_frames("spans", SPAN_SCHEMA, batch.spans)
        self.write_frames("log_records", LOG_SCHEMA, batch.logs)
        self._store.insert("measurements", MEASUREMENT_COLUMNS, batch.measurements)
        self._store.insert("rejections", REJECTION_COLUMNS, batch.rejections)
        for end, damage in batch.damages:
            # Nobody's any more: the account was in the bytes. The position keeps one damage apart from the next.
            self._quarantine("", end, "journal", f"unreadable journal bytes before position {end}", damage.raw)
        for record, error in batch.unreadable:
            self._quarantine(record.account, record.version, record.kind.name.lower(), error, record.payload)
        self._delete(batch)
        self._runs.write(batch.touched, batch.deletions)
        self._journal.advance(batch.end)
        self._metrics.backlog.set(self._journal.backlog)
        self._metrics.batches.observe(time.monotonic() - started)
        with self._condition:
            self._urgent = False  # whoever still waits says so again
            self._condition.notify_all()
        for listener in self._listeners:
            listener()

    # -- spans and log records ---------------------------------------------------------------------------------------

    def write_frames(self, table: str, schema: str, records: Sequence[Record]) -> None:
        """Insert records of frames; what ClickHouse refuses is quarantined, the rest is written."""
        if not records:
            return
        try:
            self._store.insert_frames(table, schema, b"".join(record.payload for record in records))
        except StoreRefused as error:
            self._isolate(table, schema, records, error)
            return
        self._metrics.written.labels(table).inc(sum(record.count for record in records))

    def _isolate(self, table: str, schema: str, records: Sequence[Record], error: StoreRefused) -> None:
        """One unwritable frame refuses its whole block: write all plainly, else halve until it stands alone."""
        if len(records) > 1:
            for record in records:
                self.write_frames(table, schema, [record])
            return
        (record,) = records
        frames = [canonical(_MESSAGES[table], frame) or frame for frame in split(record.payload)]
        if (plain := join(frames)) != record.payload:
            self.write_frames(table, schema, [replace(record, payload=plain)])
            return
        if len(frames) == 1:
            self._quarantine(record.account, record.version, table, str(error), frames[0])
            return
        middle = len(frames) // 2
        for offset, half in ((0, frames[:middle]), (middle, frames[middle:])):
            part = Record(record.kind, record.account, record.version + offset, len(half), join(half))
            self.write_frames(table, schema, [part])

    def _quarantine(self, account: str, version: int, kind: str, error: str, raw: bytes) -> None:
        log.error("quarantined", kind=kind, error=error, bytes=len(raw))
        self._metrics.quarantined.inc()
        self._store.insert(
            "quarantine", ("account", "version", "kind", "error", "raw"), [[account, version, kind, error, raw]]
        )

    # -- deletions ---------------------------------------------------------------------------------------------------

    def _delete(self, batch: Batch) -> None:
        for (account, trace_id), version in batch.deletions.items():
            self._store.insert("tombstones", ("account", "trace_id", "version"), [[account, trace_id, version]])
            for table in _DELETE_FROM:
                self._store.command(
                    f"DELETE FROM {table} WHERE account = {{account:String}} AND trace_id = {{trace_id:String}} "
                    "AND version <= {version:UInt64}",
                    {"account": account, "trace_id": trace_id, "version": version},
                )
