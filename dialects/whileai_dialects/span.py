"""A span as the readers see it: ids as hex, times as integers, everything inside decoded when asked for.

Two ways in: `from_frame` (the stored protobuf) and `from_columns` (a row read back from ClickHouse).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from google.protobuf.message import DecodeError

from whileai_dialects.attributes import Attributes, no_attributes
from whileai_dialects.value import text_of
from whileai_dialects.wire import EventWire, LinkWire, ResourceWire, ScopeWire, SpanWire, StatusWire, raw_attributes

_UNSET = (0, "")  # code and message of a span without a status
ERROR = 2  # StatusCode.STATUS_CODE_ERROR


@dataclass(slots=True)
class Event:
    """Something that happened inside a span."""

    time: int
    name: str
    attributes: Attributes


@dataclass(slots=True)
class Link:
    """A pointer from a span to another one."""

    trace_id: str
    span_id: str
    trace_state: str
    attributes: Attributes
    flags: int


@dataclass(slots=True)
class Span:
    """One span, in the version that arrived at `version` (nanoseconds)."""

    trace_id: str
    span_id: str
    parent_span_id: str = ""
    name: str = ""
    kind: int = 0
    start: int = 0
    end: int = 0
    attributes: Attributes = field(default_factory=no_attributes)
    resource: Attributes = field(default_factory=no_attributes)
    scope_name: str = ""
    scope_version: str = ""
    scope_attributes: Attributes = field(default_factory=no_attributes)
    trace_state: str = ""
    flags: int = 0
    status_code: int = 0
    status_message: str = ""
    version: int = 0
    first_arrival: int = 0
    raw_events: Sequence[bytes] = ()
    raw_links: Sequence[bytes] = ()
    _events: list[Event] | None = field(default=None, repr=False, compare=False)
    _links: list[Link] | None = field(default=None, repr=False, compare=False)

    @property
    def events(self) -> list[Event]:
        """The span's events, in the order they were sent."""
        if self._events is None:
            raw_events = self.raw_events
            self._events = [event for raw in raw_events if (event := _event(raw)) is not None] if raw_events else []
        return self._events

    @property
    def links(self) -> list[Link]:
        """The span's links."""
        if self._links is None:
            self._links = [link for raw in self.raw_links if (link := _link(raw)) is not None]
        return self._links

    @classmethod
    def from_frame(cls, frame: bytes) -> "Span":
        """A span from stored `SpanWire` bytes, the service's own fields included."""
        wire = SpanWire.FromString(frame)
        scope_name, scope_version, scope_attributes = read_scope(wire.scope)
        status = wire.status
        code, message = read_status(status) if status else _UNSET
        version = wire.version
        # Copies: a list of the message would keep the whole message alive beside the attributes.
        events, links = wire.events, wire.links
        return cls(
            wire.trace_id.hex(),
            wire.span_id.hex(),
            wire.parent_span_id.hex(),
            text_of(wire.name),
            wire.kind,
            wire.start_time_unix_nano,
            wire.end_time_unix_nano,
            Attributes(raw_attributes(wire)),
            read_resource(wire.resource),
            scope_name,
            scope_version,
            scope_attributes,
            text_of(wire.trace_state),
            wire.flags,
            code,
            message,
            version,
            version,
            tuple(events) if events else (),
            tuple(links) if links else (),
        )

    @classmethod
    def from_columns(
        cls,
        *,
        trace_id: bytes,
        span_id: bytes,
        parent_span_id: bytes = b"",
        name: str = "",
        kind: int = 0,
        start: int = 0,
        end: int = 0,
        attribute_keys: Sequence[str] = (),
        attribute_values: Sequence[bytes] = (),
        events: Sequence[bytes] = (),
        links: Sequence[bytes] = (),
        status: bytes = b"",
        resource: bytes = b"",
        scope: bytes = b"",
        trace_state: str = "",
        flags: int = 0,
        version: int = 0,
        first_arrival: int | None = None,
    ) -> "Span":
        """A span from the columns of a stored row; `first_arrival` is `version` unless copies were merged already."""
        scope_name, scope_version, scope_attributes = read_scope(scope)
        code, message = read_status(status)
        return cls(
            trace_id=trace_id.hex(),
            span_id=span_id.hex(),
            # A fixed-width column has no empty value; all zero is no parent.
            parent_span_id=parent_span_id.hex() if parent_span_id.strip(b"\0") else "",
            name=name,
            kind=kind,
            start=start,
            end=end,
            attributes=Attributes(dict(zip(attribute_keys, attribute_values, strict=True))),
            resource=read_resource(resource),
            scope_name=scope_name,
            scope_version=scope_version,
            scope_attributes=scope_attributes,
            trace_state=trace_state,
            flags=flags,
            status_code=code,
            status_message=message,
            version=version,
            first_arrival=version if first_arrival is None else first_arrival,
            raw_events=events,
            raw_links=links,
        )


def when(span: Span) -> tuple[int, int]:
    """The order of spans in time; a start of zero takes the end, else the arrival."""
    return (span.start or span.end or span.first_arrival, span.end or span.start)


def latest(spans: Iterable[Span]) -> list[Span]:
    """One span per id: the highest version wins, and the first arrival is the earliest over all copies."""
    best: dict[str, Span] = {}
    for span in spans:
        known = best.get(span.span_id)
        if known is None:
            best[span.span_id] = span
            continue
        first = min(known.first_arrival, span.first_arrival)
        winner = span if span.version >= known.version else known
        best[span.span_id] = winner if winner.first_arrival == first else replace(winner, first_arrival=first)
    return list(best.values())


@lru_cache(maxsize=4096)
def read_resource(raw: bytes) -> Attributes:
    """The attributes of raw `Resource` bytes; resources repeat by the million, so they are decoded once."""
    return Attributes(_parsed(ResourceWire, raw))


@lru_cache(maxsize=4096)
def read_scope(raw: bytes) -> tuple[str, str, Attributes]:
    """Name, version and attributes of raw `InstrumentationScope` bytes."""
    try:
        wire = ScopeWire.FromString(raw)
    except DecodeError:
        return "", "", no_attributes()
    return text_of(wire.name), text_of(wire.version), Attributes(raw_attributes(wire))


@lru_cache(maxsize=1024)
def read_status(raw: bytes) -> tuple[int, str]:
    """Code and message of raw `Status` bytes."""
    if not raw:
        return 0, ""
    try:
        wire = StatusWire.FromString(raw)
    except DecodeError:
        return 0, ""
    return wire.code, text_of(wire.message)


def _parsed(message_class: Any, raw: bytes) -> Mapping[str, bytes]:
    try:
        return raw_attributes(message_class.FromString(raw))
    except DecodeError:
        return {}


def _event(raw: bytes) -> Event | None:
    try:
        wire = EventWire.FromString(raw)
    except DecodeError:
        return None
    return Event(wire.time_unix_nano, text_of(wire.name), Attributes(raw_attributes(wire)))


def _link(raw: bytes) -> Link | None:
    try:
        wire = LinkWire.FromString(raw)
    except DecodeError:
        return None
    return Link(
        wire.trace_id.hex(),
        wire.span_id.hex(),
        text_of(wire.trace_state),
        Attributes(raw_attributes(wire)),
        wire.flags,
    )
