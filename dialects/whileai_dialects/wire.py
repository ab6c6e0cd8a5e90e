"""OTLP's messages in a lite form, built at run time: the same bytes on the wire, but attributes stay raw.

A map of key to AnyValue bytes is what `repeated KeyValue` looks like on the wire, so nothing inside an attribute is
decoded until somebody asks. proto2 is chosen because its parser never refuses a string for its encoding. A stored span
is an OTLP span with the service's own fields (1001 and up) appended.
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "whileai.wire"
_KINDS = descriptor_pb2.FieldDescriptorProto
_TYPES = {
    "bytes": _KINDS.TYPE_BYTES,
    "string": _KINDS.TYPE_STRING,
    "int32": _KINDS.TYPE_INT32,
    "int64": _KINDS.TYPE_INT64,
    "uint32": _KINDS.TYPE_UINT32,
    "fixed32": _KINDS.TYPE_FIXED32,
    "fixed64": _KINDS.TYPE_FIXED64,
    "bool": _KINDS.TYPE_BOOL,
    "double": _KINDS.TYPE_DOUBLE,
}

# What the service appends to a span or log record, so that a frame can be read without its request.
_OURS = [
    (1001, "version", "fixed64"),
    (1002, "resource", "bytes"),
    (1003, "scope", "bytes"),
    (1004, "account", "string"),
    (1005, "resource_schema_url", "string"),
    (1006, "scope_schema_url", "string"),
]

# message -> (number, name, type); "*" repeated, "map" = map<string, bytes>, "|" member of the oneof `value`.
_MESSAGES: dict[str, list[tuple[int, str, str]]] = {
    "Request": [(1, "resource_spans", "*ResourceSpans")],
    "ResourceSpans": [(1, "resource", "bytes"), (2, "scope_spans", "*ScopeSpans"), (3, "schema_url", "string")],
    "ScopeSpans": [(1, "scope", "bytes"), (2, "spans", "*bytes"), (3, "schema_url", "string")],
    "LogsRequest": [(1, "resource_logs", "*ResourceLogs")],
    "ResourceLogs": [(1, "resource", "bytes"), (2, "scope_logs", "*ScopeLogs"), (3, "schema_url", "string")],
    "ScopeLogs": [(1, "scope", "bytes"), (2, "log_records", "*bytes"), (3, "schema_url", "string")],
    "SpanWire": [
        (1, "trace_id", "bytes"),
        (2, "span_id", "bytes"),
        (3, "trace_state", "string"),
        (4, "parent_span_id", "bytes"),
        (5, "name", "string"),
        (6, "kind", "int32"),
        (7, "start_time_unix_nano", "fixed64"),
        (8, "end_time_unix_nano", "fixed64"),
        (9, "attributes", "map"),
        (10, "dropped_attributes_count", "uint32"),
        (11, "events", "*bytes"),
        (12, "dropped_events_count", "uint32"),
        (13, "links", "*bytes"),
        (14, "dropped_links_count", "uint32"),
        (15, "status", "bytes"),
        (16, "flags", "fixed32"),
        *_OURS,
    ],
    "LogWire": [
        (1, "time_unix_nano", "fixed64"),
        (2, "severity_number", "int32"),
        (3, "severity_text", "string"),
        (5, "body", "bytes"),
        (6, "attributes", "map"),
        (7, "dropped_attributes_count", "uint32"),
        (8, "flags", "fixed32"),
        (9, "trace_id", "bytes"),
        (10, "span_id", "bytes"),
        (11, "observed_time_unix_nano", "fixed64"),
        (12, "event_name", "string"),
        *_OURS,
        (1010, "log_id", "string"),
    ],
    "ResourceWire": [(1, "attributes", "map"), (2, "dropped_attributes_count", "uint32")],
    "ScopeWire": [
        (1, "name", "string"),
        (2, "version", "string"),
        (3, "attributes", "map"),
        (4, "dropped_attributes_count", "uint32"),
    ],
    "EventWire": [
        (1, "time_unix_nano", "fixed64"),
        (2, "name", "string"),
        (3, "attributes", "map"),
        (4, "dropped_attributes_count", "uint32"),
    ],
    "LinkWire": [
        (1, "trace_id", "bytes"),
        (2, "span_id", "bytes"),
        (3, "trace_state", "string"),
        (4, "attributes", "map"),
        (5, "dropped_attributes_count", "uint32"),
        (6, "flags", "fixed32"),
    ],
    "StatusWire": [(2, "message", "string"), (3, "code", "int32")],
    "AnyValueWire": [
        (1, "string_value", "|bytes"),
        (2, "bool_value", "|bool"),
        (3, "int_value", "|int64"),
        (4, "double_value", "|double"),
        (5, "array_value", "|ArrayValueWire"),
        (6, "kvlist_value", "|KeyValueListWire"),
        (7, "bytes_value", "|bytes"),
    ],
    "ArrayValueWire": [(1, "values", "*AnyValueWire")],
    "KeyValueListWire": [(1, "values", "*KeyValueWire")],
    "KeyValueWire": [(1, "key", "bytes"), (2, "value", "AnyValueWire")],
    # For the one span in a million whose attribute keys are not UTF-8: a map cannot give those back.
    "PairsAt1": [(1, "pairs", "*RawPair")],
    "PairsAt3": [(3, "pairs", "*RawPair")],
    "PairsAt4": [(4, "pairs", "*RawPair")],
    "PairsAt6": [(6, "pairs", "*RawPair")],
    "PairsAt9": [(9, "pairs", "*RawPair")],
    "RawPair": [(1, "key", "bytes"), (2, "value", "bytes")],
}


def _build() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="whileai/wire.proto", package=_PACKAGE, syntax="proto2")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, field_name, kind in fields:
            field = message.field.add(name=field_name, number=number, label=_KINDS.LABEL_OPTIONAL)
            if kind[0] == "*" or kind == "map":
                field.label = _KINDS.LABEL_REPEATED
            elif kind[0] == "|":
                if not message.oneof_decl:
                    message.oneof_decl.add(name="value")
                field.oneof_index = 0
            if kind == "map":
                entry = message.nested_type.add(name="AttributesEntry")
                entry.options.map_entry = True
                entry.field.add(name="key", number=1, type=_KINDS.TYPE_STRING, label=_KINDS.LABEL_OPTIONAL)
                entry.field.add(name="value", number=2, type=_KINDS.TYPE_BYTES, label=_KINDS.LABEL_OPTIONAL)
                field.type, field.type_name = _KINDS.TYPE_MESSAGE, f".{_PACKAGE}.{name}.AttributesEntry"
            elif (scalar := _TYPES.get(kind.lstrip("*|"))) is not None:
                field.type = scalar
            else:
                field.type, field.type_name = _KINDS.TYPE_MESSAGE, f".{_PACKAGE}.{kind.lstrip('*|')}"
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES
    }


# Classes made at run time have no static type; their fields are the table above.
_classes = _build()
Request: Any = _classes["Request"]
ResourceSpans: Any = _classes["ResourceSpans"]
ScopeSpans: Any = _classes["ScopeSpans"]
LogsRequest: Any = _classes["LogsRequest"]
ResourceLogs: Any = _classes["ResourceLogs"]
ScopeLogs: Any = _classes["ScopeLogs"]
SpanWire: Any = _classes["SpanWire"]
LogWire: Any = _classes["LogWire"]
ResourceWire: Any = _classes["ResourceWire"]
ScopeWire: Any = _classes["ScopeWire"]
EventWire: Any = _classes["EventWire"]
LinkWire: Any = _classes["LinkWire"]
StatusWire: Any = _classes["StatusWire"]
AnyValueWire: Any = _classes["AnyValueWire"]
KeyValueListWire: Any = _classes["KeyValueListWire"]


def raw_attributes(message: Any) -> dict[str, bytes]:
    """The attributes of a message as key to AnyValue bytes; keys that are not UTF-8 are shown with U+FFFD."""
    attributes = message.attributes
    try:
        return {key: attributes[key] for key in attributes}
    except (UnicodeDecodeError, TypeError):
        number = message.DESCRIPTOR.fields_by_name["attributes"].number
        pairs = _classes[f"PairsAt{number}"].FromString(message.SerializeToString()).pairs
        return {pair.key.decode("utf-8", "replace"): pair.value for pair in pairs}
