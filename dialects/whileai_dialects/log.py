"""A log record as the readers see it; GenAI packages tell messages and gradings this way too."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from whileai_dialects.attributes import Attributes, no_attributes
from whileai_dialects.span import read_resource, read_scope
from whileai_dialects.value import Value, decode_value, text_of
from whileai_dialects.wire import LogWire, raw_attributes


@dataclass(slots=True)
class LogRecord:
    """One log record; `span_id` is '' when it names no span."""

    trace_id: str
    span_id: str
    time: int = 0
    observed_time: int = 0
    severity_number: int = 0
    severity_text: str = ""
    event_name: str = ""
    attributes: Attributes = field(default_factory=no_attributes)
    resource: Attributes = field(default_factory=no_attributes)
    scope_name: str = ""
    scope_version: str = ""
    scope_attributes: Attributes = field(default_factory=no_attributes)
    flags: int = 0
    version: int = 0
    raw_body: bytes = field(default=b"", repr=False)

    @property
    def body(self) -> Value:
        """The body, decoded."""
        return decode_value(self.raw_body)

    @property
    def when(self) -> int:
        """The time it tells, else the time it was observed, else its arrival."""
        return self.time or self.observed_time or self.version

    @classmethod
    def from_frame(cls, frame: bytes) -> "LogRecord":
        """A log record from stored `LogWire` bytes, the service's own fields included."""
        wire = LogWire.FromString(frame)
        return cls._of(
            wire.trace_id.hex(),
            wire.span_id.hex(),
            (wire.time_unix_nano, wire.observed_time_unix_nano),
            (wire.severity_number, text_of(wire.severity_text)),
            text_of(wire.event_name),
            Attributes(raw_attributes(wire)),
            (wire.resource, wire.scope, wire.body),
            wire.flags,
            wire.version,
        )

    @classmethod
    def from_columns(
        cls,
        *,
        trace_id: bytes,
        span_id: bytes = b"",
        time: int = 0,
        observed_time: int = 0,
        severity_number: int = 0,
        severity_text: str = "",
        event_name: str = "",
        body: bytes = b"",
        attribute_keys: Sequence[str] = (),
        attribute_values: Sequence[bytes] = (),
        resource: bytes = b"",
        scope: bytes = b"",
        flags: int = 0,
        version: int = 0,
    ) -> "LogRecord":
        """A log record from the columns of a stored row."""
        return cls._of(
            trace_id.hex() if trace_id.strip(b"\0") else "",
            span_id.hex() if span_id.strip(b"\0") else "",
            (time, observed_time),
            (severity_number, severity_text),
            event_name,
            Attributes(dict(zip(attribute_keys, attribute_values, strict=True))),
            (resource, scope, body),
            flags,
            version,
        )

    @classmethod
    def _of(
        cls,
        trace_id: str,
        span_id: str,
        times: tuple[int, int],
        severity: tuple[int, str],
        event_name: str,
        attributes: Attributes,
        raw: tuple[bytes, bytes, bytes],
        flags: int,
        version: int,
    ) -> "LogRecord":
        resource, scope, body = raw
        scope_name, scope_version, scope_attributes = read_scope(scope)
        if not event_name:
            # Node SDKs and older Python ones carry the name as an attribute.
            named = attributes.get("event.name")
            event_name = named if isinstance(named, str) else ""
        return cls(
            trace_id=trace_id,
            span_id=span_id,
            time=times[0],
            observed_time=times[1],
            severity_number=severity[0],
            severity_text=severity[1],
            event_name=event_name,
            attributes=attributes,
            resource=read_resource(resource),
            scope_name=scope_name,
            scope_version=scope_version,
            scope_attributes=scope_attributes,
            flags=flags,
            version=version,
            raw_body=body,
        )
