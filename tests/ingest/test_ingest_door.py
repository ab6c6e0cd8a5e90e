"""The door refuses what cannot be written, mends what can be mended, and lets neighbours pass."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from support.otlp import event, log_record, logs, new_span_id, new_trace_id, span, traces

from whileai_dialects import Span
from whileai_ingest import Undecodable
from whileai_ingest.door import Checked, check_logs, check_spans
from whileai_ingest.frames import split, stream
from whileai_ingest.otlp_json import to_json, to_protobuf
from whileai_ingest.points import count_points
from whileai_ingest.protowire import bytes_field
from whileai_ingest.refusals import Reason, rows

TRACE = new_trace_id()


def spans_of(checked: Checked, version: int = 1_000) -> list[Span]:
    return [Span.from_frame(frame) for frame in split(stream(checked.items, version))]


def from_json(document: object) -> Checked:
    body, refusals = to_protobuf(ExportTraceServiceRequest.DESCRIPTOR, json.dumps(document).encode())
    checked = check_spans("acc", body)
    checked.refusals = [*refusals, *checked.refusals]
    return checked


def json_spans(*spans: Mapping[str, object]) -> dict[str, object]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def test_frames_carry_the_span_its_context_and_a_version_each() -> None:
    body = traces([span(TRACE, name="a"), span(TRACE, name="b")], {"service.name": "shop"}, scope="lib")
    first, second = spans_of(check_spans("acc", body))
    assert (first.name, second.name) == ("a", "b")
    assert first.resource["service.name"] == "shop"
    assert first.scope_name == "lib"
    assert (first.version, second.version) == (1_000, 1_001)


@pytest.mark.parametrize(
    ("trace_id", "span_id", "reason"),
    [
        (b"", b"\1" * 8, Reason.TRACE_ID),
        (b"\0" * 16, b"\1" * 8, Reason.TRACE_ID),
        (b"\1" * 15, b"\1" * 8, Reason.TRACE_ID),
        (b"\1" * 16, b"", Reason.SPAN_ID),
        (b"\1" * 16, b"\0" * 8, Reason.SPAN_ID),
        (b"\1" * 16, b"\1" * 7, Reason.SPAN_ID),
    ],
)
def test_a_span_without_proper_ids_is_refused_and_its_neighbours_are_not(
    trace_id: bytes, span_id: bytes, reason: Reason
) -> None:
    bad = span(TRACE)
    bad.trace_id, bad.span_id = trace_id, span_id
    checked = check_spans("acc", traces([span(TRACE), bad, span(TRACE)]))
    assert len(checked.items) == 2
    assert [refusal.reason for refusal in checked.refusals] == [reason]


def test_a_time_beyond_int64_is_refused() -> None:
    late = span(TRACE)
    late.end_time_unix_nano = 2**63
    checked = check_spans("acc", traces([late, span(TRACE)]))
    assert [refusal.reason for refusal in checked.refusals] == [Reason.TIME]
    assert len(checked.items) == 1


def test_times_that_make_no_sense_are_stored_as_sent() -> None:
    zero, backwards = span(TRACE, start=0), span(TRACE, start=5_000_000)
    zero.end_time_unix_nano = 0
    backwards.end_time_unix_nano = 1
    stored = spans_of(check_spans("acc", traces([zero, backwards])))
    assert [(one.start, one.end) for one in stored] == [(0, 0), (5_000_000, 1)]


def test_invalid_utf8_is_mended_and_nothing_else_changes() -> None:
    body = traces([span(TRACE, name="caf#", attributes={"ke#": "va#", "good": 7}), span(TRACE, name="fine")])
    checked = check_spans("acc", body.replace(b"#", b"\xff"))
    mended, fine = spans_of(checked)
    assert mended.name == "caf�"
    assert dict(mended.attributes) == {"ke�": "va�", "good": 7}
    assert fine.name == "fine"
    assert not checked.refusals


def test_a_malformed_span_costs_only_itself() -> None:
    good = span(TRACE).SerializeToString()
    broken = b"\x0a\x7f short"  # a length that runs past the end
    scope = b"".join(bytes_field(2, raw) for raw in (good, broken, good))
    body = bytes_field(1, bytes_field(2, scope))
    checked = check_spans("acc", body)
    assert len(checked.items) == 2
    assert [refusal.reason for refusal in checked.refusals] == [Reason.MALFORMED]


def test_a_span_nested_beyond_protobufs_limit_is_refused_alone() -> None:
    value = bytes_field(1, b"deep")
    for _ in range(120):
        value = bytes_field(5, bytes_field(1, value))
    attribute = bytes_field(9, bytes_field(1, b"k") + bytes_field(2, value))
    deep = span(TRACE).SerializeToString() + attribute
    scope = bytes_field(2, deep) + bytes_field(2, span(TRACE).SerializeToString())
    checked = check_spans("acc", bytes_field(1, bytes_field(2, scope)))
    assert len(checked.items) == 1
    assert len(checked.refusals) == 1


@pytest.mark.parametrize("body", [b"\xff\xff\xff", b"not protobuf at all", b"\x0a\x05abc"])
def test_a_body_that_is_no_request_is_undecodable(body: bytes) -> None:
    with pytest.raises(Undecodable):
        check_spans("acc", body)
    with pytest.raises(Undecodable):
        check_logs("acc", body)
    with pytest.raises(Undecodable):
        count_points(body)


def test_an_empty_request_is_a_success_with_nothing_in_it() -> None:
    assert check_spans("acc", b"").items == []


def test_fields_that_a_sender_puts_where_ours_are_do_not_come_in() -> None:
    forged = span(TRACE).SerializeToString() + bytes_field(1004, b"another account") + bytes_field(1007, b"e" * 32)
    checked = check_spans("acc", bytes_field(1, bytes_field(2, bytes_field(2, forged))))
    frame = next(split(stream(checked.items, 5)))
    assert Span.from_frame(frame).version == 5
    assert b"another account" not in frame
    assert frame.count(b"e" * 32) == 0


def test_a_log_record_is_its_content() -> None:
    record = log_record(TRACE, new_span_id(), "gen_ai.choice", {"index": 0})
    once, again = check_logs("acc", logs([record, record])).items
    assert once.ids == again.ids
    other = log_record(TRACE, new_span_id(), "gen_ai.choice", {"index": 1})
    assert check_logs("acc", logs([other])).items[0].ids != once.ids


def test_json_says_the_same_as_protobuf() -> None:
    attributes: dict[str, object] = {
        "text": "ü\0\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
        "int": -(2**63),
        "big": 2**63 - 1,
        "double": 0.1 + 0.2,
        "bool": False,
        "bytes": b"\0\xff",
        "nothing": None,
        "list": [1, "two", [3.5, {"four": b"4"}]],
        "map": {"a": {"b": [True]}},
    }
    sent = span(TRACE, parent=new_span_id(), attributes=attributes, events=[event("e", attributes, 7)], error="boom")
    body = traces([sent])
    document = to_json(ExportTraceServiceRequest.FromString(body))
    back, refusals = to_protobuf(ExportTraceServiceRequest.DESCRIPTOR, json.dumps(document).encode())
    assert not refusals
    assert ExportTraceServiceRequest.FromString(back) == ExportTraceServiceRequest.FromString(body)


def test_json_ids_are_hex_in_any_case_and_base64_is_refused() -> None:
    upper = {"traceId": TRACE.upper(), "spanId": "ABCDEF0123456789", "name": "upper"}
    base64 = {"traceId": "AAAAAAAAAAAAAAAAAAAAAQ==", "spanId": "ABCDEF0123456789"}
    short = {"traceId": TRACE, "spanId": "abcd"}
    zero = {"traceId": "0" * 32, "spanId": "ABCDEF0123456789"}
    checked = from_json(json_spans(upper, base64, short, zero))
    (only,) = spans_of(checked)
    assert (only.trace_id, only.span_id) == (TRACE, "abcdef0123456789")
    assert sorted(refusal.reason for refusal in checked.refusals) == ["span_id", "trace_id", "trace_id"]


def test_json_takes_integers_as_strings_and_as_numbers_without_losing_digits() -> None:
    attributes = [
        {"key": "s", "value": {"intValue": "9223372036854775807"}},
        {"key": "n", "value": {"intValue": 9223372036854775807}},
        {"key": "d", "value": {"doubleValue": "NaN"}},
        {"key": "w", "value": {"intValue": "not a number"}},
        {"key": "valueless"},
    ]
    document = json_spans(
        {
            "traceId": TRACE,
            "spanId": "ab" * 8,
            "startTimeUnixNano": "1700000000000000001",
            "endTimeUnixNano": 1700000000000000002,
            "attributes": attributes,
            "someFieldOfTomorrow": {"x": 1},
        }
    )
    (only,) = spans_of(from_json(document))
    assert (only.start, only.end) == (1700000000000000001, 1700000000000000002)
    assert only.attributes["s"] == only.attributes["n"] == 2**63 - 1
    assert str(only.attributes["d"]) == "nan"
    assert only.attributes["w"] == '{"intValue": "not a number"}'
    assert only.attributes["valueless"] is None


@pytest.mark.parametrize("number", ["+-5", "--3", "\u00b2", "\u0663", "", "0x10", "1_0"])
def test_text_that_only_looks_like_an_integer_costs_its_span_alone(number: str) -> None:
    bad = {"traceId": "ab" * 16, "spanId": "01" * 8, "startTimeUnixNano": number}
    good = {"traceId": "ab" * 16, "spanId": "02" * 8, "startTimeUnixNano": " +5 "}
    checked = from_json(json_spans(bad, good))
    assert [item.start for item in spans_of(checked)] == [5]
    assert [refusal.reason for refusal in checked.refusals] == [Reason.TIME]


def test_json_nested_beyond_reading_costs_its_span_alone() -> None:
    value: dict[str, object] = {"stringValue": "deep"}
    for _ in range(240):
        value = {"arrayValue": {"values": [value]}}
    deep = {"traceId": "ab" * 16, "spanId": "01" * 8, "attributes": [{"key": "k", "value": value}]}
    checked = from_json(json_spans(deep, {"traceId": "ab" * 16, "spanId": "02" * 8}))
    assert len(checked.items) == 1
    assert [refusal.reason for refusal in checked.refusals] == [Reason.MALFORMED]


def test_a_lone_surrogate_in_json_becomes_the_replacement_character() -> None:
    body = json.dumps(json_spans({"traceId": TRACE, "spanId": "ab" * 8, "name": "x"})).replace('"x"', '"\\ud83d!"')
    wire, refusals = to_protobuf(ExportTraceServiceRequest.DESCRIPTOR, body.encode())
    assert not refusals
    assert spans_of(check_spans("acc", wire))[0].name == "�!"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"5", b'{"resourceSpans": 5}', b'{"resourceSpans": [7]}', b"[" * 5000]
)
def test_json_that_is_no_request_is_undecodable(body: bytes) -> None:
    with pytest.raises(Undecodable):
        to_protobuf(ExportTraceServiceRequest.DESCRIPTOR, body)


def test_refusals_are_grouped_by_reason_and_agent_with_a_sample() -> None:
    bad = span(TRACE, attributes={"gen_ai.agent.name": "bot"})
    bad.span_id = b""
    grouped = rows("traces", check_spans("acc", traces([bad, bad, span(TRACE)])).refusals)
    assert [(row.reason, row.agent, row.count) for row in grouped] == [("span_id", "bot", 2)]
    assert "8 bytes" in grouped[0].detail
