"""Items that a strict reader would refuse, mended so that they say the same.

Text that is not UTF-8 is mended in place: the bad bytes become U+FFFD, everything else stays as it was sent.
OTLP's strings are UTF-8 by the protobuf specification, and a strict parser refuses the whole request for one bad
byte. A twin of the schema in proto2, whose parser does not look into strings, lets us find and mend just the bad ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.metrics.v1 import metrics_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from whileai_dialects.value import EMPTY_VALUE
from whileai_ingest.protowire import BYTES, FIXED64, VARINT, bytes_field, fixed64_field, varint_field


def _twins() -> dict[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    for module in (common_pb2, resource_pb2, trace_pb2, logs_pb2, metrics_pb2):
        file = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        file.syntax = "proto2"
        pool.AddSerializedFile(file.SerializeToString())
    names = {
        "Span": "trace.v1.Span",
        "LogRecord": "logs.v1.LogRecord",
        "Metric": "metrics.v1.Metric",
        "Resource": "resource.v1.Resource",
        "InstrumentationScope": "common.v1.InstrumentationScope",
    }
    return {
        short: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"opentelemetry.proto.{name}"))
        for short, name in names.items()
    }


_TWINS = _twins()


def repaired(message: str, raw: bytes) -> bytes | None:
    """`raw` with every string made UTF-8; None when it is not a `message` at all."""
    try:
        parsed = _TWINS[message].FromString(raw)
        _mend(parsed)
        return bytes(parsed.SerializeToString())
    except (DecodeError, RecursionError):
        return None


def without_unknown(message: Any, raw: bytes) -> bytes:
    """`raw` without top-level fields that OTLP does not have: theirs could stand where ours are appended."""
    if not len(UnknownFieldSet(message)):
        return raw
    message.DiscardUnknownFields()
    return bytes(message.SerializeToString())


def with_empty_values_noted(span: Any, raw: bytes) -> bytes:
    """`raw` with `EMPTY_VALUE` where an attribute's value was sent empty: a map cannot tell that from no value."""
    if b"\x12\x00" not in raw:  # cheap, and may find the two bytes elsewhere; only then are attributes looked at
        return raw
    empty = [pair.value for pair in span.attributes if pair.HasField("value") and not pair.value.ByteSize()]
    if not empty:
        return raw
    for value in empty:
        value.MergeFromString(EMPTY_VALUE)
    return bytes(span.SerializeToString())


def canonical(message: type[Message], frame: bytes) -> bytes | None:
    """A frame in the plainest form that says the same, with our own fields behind it; None when it is none.

    Protobuf's parser takes what ClickHouse's does not: groups, overlong varints, a known field in another wire type.
    """
    try:
        parsed: Any = message.FromString(frame)
    except DecodeError:
        return None
    unknown = UnknownFieldSet(parsed)
    ours = [
        _APPENDED[field.wire_type](field.field_number, field.data)
        for field in (unknown[at] for at in range(len(unknown)))
        if field.field_number > 1000 and field.wire_type in _APPENDED
    ]
    empty = [pair.value for pair in parsed.attributes if pair.value.SerializeToString() == EMPTY_VALUE]
    parsed.DiscardUnknownFields()
    for value in empty:
        value.MergeFromString(EMPTY_VALUE)
    return bytes(parsed.SerializeToString()) + b"".join(ours)


_APPENDED: dict[int, Callable[[int, Any], bytes]] = {VARINT: varint_field, FIXED64: fixed64_field, BYTES: bytes_field}


def _mend(message: Message) -> None:
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for child in value if field.is_repeated else (value,):
                _mend(child)
        elif field.type == FieldDescriptor.TYPE_STRING:
            if field.is_repeated:
                value[:] = [_text(item) for item in value]
            else:
                setattr(message, field.name, _text(value))


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")
