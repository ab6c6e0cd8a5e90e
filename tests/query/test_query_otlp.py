"""Spans come back as OTLP, equal to what went in."""

from __future__ import annotations

import json

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from support import otlp
from support.api import Caller

from whileai_ingest.otlp_json import to_protobuf

HOSTILE: dict[str, object] = {
    "z last first": "order is kept",
    "text": "a\0b ☃ \U0001f600",
    "empty text": "",
    "nothing": None,
    "true": True,
    "false": False,
    "zero": 0,
    "least": -(2**63),
    "most": 2**63 - 1,
    "double": 0.1 + 0.2,
    "tiny": 1e-300,
    "infinite": float("-inf"),
    "bytes": b"\xff\xfe\0",
    "list": [1, "two", [3.0, {"four": [None, b"5"]}]],
    "empty list": [],
    "map": {"a": {"b": {"c": [True]}}, "": 1},
    "empty map": {},
}


def hostile_request(trace_id: str) -> ExportTraceServiceRequest:
    """Two resources, two scopes, and every field that a span has."""
    request = ExportTraceServiceRequest()
    first = request.resource_spans.add(schema_url="https://example.com/resource")
    first.resource.attributes.extend(otlp.key_values({"service.name": "shop", "pid": 7}))
    first.resource.dropped_attributes_count = 2
    scope = first.scope_spans.add(schema_url="https://example.com/scope")
    scope.scope.name, scope.scope.version = "lib", "1.2"
    scope.scope.attributes.extend(otlp.key_values({"deep": {"x": [1]}}))
    full = otlp.span(trace_id, parent=otlp.new_span_id(), name="full ☃", attributes=HOSTILE, error="broken\nhere")
    full.attributes.extend(otlp.key_values({"twice": 1}))
    full.attributes.extend(otlp.key_values({"twice": 2}))
    full.attributes.add(key="no value")
    full.attributes.add(key="")
    full.attributes.add().value.SetInParent()
    full.trace_state, full.flags, full.kind = "a=1,b=2", 0x101, Span.SPAN_KIND_CLIENT
    full.dropped_attributes_count, full.dropped_events_count, full.dropped_links_count = 3, 4, 5
    full.events.add(name="exception", time_unix_nano=99, dropped_attributes_count=1).attributes.extend(
        otlp.key_values(HOSTILE)
    )
    full.events.add()
    link = full.links.add(trace_id=b"\x01" * 16, span_id=b"\x02" * 8, trace_state="c=3", flags=1)
    link.attributes.extend(otlp.key_values({"why": ["because"]}))
    empty_status = otlp.span(trace_id, name="empty status")
    empty_status.status.SetInParent()
    scope.spans.extend([full, empty_status])
    bare = first.scope_spans.add()
    bare.scope.SetInParent()
    bare.spans.append(Span(trace_id=bytes.fromhex(trace_id), span_id=b"\x03" * 8))
    second = request.resource_spans.add()
    second.scope_spans.add().spans.append(otlp.span(trace_id, name="no resource, no scope"))
    return request


def exported(caller: Caller, trace_id: str) -> ExportTraceServiceRequest:
    answer = caller.request("GET", f"/traces/{trace_id}", params={"format": "otlp"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/x-protobuf"
    return ExportTraceServiceRequest.FromString(answer.content)


def test_every_kind_of_value_and_field_comes_back_equal(caller: Caller) -> None:
    trace_id = otlp.new_trace_id()
    request = hostile_request(trace_id)
    caller.send(request.SerializeToString())
    assert exported(caller, trace_id) == request


def test_values_of_megabytes_come_back_byte_for_byte(caller: Caller) -> None:
    trace_id = otlp.new_trace_id()
    request = ExportTraceServiceRequest()
    big = {"big": "☃" * 2_000_000, "raw": bytes(range(256)) * 8192}
    request.resource_spans.add().scope_spans.add().spans.append(otlp.span(trace_id, attributes=big))
    caller.send(request.SerializeToString())
    assert exported(caller, trace_id) == request


def test_a_span_that_came_again_is_there_once_as_it_came_last(caller: Caller) -> None:
    trace_id = otlp.new_trace_id()
    request = hostile_request(trace_id)
    caller.send(request.SerializeToString())
    request.resource_spans[0].scope_spans[0].spans[0].name = "replaced"
    caller.send(request.SerializeToString())
    assert exported(caller, trace_id) == request


def test_the_json_form_says_the_same(caller: Caller) -> None:
    trace_id = otlp.new_trace_id()
    request = ExportTraceServiceRequest.FromString(otlp.traces(otlp.chat_run(trace_id)))
    caller.send(request.SerializeToString())
    answer = caller.request(
        "GET", f"/traces/{trace_id}", params={"format": "otlp"}, headers={"accept": "application/json"}
    )
    assert answer.headers["content-type"] == "application/json"
    spans = answer.json()["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert [span["traceId"] for span in spans] == [trace_id, trace_id]
    assert [span["name"] for span in spans] == ["chat gpt-4o-mini", "invoke_agent refund-bot"]
    assert spans[0]["startTimeUnixNano"] == str(request.resource_spans[0].scope_spans[0].spans[0].start_time_unix_nano)


def test_a_key_without_a_value_and_an_empty_value_stay_apart_byte_for_byte(caller: Caller) -> None:
    trace_id = otlp.new_trace_id()
    request = ExportTraceServiceRequest()
    only = request.resource_spans.add().scope_spans.add().spans.add()
    only.CopyFrom(otlp.span(trace_id, attributes={"empty": None, "text": "", "deep": {"empty": None}}))
    only.attributes.add(key="no value")
    deep = only.attributes.add(key="list of keys").value.kvlist_value.values
    deep.add(key="no value")
    deep.add(key="empty").value.SetInParent()
    sent = request.SerializeToString()
    caller.send(sent)
    answer = caller.request("GET", f"/traces/{trace_id}", params={"format": "otlp"})
    assert ExportTraceServiceRequest.FromString(answer.content).SerializeToString() == sent
    in_json = caller.request(
        "GET", f"/traces/{trace_id}", params={"format": "otlp"}, headers={"accept": "application/json"}
    ).json()
    attributes = in_json["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"]
    told = {pair["key"]: pair.get("value") for pair in attributes}
    assert (told["empty"], told["text"], told["no value"]) == ({}, {"stringValue": ""}, None)
    back, refusals = to_protobuf(ExportTraceServiceRequest.DESCRIPTOR, json.dumps(in_json).encode())
    assert not refusals
    assert ExportTraceServiceRequest.FromString(back) == request
    (shown,) = caller.get(f"/traces/{trace_id}")["spans"]
    assert (shown["attributes"]["empty"], shown["attributes"]["no value"]) == (None, None)


def test_the_run_page_shows_typed_attributes(caller: Caller) -> None:
    trace_id = otlp.new_trace_id()
    caller.send(hostile_request(trace_id).SerializeToString())
    spans = caller.get(f"/traces/{trace_id}")["spans"]
    full = next(span for span in spans if span["name"] == "full ☃")
    shown = full["attributes"]
    assert json.dumps(shown["least"]) == '{"$int": "-9223372036854775808"}'
    assert shown["bytes"] == {"$bytes": "//4A"}
    assert shown["infinite"] == {"$double": "-Infinity"}
    assert (shown["nothing"], shown["zero"], shown["true"], shown["double"]) == (None, 0, True, 0.1 + 0.2)
    assert shown["list"] == [1, "two", [3.0, {"four": [None, {"$bytes": "NQ=="}]}]]
    assert (full["kind"], full["status"], full["statusMessage"]) == ("client", "error", "broken\nhere")
    assert full["resource"] == {"service.name": "shop", "pid": 7}
    assert full["scope"] == {"name": "lib", "version": "1.2", "attributes": {"deep": {"x": [1]}}}
    assert full["events"][0]["name"] == "exception"
    assert full["links"][0]["traceId"] == "01" * 16
