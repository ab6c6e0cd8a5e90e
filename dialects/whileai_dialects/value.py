"""OTLP's AnyValue as a Python value and back, on wire bytes.

Nothing raises: bytes that are not a well-formed AnyValue come back as they are, and text that is not UTF-8 is shown
with U+FFFD (the raw bytes stay with whoever holds them).
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Union

from google.protobuf.message import DecodeError

from whileai_dialects.wire import AnyValueWire

# PEP 604 cannot name itself; Union takes the forward references.
Value = Union[None, bool, int, float, str, bytes, "list[Value]", "dict[str, Value]"]

_INT64 = range(-(2**63), 2**63)
_SHORT = 0x80  # below it a varint is one byte
_UINT64 = 2**64 - 1
# An empty AnyValue that was sent, as it is stored: a field of ours that says nothing. Stored as no bytes at all it
# could not be told from a key without a value.
EMPTY_VALUE = b"\xc8\x3e\x00"
# The tags of AnyValue's most frequent kinds.
_STRING, _INT, _DOUBLE = 0x0A, 0x18, 0x21
_DOUBLES = struct.Struct("<d")


def text_of(raw: bytes | str) -> str:
    """Text from wire bytes; what is not UTF-8 (a lone surrogate too) becomes U+FFFD, so that the text can travel on."""
    return raw if isinstance(raw, str) else raw.decode("utf-8", "replace")


def scrub(text: str) -> str:
    """Join surrogate pairs and replace lone surrogates, which no UTF-8 encoder downstream would take."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def decode_value(raw: bytes) -> Value:
    """The value that AnyValue wire bytes tell; the bytes themselves when they are not well-formed."""
    if not raw:
        return None
    # Nearly every value is one string or number: those are read without a message object.
    tag, size = raw[0], len(raw)
    if tag == _STRING:
        at = string_start(raw)
        if at:
            return raw[at:].decode("utf-8", "replace")
    elif tag == _INT and size > 1:
        low = raw[1]
        if low < _SHORT:
            number, at = low, 2
        elif size == 3 and raw[2] < _SHORT:
            return low & 0x7F | raw[2] << 7
        else:
            number, at = _varint(raw, 1)
        if number >= 0 and at == size:
            return number if number < 2**63 else number - 2**64
    elif tag == _DOUBLE and size == 9:
        double: float = _DOUBLES.unpack_from(raw, 1)[0]
        return double
    try:
        return _from_message(AnyValueWire.FromString(raw), raw)
    except (DecodeError, RecursionError):
        return raw


def string_start(raw: bytes) -> int:
    """Where the text of a string value begins in its wire bytes; 0 when it is no string."""
    size = len(raw)
    if size < 2 or raw[0] != _STRING:
        return 0
    low = raw[1]
    if low < _SHORT:
        return 2 if low + 2 == size else 0
    if size > 2 and raw[2] < _SHORT:
        return 3 if (low & 0x7F | raw[2] << 7) + 3 == size else 0
    length, at = _varint(raw, 1)
    return at if length >= 0 and at + length == size else 0


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """The varint at `at` and the place after it; (-1, at) when it is cut off or too long."""
    value = shift = 0
    for place in range(at, min(len(raw), at + 10)):
        byte = raw[place]
        value |= (byte & 0x7F) << shift
        if byte < _SHORT:
            return value & _UINT64, place + 1
        shift += 7
    return -1, at


def _from_message(message: Any, raw: bytes) -> Value:
    kind = message.WhichOneof("value")
    if kind is None:
        # Only unknown fields: a kind of a later protocol version, not an empty value.
        return raw if raw and raw != EMPTY_VALUE else None
    if kind == "array_value":
        return [_from_message(item, b"") for item in message.array_value.values]
    if kind == "kvlist_value":
        return {text_of(pair.key): _from_message(pair.value, b"") for pair in message.kvlist_value.values}
    if kind == "string_value":
        return text_of(message.string_value)
    plain: Value = getattr(message, kind)
    return plain


def encode_value(value: object) -> bytes:
    """AnyValue wire bytes of a Python value; integers beyond int64 and foreign objects go as their text."""
    if isinstance(value, str):
        text = scrub(value).encode("utf-8")
        return b"\x0a" + _varint_bytes(len(text)) + text
    message = AnyValueWire()
    _to_message(message, value)
    encoded: bytes = message.SerializeToString()
    return encoded


def _varint_bytes(value: int) -> bytes:
    out = bytearray()
    while value >= _SHORT:
        out.append(value & 0x7F | _SHORT)
        value >>= 7
    out.append(value)
    return bytes(out)


def _to_message(message: Any, value: object) -> None:
    # bool before int: True is an int in Python.
    if value is None:
        return
    if isinstance(value, bool):
        message.bool_value = value
    elif isinstance(value, int) and value in _INT64:
        message.int_value = value
    elif isinstance(value, float):
        message.double_value = value
    elif isinstance(value, bytes | bytearray | memoryview):
        message.bytes_value = bytes(value)
    elif isinstance(value, Mapping):
        message.kvlist_value.SetInParent()
        for key, item in value.items():
            pair = message.kvlist_value.values.add(key=scrub(str(key)).encode("utf-8"))
            _to_message(pair.value, item)
            pair.value.SetInParent()
    elif isinstance(value, Sequence) and not isinstance(value, str):
        message.array_value.SetInParent()
        for item in value:
            _to_message(message.array_value.values.add(), item)
    else:
        message.string_value = scrub(str(value)).encode("utf-8")
