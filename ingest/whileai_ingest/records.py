"""The journal's record: how one accepted payload is laid out in a segment file, and how a segment is read again.

    magic   4  b"WJR1"      where to look for the next record when a length cannot be trusted
    length  4  u32          bytes after the checksum
    crc32c  4  u32          over those bytes
    kind    1  u8           `Kind`
    account 2+n             u16 length, UTF-8
    version 8  u64          arrival, nanoseconds; strictly increasing over the life of a data folder
    count   4  u32          items in the payload (versions version .. version + count - 1 are theirs)
    payload …

Reading never trusts a length before the checksum agreed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import google_crc32c

MAGIC = b"WJR1"
_HEAD = struct.Struct("<4sII")
_BODY = struct.Struct("<BH")
_TAIL = struct.Struct("<QI")
HEADER_BYTES = _HEAD.size
# Above every admissible request: a longer length is a damaged header, not a record.
MAX_RECORD_BYTES = 1 << 31


class Kind(IntEnum):
    """What a record holds. The numbers are on disk: never reuse one."""

    SPANS = 1  # length-delimited span frames
    LOGS = 2  # length-delimited log record frames
    SCORES = 3  # JSON lines
    DELETION = 4  # JSON lines: trace ids
    REJECTIONS = 5  # JSON lines


@dataclass(frozen=True, slots=True)
class Record:
    kind: Kind
    account: str
    version: int
    count: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Damage:
    """A stretch of a segment that is not a record: a flipped byte, a torn write."""

    offset: int
    raw: bytes
    at_end: bool


def encode(record: Record) -> bytes:
    """The bytes of a record, header included."""
    account = record.account.encode()
    body = b"".join(
        (
            _BODY.pack(record.kind, len(account)),
            account,
            _TAIL.pack(record.version, record.count),
            record.payload,
        )
    )
    return _HEAD.pack(MAGIC, len(body), google_crc32c.value(body)) + body


def _decode_at(data: memoryview, offset: int) -> tuple[Record, int] | None:
    """The record at `offset` and the offset after it; None when there is no sound record there."""
    if offset + HEADER_BYTES > len(data):
        return None
    magic, length, crc = _HEAD.unpack_from(data, offset)
    start, end = offset + HEADER_BYTES, offset + HEADER_BYTES + length
    if magic != MAGIC or length > MAX_RECORD_BYTES or end > len(data) or length < _BODY.size + _TAIL.size:
        return None
    body = bytes(data[start:end])
    if google_crc32c.value(body) != crc:
        return None
    kind, account_length = _BODY.unpack_from(body)
    at = _BODY.size + account_length
    version, count = _TAIL.unpack_from(body, at)
    account = body[_BODY.size : at].decode()
    return Record(Kind(kind), account, version, count, body[at + _TAIL.size :]), end


def scan(data: bytes | memoryview, offset: int = 0) -> Iterator[tuple[int, Record | Damage]]:
    """Walk a segment from `offset`: (offset after the item, item). Damage is reported and skipped, never raised."""
    with memoryview(data) as view:  # released even when the reader stops half-way, so that a mapping can be closed
        size = len(view)
        while offset < size:
            found = _decode_at(view, offset)
            if found is not None:
                record, offset = found
                yield offset, record
                continue
            resume = _next_record(view, offset + 1)
            stop = size if resume is None else resume
            yield stop, Damage(offset, bytes(view[offset:stop]), at_end=resume is None)
            offset = stop


def _next_record(view: memoryview, offset: int) -> int | None:
    """Where the next sound record starts; the magic may occur inside a payload, so the checksum decides."""
    data = bytes(view[offset:])
    at = data.find(MAGIC)
    while at != -1:
        if _decode_at(view, offset + at) is not None:
            return offset + at
        at = data.find(MAGIC, at + 1)
    return None
