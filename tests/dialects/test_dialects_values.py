"""Values, attributes and frames keep what they were given, and nothing on the wire makes them fail."""

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from whileai_dialects import Attributes, LogRecord, Span, decode_value, encode_value, json_form, latest
from whileai_dialects.wire import LogWire, Request, ResourceWire, ScopeWire, SpanWire

# Slow machines are no failures.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

text = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | text
    | st.binary(min_size=0),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)


@unhurried
@given(values)
def test_every_kind_of_value_comes_back_as_it_was(value: Any) -> None:
    assert same(decode_value(encode_value(value)), value)


def same(one: Any, other: Any) -> bool:
    """Equal in value and in kind: true is not 1, and 1 is not 1.0."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


@unhurried
@given(values)
def test_values_come_back_from_the_bytes_that_the_official_messages_write(value: Any) -> None:
    assert same(decode_value(AnyValue.FromString(encode_value(value)).SerializeToString()), value)


@unhurried
@given(st.binary(max_size=40))
def test_no_bytes_make_the_decoder_fail(raw: bytes) -> None:
    decode_value(raw)


def test_what_is_no_value_is_kept_verbatim() -> None:
    assert decode_value(b"\xff\xff") == b"\xff\xff"
    assert decode_value(b"\x0a\x05ab") == b"\x0a\x05ab"  # a string that is cut off


def test_text_that_is_not_utf8_is_shown_and_does_not_fail() -> None:
    assert decode_value(b"\x0a\x03a\xffb") == "a�b"
    assert decode_value(encode_value("lone \ud83d surrogate")) == "lone � surrogate"
    assert decode_value(encode_value("pair \ud83d\ude00")) == "pair 😀"


def test_a_value_nested_a_hundred_deep_does_not_fail() -> None:
    value: Any = "core"
    for _ in range(200):
        value = [value]
    raw = encode_value(value)
    assert decode_value(raw) == raw or decode_value(raw) == value


def test_attributes_are_decoded_once_and_keep_their_raw_bytes() -> None:
    attributes = Attributes.of({"n": 1, "t": "text", "none": None})
    assert dict(attributes) == {"n": 1, "t": "text", "none": None}
    assert attributes.raw["n"] == encode_value(1)
    assert attributes["t"] is attributes["t"]
    assert "missing" not in attributes


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (b"\x00\xff", {"$bytes": "AP8="}),
        (2**53, 2**53),
        (2**53 + 1, {"$int": "9007199254740993"}),
        (-(2**63), {"$int": "-9223372036854775808"}),
        (math.inf, {"$double": "Infinity"}),
        (-math.inf, {"$double": "-Infinity"}),
        ([None, True, 1.5, "x"], [None, True, 1.5, "x"]),
        ({"k": [b""]}, {"k": [{"$bytes": ""}]}),
    ],
)
def test_json_keeps_what_json_cannot_tell(value: Any, form: object) -> None:
    assert json_form(value) == form


def test_json_tells_nan() -> None:
    assert json_form(math.nan) == {"$double": "NaN"}


def otlp_span() -> OtlpSpan:
    span = OtlpSpan(
        trace_id=bytes.fromhex("0af7651916cd43dd8448eb211c80319c"),
        span_id=bytes.fromhex("b7ad6b7169203331"),
        parent_span_id=bytes.fromhex("00f067aa0ba902b7"),
        trace_state="k=v",
        name="chat",
        kind=OtlpSpan.SPAN_KIND_CLIENT,
        start_time_unix_nano=10,
        end_time_unix_nano=20,
        flags=257,
    )
    span.attributes.append(KeyValue(key="a", value=AnyValue(string_value="x")))
    span.attributes.append(KeyValue(key="empty"))
    span.status.code = Status.STATUS_CODE_ERROR
    span.status.message = "broke"
    event = span.events.add(time_unix_nano=15, name="exception")
    event.attributes.append(KeyValue(key="exception.message", value=AnyValue(string_value="broke")))
    link = span.links.add(trace_id=b"\x01" * 16, span_id=b"\x02" * 8, trace_state="l", flags=1)
    link.attributes.append(KeyValue(key="why", value=AnyValue(bool_value=True)))
    return span


def framed(span: OtlpSpan, version: int = 7) -> bytes:
    resource = ResourceWire(attributes={"service.name": encode_value("shop")})
    scope = ScopeWire(name="lib", version="1", attributes={"s": encode_value(1)})
    tail = SpanWire(version=version, resource=resource.SerializeToString(), scope=scope.SerializeToString())
    return span.SerializeToString() + bytes(tail.SerializeToString())


def test_a_frame_is_the_otlp_span_with_our_fields_behind_it() -> None:
    span = Span.from_frame(framed(otlp_span()))
    assert (span.trace_id, span.span_id, span.parent_span_id) == (
        "0af7651916cd43dd8448eb211c80319c",
        "b7ad6b7169203331",
        "00f067aa0ba902b7",
    )
    assert (span.name, span.kind, span.start, span.end, span.flags, span.trace_state) == ("chat", 3, 10, 20, 257, "k=v")
    assert dict(span.attributes) == {"a": "x", "empty": None}
    assert (span.status_code, span.status_message) == (2, "broke")
    assert (span.events[0].name, dict(span.events[0].attributes)) == ("exception", {"exception.message": "broke"})
    assert (span.links[0].span_id, dict(span.links[0].attributes)) == ("02" * 8, {"why": True})
    assert (span.resource["service.name"], span.scope_name, span.scope_attributes["s"]) == ("shop", "lib", 1)
    assert (span.version, span.first_arrival) == (7, 7)


def test_columns_tell_the_same_span_as_the_frame() -> None:
    frame = framed(otlp_span())
    wire = SpanWire.FromString(frame)
    row = Span.from_columns(
        trace_id=wire.trace_id,
        span_id=wire.span_id,
        parent_span_id=wire.parent_span_id,
        name=wire.name,
        kind=wire.kind,
        start=wire.start_time_unix_nano,
        end=wire.end_time_unix_nano,
        attribute_keys=list(wire.attributes),
        attribute_values=[wire.attributes[key] for key in wire.attributes],
        events=list(wire.events),
        links=list(wire.links),
        status=wire.status,
        resource=wire.resource,
        scope=wire.scope,
        trace_state=wire.trace_state,
        flags=wire.flags,
        version=wire.version,
    )
    told = Span.from_frame(frame)
    assert (row.events, row.links, row.resource) == (told.events, told.links, told.resource)
    assert repr(row).split("raw_events")[0] == repr(told).split("raw_events")[0]


def test_a_fixed_width_parent_of_zeros_is_no_parent() -> None:
    assert Span.from_columns(trace_id=b"\x01" * 16, span_id=b"\x01" * 8, parent_span_id=b"\0" * 8).parent_span_id == ""


def test_bad_text_on_the_wire_never_makes_a_frame_fail() -> None:
    span = Span.from_frame(b"\x2a\x02\xff\xfe" + b"\x4a\x08\x0a\x02\xff\xfe\x12\x02\x0a\x00")
    assert span.name == "��"
    assert dict(span.attributes) == {"��": ""}
    assert LogRecord.from_frame(b"\x1a\x01\xff").severity_text == "�"


def test_broken_events_resource_and_status_cost_only_themselves() -> None:
    wire = SpanWire(name="s", resource=b"\xff", scope=b"\xff", status=b"\xff", events=[b"\xff", b""], links=[b"\xff"])
    span = Span.from_frame(wire.SerializeToString())
    assert (span.name, dict(span.resource), span.scope_name, span.status_code) == ("s", {}, "", 0)
    assert (len(span.events), span.links) == (1, [])


def test_the_lite_request_splits_into_the_spans_that_were_sent() -> None:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    scope.spans.append(otlp_span())
    lite = Request.FromString(request.SerializeToString())
    assert lite.resource_spans[0].scope_spans[0].spans == [otlp_span().SerializeToString()]
    assert lite.SerializeToString() == request.SerializeToString()


def test_a_log_record_takes_its_name_from_the_attribute_of_older_sdks() -> None:
    wire = LogWire(attributes={"event.name": encode_value("gen_ai.choice")}, body=encode_value({"index": 0}))
    log = LogRecord.from_frame(wire.SerializeToString())
    assert (log.event_name, log.body) == ("gen_ai.choice", {"index": 0})


def test_of_several_copies_the_last_to_arrive_wins_and_the_first_arrival_stays() -> None:
    copies = [Span("t", "s", name=name, version=at, first_arrival=at) for name, at in [("b", 2), ("c", 3), ("a", 1)]]
    assert [(span.name, span.first_arrival) for span in latest(copies)] == [("c", 1)]
    assert [(span.name, span.first_arrival) for span in latest(copies[::-1])] == [("c", 1)]
