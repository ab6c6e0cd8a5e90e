"""A stretch of the journal, sorted by what has to be done with it: pure, no I/O."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from whileai_dialects import LogRecord, Span
from whileai_dialects.wire import LogWire
from whileai_ingest.cache import Key
from whileai_ingest.frames import split
from whileai_ingest.items import TraceItems
from whileai_ingest.journal import Entry
from whileai_ingest.reading import grading_of
from whileai_ingest.records import Damage, Kind, Record

MEASUREMENT_COLUMNS = (
    "account",
    "trace_id",
    "name",
    "source",
    "span_id",
    "version",
    "graded_at",
    "value",
    "label",
    "pass_at",
    "extra",
)
REJECTION_COLUMNS = ("account", "version", "signal", "reason", "agent", "detail", "count")


@dataclass(slots=True)
class Batch:
    """What one turn of the writer writes."""

    end: int = 0
    spans: list[Record] = field(default_factory=list)
    logs: list[Record] = field(default_factory=list)
    measurements: list[list[Any]] = field(default_factory=list)
    rejections: list[list[Any]] = field(default_factory=list)
    deletions: dict[Key, int] = field(default_factory=dict)
    damages: list[tuple[int, Damage]] = field(default_factory=list)
    unreadable: list[tuple[Record, str]] = field(default_factory=list)
    touched: dict[Key, TraceItems] = field(default_factory=dict)

    def items(self, account: str, trace_id: str) -> TraceItems:
        key = (account, trace_id)
        if key not in self.touched:
            self.touched[key] = TraceItems()
        return self.touched[key]


def gather(entries: Iterable[Entry]) -> Batch:
    """Sort journal entries into a batch."""
    batch = Batch()
    for entry in entries:
        batch.end = entry.end
        if isinstance(entry.item, Damage):
            batch.damages.append((entry.end, entry.item))
            continue
        try:
            _SORT[entry.item.kind](batch, entry.item)
        except Exception as error:  # sound on disk and yet not readable: kept raw, so that the journal can go on
            batch.unreadable.append((entry.item, f"{type(error).__name__}: {error}"))
    return batch


def _spans(batch: Batch, record: Record) -> None:
    for frame in split(record.payload):
        span = Span.from_frame(frame)
        batch.items(record.account, span.trace_id).add_span(span)
    batch.spans.append(record)


def _logs(batch: Batch, record: Record) -> None:
    for frame in split(record.payload):
        log = LogRecord.from_frame(frame)
        if log.trace_id:
            batch.items(record.account, log.trace_id).add_log(LogWire.FromString(frame).log_id, log)
    batch.logs.append(record)


def _scores(batch: Batch, record: Record) -> None:
    for number, line in enumerate(record.payload.splitlines()):
        score = json.loads(line)
        row = [
            score["name"],
            "call",
            "",
            record.version + number,
            record.version + number,
            score.get("value"),
            score.get("label"),
            score.get("pass_at"),
            json.dumps(score["extra"]) if score.get("extra") else "",
        ]
        batch.measurements.append([record.account, score["trace_id"], *row])
        batch.items(record.account, score["trace_id"]).add_grading(grading_of(row))


def _deletions(batch: Batch, record: Record) -> None:
    for trace_id in json.loads(record.payload):
        batch.deletions[record.account, trace_id] = record.version
        batch.items(record.account, trace_id)


def _rejections(batch: Batch, record: Record) -> None:
    for number, line in enumerate(record.payload.splitlines()):
        row = json.loads(line)
        batch.rejections.append([record.account, record.version + number, *(row[key] for key in REJECTION_COLUMNS[2:])])


_SORT = {
    Kind.SPANS: _spans,
    Kind.LOGS: _logs,
    Kind.SCORES: _scores,
    Kind.DELETION: _deletions,
    Kind.REJECTIONS: _rejections,
}
