"""OTLP bodies and files as spans and log records: protobuf, JSON, or JSON lines.

For files and offline reading; the service's own door checks and stores the bytes as they came.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping

from google.protobuf.message import DecodeError

from whileai_dialects.attributes import Attributes
from whileai_dialects.log import LogRecord
from whileai_dialects.span import Event, Link, Span
from whileai_dialects.value import encode_value
from whileai_dialects.wire import LogsRequest, LogWire, Request, SpanWire

Json = Mapping[str, object]


class NotOtlp(ValueError):
    """The bytes are neither an OTLP protobuf request nor OTLP JSON."""


def read_spans(body: bytes, arrived: int = 0) -> list[Span]:
    """The spans of a trace request, or of a file with one JSON request a line; `arrived` is their version."""
    if not _is_json(body):
        return [
            Span.from_frame(frame)
            for frame in _frames(body, Request, "resource_spans", "scope_spans", "spans", arrived)
        ]
    found: list[Span] = []
    for request in _requests(body):
        for resource, scope, span in _walk(request, "resourceSpans", "scopeSpans", "spans"):
            found.append(_span(span, resource, scope, arrived))
    return found


def read_logs(body: bytes, arrived: int = 0) -> list[LogRecord]:
    """The log records of a logs request, or of a file with one JSON request a line."""
    if not _is_json(body):
        frames = _frames(body, LogsRequest, "resource_logs", "scope_logs", "log_records", arrived)
        return [LogRecord.from_frame(frame) for frame in frames]
    found: list[LogRecord] = []
    for request in _requests(body):
        for resource, scope, record in _walk(request, "resourceLogs", "scopeLogs", "logRecords"):
            found.append(_record(record, resource, scope, arrived))
    return found


def _is_json(body: bytes) -> bool:
    return body.lstrip()[:1] in (b"{", b"[")


def _frames(body: bytes, message: object, groups: str, scopes: str, items: str, arrived: int) -> Iterator[bytes]:
    """Each span or record with its resource and scope appended, as the service stores it."""
    wire = SpanWire if items == "spans" else LogWire
    try:
        request = message.FromString(body)  # type: ignore[attr-defined]  # message classes are made at run time
    except DecodeError as error:
        raise NotOtlp(f"not an OTLP request: {error}; send protobuf, or JSON that begins with '{{'") from error
    for group in getattr(request, groups):
        for scope in getattr(group, scopes):
            tail = wire(version=arrived, resource=group.resource, scope=scope.scope).SerializeToString()
            for item in getattr(scope, items):
                yield item + tail


def _requests(body: bytes) -> Iterator[Json]:
    try:
        whole = json.loads(body)
        values = whole if isinstance(whole, list) else [whole]
    except ValueError:
        values = []
        for number, line in enumerate(body.splitlines(), 1):
            if line.strip():
                try:
                    values.append(json.loads(line))
                except ValueError as error:
                    raise NotOtlp(f"line {number} is not JSON: {error}; each line must be one OTLP request") from error
    for value in values:
        if isinstance(value, dict):
            yield value


def _walk(request: Json, groups: str, scopes: str, items: str) -> Iterator[tuple[Attributes, Json, Json]]:
    for group in _dicts(request.get(groups)):
        resource = _attributes(_dict(group.get("resource")).get("attributes"))
        for scope in _dicts(group.get(scopes)):
            for item in _dicts(scope.get(items)):
                yield resource, _dict(scope.get("scope")), item


def _span(item: Json, resource: Attributes, scope: Json, arrived: int) -> Span:
    status = _dict(item.get("status"))
    return Span(
        trace_id=_text(item, "traceId").lower(),
        span_id=_text(item, "spanId").lower(),
        parent_span_id=_text(item, "parentSpanId").lower(),
        name=_text(item, "name"),
        kind=_int(item.get("kind")),
        start=_int(item.get("startTimeUnixNano")),
        end=_int(item.get("endTimeUnixNano")),
        attributes=_attributes(item.get("attributes")),
        resource=resource,
        scope_name=_text(scope, "name"),
        scope_version=_text(scope, "version"),
        scope_attributes=_attributes(scope.get("attributes")),
        trace_state=_text(item, "traceState"),
        flags=_int(item.get("flags")),
        status_code=_int(status.get("code")),
        status_message=_text(status, "message"),
        version=arrived,
        first_arrival=arrived,
        _events=[
            Event(_int(event.get("timeUnixNano")), _text(event, "name"), _attributes(event.get("attributes")))
            for event in _dicts(item.get("events"))
        ],
        _links=[
            Link(
                _text(link, "traceId").lower(),
                _text(link, "spanId").lower(),
                _text(link, "traceState"),
                _attributes(link.get("attributes")),
                _int(link.get("flags")),
            )
            for link in _dicts(item.get("links"))
        ],
    )


def _record(item: Json, resource: Attributes, scope: Json, arrived: int) -> LogRecord:
    attributes = _attributes(item.get("attributes"))
    named = attributes.get("event.name")
    return LogRecord(
        trace_id=_text(item, "traceId").lower(),
        span_id=_text(item, "spanId").lower(),
        time=_int(item.get("timeUnixNano")),
        observed_time=_int(item.get("observedTimeUnixNano")),
        severity_number=_int(item.get("severityNumber")),
        severity_text=_text(item, "severityText"),
        event_name=_text(item, "eventName") or (named if isinstance(named, str) else ""),
        attributes=attributes,
        resource=resource,
        scope_name=_text(scope, "name"),
        scope_version=_text(scope, "version"),
        scope_attributes=_attributes(scope.get("attributes")),
        flags=_int(item.get("flags")),
        version=arrived,
        raw_body=encode_value(_value(item.get("body"))),
    )


def _attributes(pairs: object) -> Attributes:
    return Attributes.of({_text(pair, "key"): _value(pair.get("value")) for pair in _dicts(pairs)})


def _value(told: object) -> object:
    """The value of a JSON AnyValue; 64-bit integers come as text or number."""
    if not isinstance(told, dict):
        return None
    for key, item in told.items():
        if key == "intValue":
            return _int(item)
        if key == "doubleValue":
            return float(item) if isinstance(item, int | float | str) else None
        if key == "arrayValue":
            return [_value(inner) for inner in _items(_dict(item).get("values"))]
        if key == "kvlistValue":
            return {_text(pair, "key"): _value(pair.get("value")) for pair in _dicts(_dict(item).get("values"))}
        if key == "bytesValue":
            return base64.b64decode(item) if isinstance(item, str) else None
        if key in ("stringValue", "boolValue"):
            return item
    return None


def _int(value: object) -> int:
    try:
        return int(value) if isinstance(value, int | str) else 0
    except ValueError:
        return 0


def _text(holder: Json, key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def _dict(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _items(value: object) -> Iterable[object]:
    return value if isinstance(value, list) else ()


def _dicts(value: object) -> Iterator[Json]:
    return (item for item in _items(value) if isinstance(item, dict))
