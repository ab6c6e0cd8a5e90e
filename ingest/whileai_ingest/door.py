"""The door: what would make an item unwritable is found here, per item, before anything is journalled.

The whole request is parsed once by the strict OTLP schema (in C, about 3 µs a span), which proves wire form and
UTF-8; a second parse that stops at the items gives their raw bytes. Only when the strict parse fails is each item
looked at alone: text is mended, and what cannot be read is refused without its neighbours. Attributes are never
walked in Python.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from whileai_dialects import wire
from whileai_ingest.dataset import DEFAULT_DATASET, dataset_name
from whileai_ingest.errors import Undecodable
from whileai_ingest.frames import EMPTY_RESOURCE, EMPTY_SCOPE, EMPTY_STATUS, Context, Item, log_ids, span_ids
from whileai_ingest.refusals import Reason, Refusal
from whileai_ingest.repair import repaired, with_empty_values_noted, without_unknown

_INT64_MAX = 2**63 - 1
_NO_TRACE, _NO_SPAN = b"\0" * 16, b"\0" * 8


@dataclass(slots=True)
class Checked:
    """What the door let through, and what it refused."""

    items: list[Item] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    dataset: str = DEFAULT_DATASET

    @property
    def size(self) -> int:
        return sum(item.size for item in self.items)


def check_spans(account: str, body: bytes) -> Checked:
    """The spans of an `ExportTraceServiceRequest`. Raises `Undecodable` when the envelope itself cannot be read."""
    lite, strict = _parse(wire.Request, ExportTraceServiceRequest, body)
    return _check(account, lite.resource_spans, strict.resource_spans if strict else None, _SPANS)


def check_logs(account: str, body: bytes) -> Checked:
    """The log records of an `ExportLogsServiceRequest`; raises as `check_spans`."""
    lite, strict = _parse(wire.LogsRequest, ExportLogsServiceRequest, body)
    return _check(account, lite.resource_logs, strict.resource_logs if strict else None, _LOGS)


def _parse(lite_class: Any, strict_class: Any, body: bytes) -> tuple[Any, Any | None]:
    try:
        lite = lite_class.FromString(body)
    except DecodeError as error:
        raise Undecodable(f"the body is not an OTLP {strict_class.DESCRIPTOR.name}") from error
    try:
        return lite, strict_class.FromString(body)
    except DecodeError:
        return lite, None


@dataclass(frozen=True, slots=True)
class _Signal:
    """How one signal names its parts, and how one of its items is judged."""

    scopes: str
    items: str
    message: str
    parse: Callable[[bytes], Message]
    judge: Callable[[Any, bytes], bytes | Refusal]


def _check(
    account: str, lite_resources: Sequence[Any], strict_resources: Sequence[Any] | None, signal: _Signal
) -> Checked:
    checked = Checked()
    for at, lite_resource in enumerate(lite_resources):
        strict_scopes = getattr(strict_resources[at], signal.scopes) if strict_resources is not None else None
        resource = lite_resource.resource
        if strict_scopes is None:
            resource = repaired("Resource", resource)
        if at == 0 and resource:
            checked.dataset = dataset_name(resource)
        for scope_at, lite_scope in enumerate(getattr(lite_resource, signal.scopes)):
            scope = lite_scope.scope
            if strict_scopes is None:
                scope = repaired("InstrumentationScope", scope)
            raws = getattr(lite_scope, signal.items)
            if resource is None or scope is None:
                part = "resource" if resource is None else "scope"
                refusal = Refusal(Reason.MALFORMED, f"the {part} of this item is not well-formed protobuf")
                checked.refusals.extend([refusal] * len(raws))
                continue
            context = Context.of(
                account,
                resource or (EMPTY_RESOURCE if lite_resource.HasField("resource") else b""),
                scope or (EMPTY_SCOPE if lite_scope.HasField("scope") else b""),
                _raw_text(lite_resource.schema_url),
                _raw_text(lite_scope.schema_url),
            )
            parsed = getattr(strict_scopes[scope_at], signal.items) if strict_scopes is not None else repeat(None)
            for raw, item in zip(raws, parsed, strict=False):
                _admit(checked, signal, context, raw, item)
    return checked


def _admit(checked: Checked, signal: _Signal, context: Context, raw: bytes, item: Any | None) -> None:
    if item is None:
        mended = repaired(signal.message, raw)
        try:
            item = signal.parse(mended) if mended is not None else None
        except DecodeError:
            item = None
        if item is None or mended is None:
            checked.refusals.append(
                Refusal(Reason.MALFORMED, f"a {signal.message} is not well-formed protobuf, or nested too deep")
            )
            return
        raw = mended
    raw = without_unknown(item, raw)
    ids = signal.judge(item, raw)
    if isinstance(ids, Refusal):
        checked.refusals.append(ids)
        return
    if signal is _SPANS:
        raw = with_empty_values_noted(item, raw)
    checked.items.append(Item(raw, ids, context))


def _raw_text(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value.decode("utf-8", "replace").encode()


def _judge_span(span: Any, raw: bytes) -> bytes | Refusal:
    trace_id, span_id, parent = span.trace_id, span.span_id, span.parent_span_id
    if len(trace_id) != 16 or trace_id == _NO_TRACE:
        return _refuse(span, Reason.TRACE_ID, f"trace_id must be 16 bytes, not all zero; got {_show(trace_id)}")
    if len(span_id) != 8 or span_id == _NO_SPAN:
        return _refuse(span, Reason.SPAN_ID, f"span_id must be 8 bytes, not all zero; got {_show(span_id)}")
    if parent and len(parent) != 8:
        return _refuse(span, Reason.PARENT_SPAN_ID, f"parent_span_id must be 8 bytes or empty; got {_show(parent)}")
    if span.start_time_unix_nano > _INT64_MAX or span.end_time_unix_nano > _INT64_MAX:
        return _refuse(span, Reason.TIME, "start and end must be nanoseconds that fit int64 (before the year 2262)")
    ids = span_ids(trace_id, span_id, parent)
    # The search for the field's two bytes is cheap and may find them in a text; only then is the message asked.
    sent_empty = b"\x7a\x00" in raw and span.HasField("status") and not span.status.ByteSize()
    return ids + EMPTY_STATUS if sent_empty else ids


def _judge_log(record: Any, raw: bytes) -> bytes | Refusal:
    trace_id, span_id = record.trace_id, record.span_id
    if trace_id and len(trace_id) != 16:
        return _refuse(record, Reason.TRACE_ID, f"trace_id must be 16 bytes or empty; got {_show(trace_id)}")
    if span_id and len(span_id) != 8:
        return _refuse(record, Reason.SPAN_ID, f"span_id must be 8 bytes or empty; got {_show(span_id)}")
    if record.time_unix_nano > _INT64_MAX or record.observed_time_unix_nano > _INT64_MAX:
        return _refuse(record, Reason.TIME, "times must be nanoseconds that fit int64 (before the year 2262)")
    # A log record has no id of its own: its content is its identity, so a resend is the same record.
    identity = hashlib.blake2b(raw, digest_size=16).hexdigest()
    return log_ids(trace_id if any(trace_id) else b"", span_id if any(span_id) else b"", identity)


def _refuse(item: Any, reason: Reason, detail: str) -> Refusal:
    named = (pair.value.string_value for pair in item.attributes if pair.key == "gen_ai.agent.name")
    return Refusal(reason, detail, next(named, "")[:200])


def _show(value: bytes) -> str:
    shown = value[:20].hex() + ("…" if len(value) > 20 else "")
    return f"{len(value)} bytes {shown}" if value else "nothing"


_SPANS = _Signal("scope_spans", "spans", "Span", Span.FromString, _judge_span)
_LOGS = _Signal("scope_logs", "log_records", "LogRecord", LogRecord.FromString, _judge_log)
