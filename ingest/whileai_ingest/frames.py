"""Frames: OTLP items with what the service knows about them appended, in the form that ClickHouse reads.

A frame is the span (or log record) as the client sent it plus a tail of fields from 1001 on: version, resource, scope,
account, ids in hex. The journal keeps streams of frames, and the same bytes are the body of the INSERT, so between
the door and the engine nothing is decoded in Python.
"""

from __future__ import annotations

from binascii import hexlify
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whileai_ingest.protowire import BYTES, bytes_field, delimited, tag, varint, varint_field

_VERSION = tag(1001, 1)

# A column cannot tell an empty message from an absent one. An empty resource or scope that was sent is kept as one
# explicit default field (dropped_attributes_count): the same message to every reader, and there when spans are given
# back. A span cannot hold its status twice (ClickHouse drops both), so an empty one is noted in a field of ours.
EMPTY_RESOURCE = b"\x10\x00"
EMPTY_SCOPE = b"\x20\x00"
EMPTY_STATUS = varint_field(1011, 1)

# Field names are column names. Fields of the item that have no column under their own number (ids, which get a hex
# form) are left out and skipped by the reader. AnyValue stays raw: its type travels with it.
SPAN_SCHEMA = """syntax = "proto3";
message Frame {
  string trace_state = 3;
  bytes name = 5;
  int32 kind = 6;
  sfixed64 start_time_unix_nano = 7;
  sfixed64 end_time_unix_nano = 8;
  map<string, bytes> attributes = 9;
  uint32 dropped_attributes_count = 10;
  repeated bytes events = 11;
  uint32 dropped_events_count = 12;
  repeated bytes links = 13;
  uint32 dropped_links_count = 14;
  bytes status = 15;
  fixed32 flags = 16;
  fixed64 version = 1001;
  bytes resource = 1002;
  bytes scope = 1003;
  string account = 1004;
  string resource_schema_url = 1005;
  string scope_schema_url = 1006;
  string trace_id = 1007;
  string span_id = 1008;
  string parent_span_id = 1009;
  bool empty_status = 1011;
}
"""

LOG_SCHEMA = """syntax = "proto3";
message Frame {
  sfixed64 time_unix_nano = 1;
  int32 severity_number = 2;
  string severity_text = 3;
  bytes body = 5;
  map<string, bytes> attributes = 6;
  uint32 dropped_attributes_count = 7;
  fixed32 flags = 8;
  sfixed64 observed_time_unix_nano = 11;
  string event_name = 12;
  fixed64 version = 1001;
  bytes resource = 1002;
  bytes scope = 1003;
  string account = 1004;
  string resource_schema_url = 1005;
  string scope_schema_url = 1006;
  string trace_id = 1007;
  string span_id = 1008;
  string log_id = 1010;
}
"""


@dataclass(frozen=True, slots=True)
class Context:
    """What the items of one resource and scope share, already encoded."""

    tail: bytes

    @classmethod
    def of(
        cls, account: str, resource: bytes, scope: bytes, resource_schema_url: bytes, scope_schema_url: bytes
    ) -> Context:
        return cls(
            bytes_field(1002, resource)
            + bytes_field(1003, scope)
            + bytes_field(1004, account.encode())
            + (bytes_field(1005, resource_schema_url) if resource_schema_url else b"")
            + (bytes_field(1006, scope_schema_url) if scope_schema_url else b"")
        )


@dataclass(frozen=True, slots=True)
class Item:
    """One accepted item: its bytes as sent, the ids in hex, and its context."""

    raw: bytes
    ids: bytes
    context: Context

    @property
    def size(self) -> int:
        return len(self.raw) + len(self.ids) + len(self.context.tail) + 16


# The heads of the id fields of a span, whose lengths the door has checked: made once, because every span has them.
_TRACE_HEAD, _SPAN_HEAD, _PARENT_HEAD = (
    tag(number, BYTES) + varint(length) for number, length in ((1007, 32), (1008, 16), (1009, 16))
)
_NO_PARENT = (b"", b"\0" * 8)


def span_ids(trace_id: bytes, span_id: bytes, parent_span_id: bytes) -> bytes:
    """The ids in hex; 16 and 8 bytes, the parent 8 or none."""
    ids = _TRACE_HEAD + hexlify(trace_id) + _SPAN_HEAD + hexlify(span_id)
    return ids if parent_span_id in _NO_PARENT else ids + _PARENT_HEAD + hexlify(parent_span_id)


def log_ids(trace_id: bytes, span_id: bytes, log_id: str) -> bytes:
    return (
        bytes_field(1007, trace_id.hex().encode())
        + bytes_field(1008, span_id.hex().encode())
        + bytes_field(1010, log_id.encode())
    )


def stream(items: Sequence[Item], version: int) -> bytes:
    """The items as length-delimited frames; the n-th gets `version + n`."""
    parts: list[bytes] = []
    for number, item in enumerate(items, version):
        tail = item.context.tail
        parts += (
            varint(len(item.raw) + len(item.ids) + len(tail) + len(_VERSION) + 8),
            item.raw,
            item.ids,
            tail,
            _VERSION,
            number.to_bytes(8, "little"),
        )
    return b"".join(parts)


def split(payload: bytes) -> Iterator[bytes]:
    """The frames of a stream, one by one."""
    at, end = 0, len(payload)
    while at < end:
        length = shift = 0
        while True:
            byte = payload[at]
            at += 1
            length |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        yield payload[at : at + length]
        at += length


def join(frames: Sequence[bytes]) -> bytes:
    """The inverse of `split`."""
    return b"".join(map(delimited, frames))
