"""`GET /traces/{id}?format=otlp`: the spans of a trace as an OTLP request, equal to what went in.

Built from the stored columns by hand: attribute values are raw AnyValue bytes, so every kind survives, in its order.
Spans stand under their resource and scope, in the order of arrival. Of a span that came again, the latest copy counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from whileai_dialects.value import EMPTY_VALUE
from whileai_ingest import Store
from whileai_ingest.otlp_json import to_json
from whileai_ingest.protowire import bytes_field, fixed32_field, fixed64_field, varint_field
from whileai_ingest.reading import BUCKET_NS, presence

_SPANS = """
SELECT span_id, version, resource, resource_schema_url, scope, scope_schema_url, parent_span_id, trace_state, flags,
       name, kind, start_time_unix_nano, end_time_unix_nano,
       mapKeys(attributes) AS keys, mapValues(attributes) AS values,
       events, links, status, dropped_attributes_count, dropped_events_count, dropped_links_count,
       empty_status
FROM spans
WHERE account = {account:String} AND bucket BETWEEN {first:UInt32} AND {last:UInt32}
  AND trace_id = {trace_id:String} AND version > {deleted_to:UInt64}
ORDER BY version
"""
_BYTES = ("resource", "scope", "values", "events", "links", "status")

_Row = tuple[Any, ...]


def otlp_protobuf(store: Store, account: str, trace_id: str) -> bytes | None:
    """The serialised `TracesData`, on the wire an `ExportTraceServiceRequest`; None when there are no spans."""
    known = presence(store, account, [trace_id]).get(trace_id)
    if known is None:
        return None
    rows = store.query(
        _SPANS,
        {
            "account": account,
            "trace_id": trace_id,
            "first": known.first_arrival // BUCKET_NS if known.last_arrival else 0,
            "last": known.last_arrival // BUCKET_NS,
            "deleted_to": known.deleted_to,
        },
        as_bytes=_BYTES,
    )
    return request_of(trace_id, rows) if rows else None


def otlp_json(protobuf: bytes) -> dict[str, Any]:
    """The OTLP/JSON form of the same."""
    return to_json(TracesData.FromString(protobuf))


def request_of(trace_id: str, rows: Iterable[_Row]) -> bytes:
    """The request that holds these rows, which come in the order of arrival."""
    latest: dict[str, _Row] = {}
    for row in rows:
        latest[row[0]] = row  # a later copy takes the place of the first, where the first stood
    resources: dict[_Row, dict[_Row, list[bytes]]] = {}
    for row in latest.values():
        scopes = resources.setdefault(row[2:4], {})
        scopes.setdefault(row[4:6], []).append(_span(bytes.fromhex(trace_id), row))
    return b"".join(bytes_field(1, _resource_spans(resource, scopes)) for resource, scopes in resources.items())


def _resource_spans(resource: _Row, scopes: dict[_Row, list[bytes]]) -> bytes:
    return (
        _message(1, resource[0])
        + b"".join(bytes_field(2, _scope_spans(scope, spans)) for scope, spans in scopes.items())
        + _text(3, resource[1])
    )


def _scope_spans(scope: _Row, spans: Sequence[bytes]) -> bytes:
    return _message(1, scope[0]) + b"".join(bytes_field(2, span) for span in spans) + _text(3, scope[1])


def _span(trace_id: bytes, row: _Row) -> bytes:
    parent, trace_state, flags, name, kind, start, end, keys, values, events, links, status = row[6:18]
    return b"".join(
        (
            bytes_field(1, trace_id),
            bytes_field(2, bytes.fromhex(row[0])),
            _text(3, trace_state),
            _message(4, bytes.fromhex(parent)),
            _text(5, name),
            _number(6, kind),
            fixed64_field(7, start) if start else b"",
            fixed64_field(8, end) if end else b"",
            *(bytes_field(9, _pair(key, value)) for key, value in zip(keys, values, strict=True)),
            _number(10, row[18]),
            *(bytes_field(11, event) for event in events),
            _number(12, row[19]),
            *(bytes_field(13, link) for link in links),
            _number(14, row[20]),
            bytes_field(15, status) if status or row[21] else b"",
            fixed32_field(16, flags) if flags else b"",
        )
    )


def _pair(key: str, value: bytes) -> bytes:
    """A KeyValue. No bytes are a key without a value; an empty value is stored as `EMPTY_VALUE`."""
    return bytes_field(1, key.encode()) + (bytes_field(2, b"" if value == EMPTY_VALUE else value) if value else b"")


def _message(number: int, raw: bytes) -> bytes:
    return bytes_field(number, raw) if raw else b""


def _text(number: int, text: str) -> bytes:
    return bytes_field(number, text.encode()) if text else b""


def _number(number: int, value: int) -> bytes:
    return varint_field(number, value) if value else b""
