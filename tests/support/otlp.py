"""OTLP requests for tests, built with the official schema."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

SECOND = 1_000_000_000


def new_trace_id() -> str:
    return uuid.uuid4().hex


def new_span_id() -> str:
    return uuid.uuid4().hex[:16]


def any_value(value: object) -> AnyValue:
    match value:
        case None:
            return AnyValue()
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=value)
        case bytes():
            return AnyValue(bytes_value=value)
        case list() | tuple():
            return AnyValue(array_value=ArrayValue(values=[any_value(member) for member in value]))
        case dict():
            return AnyValue(kvlist_value=KeyValueList(values=key_values(value)))
    raise TypeError(type(value))


def key_values(attributes: Mapping[str, object]) -> list[KeyValue]:
    return [KeyValue(key=key, value=any_value(value)) for key, value in attributes.items()]


def span(
    trace_id: str,
    span_id: str | None = None,
    parent: str | None = None,
    name: str = "span",
    *,
    start: int | None = None,
    milliseconds: float = 10,
    attributes: Mapping[str, object] | None = None,
    events: Sequence[Any] = (),
    error: str | None = None,
    kind: int = 1,
) -> Span:
    started = time.time_ns() if start is None else start
    made = Span(
        trace_id=bytes.fromhex(trace_id),
        span_id=bytes.fromhex(span_id or new_span_id()),
        parent_span_id=bytes.fromhex(parent or ""),
        name=name,
        kind=kind,  # type: ignore[arg-type]  # the enum's wrapper takes plain ints
        start_time_unix_nano=started,
        end_time_unix_nano=started + int(milliseconds * 1e6),
        attributes=key_values(attributes or {}),
        events=events,
    )
    if error is not None:
        made.status.code = Status.STATUS_CODE_ERROR
        made.status.message = error
    return made


def event(name: str, attributes: Mapping[str, object], time_unix_nano: int = 0) -> Span.Event:
    return Span.Event(name=name, time_unix_nano=time_unix_nano, attributes=key_values(attributes))


def traces(spans: Sequence[Span], resource: Mapping[str, object] | None = None, scope: str = "tests") -> bytes:
    request = ExportTraceServiceRequest()
    of_resource = request.resource_spans.add()
    of_resource.resource.attributes.extend(key_values(resource or {"service.name": "tests"}))
    of_scope = of_resource.scope_spans.add()
    of_scope.scope.name = scope
    of_scope.spans.extend(spans)
    return request.SerializeToString()


def logs(records: Sequence[LogRecord], resource: Mapping[str, object] | None = None) -> bytes:
    request = ExportLogsServiceRequest()
    of_resource = request.resource_logs.add()
    of_resource.resource.attributes.extend(key_values(resource or {"service.name": "tests"}))
    of_resource.scope_logs.add().log_records.extend(records)
    return request.SerializeToString()


def log_record(
    trace_id: str, span_id: str, event_name: str, body: object = None, attributes: Mapping[str, object] | None = None
) -> LogRecord:
    return LogRecord(
        trace_id=bytes.fromhex(trace_id),
        span_id=bytes.fromhex(span_id),
        event_name=event_name,
        time_unix_nano=time.time_ns(),
        body=any_value(body) if body is not None else None,
        attributes=key_values(attributes or {}),
    )


def chat_run(
    trace_id: str,
    *,
    agent: str = "refund-bot",
    scenario: str | None = None,
    prompt: str = "Please refund order A-1001",
    answer: str = "Done.",
    model: str = "gpt-4o-mini",
    start: int | None = None,
    reward: float | None = None,
    extra: Mapping[str, object] | None = None,
) -> list[Span]:
    """A root `invoke_agent` span with one `chat` span below it, in the latest gen_ai form."""
    import json

    begun = time.time_ns() if start is None else start
    root, chat = new_span_id(), new_span_id()
    on_root: dict[str, object] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent, **(extra or {})}
    if scenario is not None:
        on_root["zeroproof.scenario_id"] = scenario
    if reward is not None:
        on_root["whileai.reward"] = reward
    on_chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": model,
        "gen_ai.usage.input_tokens": 20,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": prompt}]}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]),
    }
    return [
        span(trace_id, chat, root, f"chat {model}", start=begun + 1000, attributes=on_chat),
        span(trace_id, root, None, f"invoke_agent {agent}", start=begun, milliseconds=20, attributes=on_root),
    ]
