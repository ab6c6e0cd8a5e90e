"""Reading traces back: the one place that turns stored rows into spans, log records and gradings.

The writer uses it for traces that left its cache, the query side for everything it shows, so both see the same items.
The ten-minute buckets of arrival narrow every read; `runs` knows them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_dialects import Grading, LogRecord, Span
from whileai_ingest.items import TraceItems
from whileai_ingest.store import Store

BUCKET_NS = 600_000_000_000
# Bound values travel in a form field, which a server takes up to 128 KiB of.
IDS_PER_QUERY = 1000

_PRESENCE = """
SELECT trace_id, min(first), max(last), max(deleted_to)
FROM (
    SELECT trace_id, first_arrival AS first, last_arrival AS last, toUInt64(0) AS deleted_to
    FROM runs WHERE account = {account:String} AND trace_id IN {ids:Array(String)} AND NOT deleted
    UNION ALL
    SELECT trace_id, toUInt64(-1) AS first, toUInt64(0) AS last, version AS deleted_to
    FROM tombstones WHERE account = {account:String} AND trace_id IN {ids:Array(String)}
)
GROUP BY trace_id
"""

_SPANS = """
SELECT trace_id, span_id, parent_span_id, name, kind, start_time_unix_nano, end_time_unix_nano,
       mapKeys(attributes) AS keys, mapValues(attributes) AS values, events, links, status, resource, scope,
       trace_state, flags, version
FROM spans
WHERE account = {account:String} AND bucket BETWEEN {first:UInt32} AND {last:UInt32} AND trace_id IN {ids:Array(String)}
"""

_LOGS = """
SELECT trace_id, span_id, log_id, time_unix_nano, observed_time_unix_nano, severity_number, severity_text, event_name,
       body, mapKeys(attributes) AS keys, mapValues(attributes) AS values, resource, scope, flags, version
FROM log_records
WHERE account = {account:String} AND bucket BETWEEN {first:UInt32} AND {last:UInt32} AND trace_id IN {ids:Array(String)}
"""

_GRADINGS = """
SELECT DISTINCT trace_id, name, source, span_id, version, graded_at, value, label, pass_at, extra
FROM measurements
WHERE account = {account:String} AND trace_id IN {ids:Array(String)}
"""

_RAW = ("values", "events", "links", "status", "resource", "scope", "body")


@dataclass(frozen=True, slots=True)
class Presence:
    """When the items of a trace arrived, and up to where it was deleted (0: never)."""

    first_arrival: int
    last_arrival: int
    deleted_to: int


def presence(store: Store, account: str, ids: Sequence[str]) -> dict[str, Presence]:
    """Which of these traces the store has heard of."""
    return {
        trace_id: Presence(first, last, deleted_to)
        for part in _portions(ids)
        for trace_id, first, last, deleted_to in store.query(_PRESENCE, {"account": account, "ids": part})
    }


def read_traces(store: Store, account: str, ids: Sequence[str]) -> dict[str, TraceItems]:
    """The items of these traces; a trace without any is left out."""
    known = presence(store, account, ids)
    return read_known(store, account, known)


def read_known(store: Store, account: str, known: Mapping[str, Presence]) -> dict[str, TraceItems]:
    """The items of traces whose presence was asked for before."""
    found: dict[str, TraceItems] = {}
    for part in _portions(list(known)):
        found |= _read(store, account, {trace_id: known[trace_id] for trace_id in part})
    return found


def _portions(ids: Sequence[str]) -> Iterator[list[str]]:
    return (list(ids[at : at + IDS_PER_QUERY]) for at in range(0, len(ids), IDS_PER_QUERY))


def _read(store: Store, account: str, known: Mapping[str, Presence]) -> dict[str, TraceItems]:
    arrived = [at for at in known.values() if at.last_arrival]
    parameters: dict[str, Any] = {
        "account": account,
        "ids": list(known),
        "first": min((at.first_arrival for at in arrived), default=0) // BUCKET_NS,
        "last": max((at.last_arrival for at in arrived), default=0) // BUCKET_NS,
    }
    found: dict[str, TraceItems] = {}
    for row in store.query(_SPANS, parameters, as_bytes=_RAW[:6]):
        found.setdefault(row[0], TraceItems()).add_span(_span(row))
    for row in store.query(_LOGS, parameters, as_bytes=("values", "resource", "scope", "body")):
        found.setdefault(row[0], TraceItems()).add_log(row[2], _log(row))
    for row in store.query(_GRADINGS, parameters):
        found.setdefault(row[0], TraceItems()).add_grading(grading_of(row[1:]))
    for trace_id, at in known.items():
        if at.deleted_to and trace_id in found:
            found[trace_id].drop(at.deleted_to)
    return {trace_id: items for trace_id, items in found.items() if items.spans or items.logs or items.gradings}


def _span(row: tuple[Any, ...]) -> Span:
    return Span.from_columns(
        trace_id=bytes.fromhex(row[0]),
        span_id=bytes.fromhex(row[1]),
        parent_span_id=bytes.fromhex(row[2]),
        name=row[3],
        kind=row[4],
        start=row[5],
        end=row[6],
        attribute_keys=row[7],
        attribute_values=row[8],
        events=row[9],
        links=row[10],
        status=row[11],
        resource=row[12],
        scope=row[13],
        trace_state=row[14],
        flags=row[15],
        version=row[16],
    )


def _log(row: tuple[Any, ...]) -> LogRecord:
    return LogRecord.from_columns(
        trace_id=bytes.fromhex(row[0]),
        span_id=bytes.fromhex(row[1]),
        time=row[3],
        observed_time=row[4],
        severity_number=row[5],
        severity_text=row[6],
        event_name=row[7],
        body=row[8],
        attribute_keys=row[9],
        attribute_values=row[10],
        resource=row[11],
        scope=row[12],
        flags=row[13],
        version=row[14],
    )


def grading_of(values: Sequence[Any]) -> Grading:
    """A grading from (name, source, span_id, version, graded_at, value, label, pass_at, extra as JSON)."""
    name, source, span_id, version, graded_at, value, label, pass_at, extra = values
    return Grading(
        name=name,
        source=source,
        span_id=span_id,
        version=version,
        graded_at=graded_at,
        value=value,
        label=label,
        pass_at=pass_at,
        extra=json.loads(extra) if extra else {},
    )
