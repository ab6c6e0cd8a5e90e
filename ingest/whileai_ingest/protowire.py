"""Protobuf's wire format, as much of it as is needed to append fields to a message and to write one by hand.

https://protobuf.dev/programming-guides/encoding/. Appending a field to a serialised message is legal protobuf, so a
span never has to be taken apart to say whose it is.
"""

from __future__ import annotations

import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_U64 = struct.Struct("<Q")
_U32 = struct.Struct("<I")
_F64 = struct.Struct("<d")


def varint(value: int) -> bytes:
    """A non-negative integer below 2^64, seven bits to the byte."""
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def tag(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def bytes_field(number: int, value: bytes) -> bytes:
    """A string, bytes or message field, written even when empty."""
    return tag(number, BYTES) + varint(len(value)) + value


def varint_field(number: int, value: int) -> bytes:
    """An integer, bool or enum field; negative ones take their 64-bit two's complement."""
    return tag(number, VARINT) + varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def fixed64_field(number: int, value: int) -> bytes:
    return tag(number, FIXED64) + _U64.pack(value & 0xFFFF_FFFF_FFFF_FFFF)


def fixed32_field(number: int, value: int) -> bytes:
    return tag(number, FIXED32) + _U32.pack(value & 0xFFFF_FFFF)


def double_field(number: int, value: float) -> bytes:
    return tag(number, FIXED64) + _F64.pack(value)


def delimited(message: bytes) -> bytes:
    """A message with its length before it, as ClickHouse's `Protobuf` format reads a stream of them."""
    return varint(len(message)) + message
