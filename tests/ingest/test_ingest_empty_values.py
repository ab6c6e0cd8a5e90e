"""A value that was sent empty is stored as one that says nothing; a key without a value stays as it came."""

from __future__ import annotations

from opentelemetry.proto.trace.v1.trace_pb2 import Span
from support.otlp import new_trace_id, span, traces

from whileai_dialects.value import EMPTY_VALUE, decode_value
from whileai_ingest.door import check_spans
from whileai_ingest.protowire import varint_field
from whileai_ingest.repair import canonical


def stored(sent: Span) -> bytes:
    (item,) = check_spans("acc", traces([sent])).items
    return item.raw


def test_only_an_empty_value_is_noted() -> None:
    sent = span(new_trace_id(), attributes={"empty": None, "text": "", "zero": 0, "list": [], "map": {}})
    sent.attributes.add(key="no value")
    values = {pair.key: pair.value.SerializeToString() for pair in Span.FromString(stored(sent)).attributes}
    assert [key for key, raw in values.items() if raw == EMPTY_VALUE] == ["empty"]
    assert values["no value"] == b""
    assert decode_value(EMPTY_VALUE) is None


def test_the_two_bytes_elsewhere_change_nothing() -> None:
    sent = span(new_trace_id(), name="\x12\x00", attributes={"text": "\x12\x00"})
    assert stored(sent) == sent.SerializeToString()


def test_the_plainest_form_of_a_frame_keeps_the_note() -> None:
    sent = span(new_trace_id(), attributes={"empty": None})
    sent.attributes.add(key="no value")
    frame = stored(sent) + varint_field(10, 2**40) + varint_field(1011, 1)
    plain = canonical(Span, frame)
    assert plain is not None
    assert [pair.value.SerializeToString() for pair in Span.FromString(plain).attributes] == [EMPTY_VALUE, b""]
    assert plain.endswith(varint_field(1011, 1))
