"""OTLP/JSON and OTLP/protobuf, one into the other.

The mapping is protobuf's JSON mapping with OTLP's exceptions
(https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids are hex in any case, enums are integers, unknown
fields are ignored. 64-bit integers come as strings, and as numbers too. Encoders are built once from the descriptors,
so a new field of the schema needs no line here.

A span, record or data point that cannot be read is refused alone; a value that does not fit its type is kept as text.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import orjson
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from whileai_ingest.errors import Undecodable
from whileai_ingest.protowire import (
    bytes_field,
    double_field,
    fixed32_field,
    fixed64_field,
    varint_field,
)
from whileai_ingest.refusals import Reason, Refusal

_ID_FIELDS = {"trace_id": Reason.TRACE_ID, "span_id": Reason.SPAN_ID, "parent_span_id": Reason.PARENT_SPAN_ID}
# One bad member of these lists never costs its neighbours.
_ITEMS = {
    "opentelemetry.proto.trace.v1.Span",
    "opentelemetry.proto.logs.v1.LogRecord",
    *(
        f"opentelemetry.proto.metrics.v1.{name}"
        for name in (
            "Metric",
            "NumberDataPoint",
            "HistogramDataPoint",
            "ExponentialHistogramDataPoint",
            "SummaryDataPoint",
        )
    ),
}

_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,38}\s*")

_Encoder = Callable[[Any, list[Refusal]], bytes]


class _BadField(ValueError):
    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def to_protobuf(descriptor: Descriptor, body: bytes) -> tuple[bytes, list[Refusal]]:
    """The protobuf form of an OTLP/JSON request, and the items that had to be left out.

    Raises `Undecodable` when the body is not JSON or the envelope is not of the request's shape.
    """
    try:
        document = _load(body)
        if not isinstance(document, dict):
            raise Undecodable(f"the body is not a JSON object of the shape of {descriptor.name}")
        refusals: list[Refusal] = []
        return _message(descriptor)(document, refusals), refusals
    except _BadField as error:
        raise Undecodable(f"the body is not an OTLP {descriptor.name}: {error}") from None
    except RecursionError:
        raise Undecodable("the body is nested too deep") from None


def _load(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:  # slower, but takes lone surrogates, which JavaScript strings may hold
        return json.loads(body.decode("utf-8", "replace"))
    except ValueError as error:
        raise Undecodable(f"the body is not JSON: {error}") from None


@cache
def _message(descriptor: Descriptor) -> _Encoder:
    """An encoder of a JSON object as a message of this type."""
    fields: dict[str, _Encoder] = {}

    def encode(value: Any, refusals: list[Refusal]) -> bytes:
        if not isinstance(value, dict):
            raise _BadField(Reason.MALFORMED, f"{descriptor.name} must be an object, not {_show(value)}")
        if not fields:  # filled at first use, because messages are recursive
            for field in descriptor.fields:
                fields[field.json_name] = fields[field.name] = _field(field)
        parts = []
        for name, member in value.items():
            if member is not None and (encoder := fields.get(name)) is not None:
                parts.append(encoder(member, refusals))
        return b"".join(parts)

    return encode


def _field(field: FieldDescriptor) -> _Encoder:
    single = _message_field(field) if field.type == FieldDescriptor.TYPE_MESSAGE else _scalar_field(field)
    if not field.is_repeated:
        return single
    is_item = field.message_type is not None and field.message_type.full_name in _ITEMS

    def repeated(value: Any, refusals: list[Refusal]) -> bytes:
        if not isinstance(value, list):
            raise _BadField(Reason.MALFORMED, f"{field.json_name} must be an array, not {_show(value)}")
        if not is_item:
            return b"".join([single(member, refusals) for member in value])
        parts = []
        for member in value:
            try:
                parts.append(single(member, refusals))
            except _BadField as error:
                refusals.append(Refusal(error.reason, str(error), _agent(member)))
            except RecursionError:
                refusals.append(Refusal(Reason.MALFORMED, "an item is nested too deep", _agent(member)))
        return b"".join(parts)

    return repeated


def _message_field(field: FieldDescriptor) -> _Encoder:
    kind = field.message_type
    assert kind is not None, "a message field has a message type"
    number, encode = field.number, _message(kind)
    if kind.full_name != "opentelemetry.proto.common.v1.AnyValue":
        return lambda value, refusals: bytes_field(number, encode(value, refusals))

    def any_value(value: Any, refusals: list[Refusal]) -> bytes:
        try:
            return bytes_field(number, encode(value, refusals))
        except _BadField:  # repair per attribute: what does not fit its type is kept as the text it was
            return bytes_field(number, bytes_field(1, _text(json.dumps(value, ensure_ascii=False))))

    return any_value


def _scalar_field(field: FieldDescriptor) -> _Encoder:
    number, convert = field.number, _scalar(field)
    return lambda value, _refusals: convert(number, value)


def _scalar(field: FieldDescriptor) -> Callable[[int, Any], bytes]:
    types = FieldDescriptor
    if field.type == types.TYPE_STRING:
        return lambda number, value: bytes_field(number, _text(_expect(field, value, str)))
    if field.type == types.TYPE_BYTES:
        if field.name in _ID_FIELDS:
            return lambda number, value: bytes_field(number, _hex(field, value))
        return lambda number, value: bytes_field(number, _base64(field, value))
    if field.type == types.TYPE_BOOL:
        return lambda number, value: varint_field(number, _expect(field, value, bool))
    if field.type == types.TYPE_DOUBLE:
        return lambda number, value: double_field(number, _double(field, value))
    write, low, high = _INTEGERS[field.type]
    return lambda number, value: write(number, _integer(field, value, low, high))


_INTEGERS: dict[int, tuple[Callable[[int, int], bytes], int, int]] = {
    FieldDescriptor.TYPE_INT32: (varint_field, -(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_ENUM: (varint_field, -(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_UINT32: (varint_field, 0, 2**32 - 1),
    FieldDescriptor.TYPE_INT64: (varint_field, -(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT64: (varint_field, 0, 2**64 - 1),
    FieldDescriptor.TYPE_SINT32: (lambda n, v: varint_field(n, v << 1 ^ v >> 31), -(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_FIXED64: (fixed64_field, 0, 2**64 - 1),
    FieldDescriptor.TYPE_SFIXED64: (fixed64_field, -(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_FIXED32: (fixed32_field, 0, 2**32 - 1),
}


def _expect(field: FieldDescriptor, value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise _BadField(Reason.MALFORMED, f"{field.json_name} must be a {kind.__name__}, not {_show(value)}")
    return value


def _text(value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError:  # pairs of surrogates become the character they mean, lone ones U+FFFD
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _hex(field: FieldDescriptor, value: Any) -> bytes:
    try:
        return bytes.fromhex(_expect(field, value, str))
    except ValueError:
        raise _BadField(_ID_FIELDS[field.name], f"{field.json_name} must be hex, not {_show(value)}") from None


def _base64(field: FieldDescriptor, value: Any) -> bytes:
    text = _expect(field, value, str).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        raise _BadField(Reason.MALFORMED, f"{field.json_name} must be base64, not {_show(value)}") from None


def _double(field: FieldDescriptor, value: Any) -> float:
    if isinstance(value, bool):
        raise _BadField(Reason.MALFORMED, f"{field.json_name} must be a number, not {_show(value)}")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise _BadField(Reason.MALFORMED, f"{field.json_name} must be a number, not {_show(value)}") from None


def _integer(field: FieldDescriptor, value: Any, low: int, high: int) -> int:
    number = value
    if (isinstance(value, str) and _WHOLE.fullmatch(value)) or (isinstance(value, float) and value.is_integer()):
        number = int(value)
    if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
        reason = Reason.TIME if field.name.endswith("_unix_nano") else Reason.MALFORMED
        raise _BadField(reason, f"{field.json_name} must be an integer in range, not {_show(value)}")
    return number


def _agent(item: Any) -> str:
    """The agent that a refused JSON item names, for the rejections list."""
    pairs = item.get("attributes") if isinstance(item, dict) else None
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, dict) and pair.get("key") == "gen_ai.agent.name" and isinstance(pair.get("value"), dict):
            return str(pair["value"].get("stringValue", ""))[:200]
    return ""


def _show(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=True, default=str)
    return shown if len(shown) <= 60 else shown[:57] + "…"


def to_json(message: Message) -> dict[str, Any]:
    """The OTLP/JSON form of a protobuf message."""
    out: dict[str, Any] = {}
    for field, value in message.ListFields():
        if field.is_repeated:
            out[field.json_name] = [_json_value(field, member) for member in value]
        else:
            out[field.json_name] = _json_value(field, value)
    return out


_AS_STRING = {
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_FIXED64,
    FieldDescriptor.TYPE_SFIXED64,
}


def _json_value(field: FieldDescriptor, value: Any) -> Any:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return to_json(value)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return value.hex() if field.name in _ID_FIELDS else base64.b64encode(value).decode()
    if field.type in _AS_STRING:
        return str(value)
    if field.type == FieldDescriptor.TYPE_DOUBLE and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
