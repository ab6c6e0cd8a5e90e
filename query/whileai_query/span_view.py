"""Spans and log records as JSON objects, for a person who looks at one trace. Values keep their types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from whileai_dialects import LogRecord, Span, json_form

# https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
_KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
_STATUSES = ("unset", "ok", "error")


def span_views(spans: Iterable[Span], logs: Iterable[LogRecord]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The spans by start time, each with its log records; and the log records that name no span we have."""
    by_span: dict[str, list[dict[str, Any]]] = {}
    for record in sorted(logs, key=lambda record: (record.time or record.observed_time, record.version)):
        by_span.setdefault(record.span_id, []).append(_log(record))
    ordered = sorted(spans, key=lambda span: (span.start or span.end or span.first_arrival, span.first_arrival))
    views = [_span(span, by_span.pop(span.span_id, [])) for span in ordered]
    return views, [log for left in by_span.values() for log in left]


def _span(span: Span, logs: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "spanId": span.span_id,
        "parentSpanId": span.parent_span_id or None,
        "name": span.name,
        "kind": _name(_KINDS, span.kind),
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "status": _name(_STATUSES, span.status_code),
        "statusMessage": span.status_message or None,
        "attributes": _typed(span.attributes),
        "events": [
            {"name": event.name, "timeUnixNano": str(event.time), "attributes": _typed(event.attributes)}
            for event in span.events
        ],
        "links": [
            {
                "traceId": link.trace_id,
                "spanId": link.span_id,
                "traceState": link.trace_state or None,
                "attributes": _typed(link.attributes),
            }
            for link in span.links
        ],
        "resource": _typed(span.resource),
        "scope": {
            "name": span.scope_name,
            "version": span.scope_version or None,
            "attributes": _typed(span.scope_attributes),
        },
        "traceState": span.trace_state or None,
        "flags": span.flags,
        "logs": logs,
    }


def _log(record: LogRecord) -> dict[str, Any]:
    return {
        "eventName": record.event_name or None,
        "spanId": record.span_id or None,
        "timeUnixNano": str(record.time or record.observed_time),
        "severityNumber": record.severity_number,
        "severityText": record.severity_text or None,
        "body": json_form(record.body),
        "attributes": _typed(record.attributes),
    }


def _typed(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {key: json_form(value) for key, value in attributes.items()}


def _name(names: tuple[str, ...], number: int) -> str | int:
    """A number that a later protocol version added is shown as it is."""
    return names[number] if 0 <= number < len(names) else number
