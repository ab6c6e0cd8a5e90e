"""Text that is not UTF-8, mended in place: the bad bytes become U+FFFD, everything else stays as it was sent.

OTLP's strings are UTF-8 by the protobuf specification, and a strict parser refuses the whole request for one bad
byte. A twin of the schema in proto2, whose parser does not look into strings, lets us find and mend just the bad ones.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2


def _twins() -> dict[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    for module in (common_pb2, resource_pb2, trace_pb2, logs_pb2):
        file = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        file.syntax = "proto2"
        pool.AddSerializedFile(file.SerializeToString())
    names = {
        "Span": "trace.v1.Span",
        "LogRecord": "logs.v1.LogRecord",
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
