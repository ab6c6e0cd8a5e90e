"""OTLP's three signals by its three ways in, sent as raw bytes, with what was answered in one form."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import grpc
import httpx
from google.protobuf.json_format import ParseDict
from google.rpc import error_details_pb2
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs_service
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics_service
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace_service
from support import otlp
from support.grpc_export import PATHS
from support.service import Service

from whileai_ingest.otlp_json import to_json

Way = Literal["http protobuf", "http json", "grpc"]
WAYS: tuple[Way, ...] = ("http protobuf", "http json", "grpc")
CONTENT_TYPES = {"http protobuf": "application/x-protobuf", "http json": "application/json"}


def _spans(good: int, bad: int) -> bytes:
    made = [otlp.span(otlp.new_trace_id(), attributes={"n": n}) for n in range(good + bad)]
    for span in made[good:]:
        span.span_id = b"\0" * 8
    return otlp.traces(made)


def _records(good: int, bad: int) -> bytes:
    made = [otlp.log_record(otlp.new_trace_id(), otlp.new_span_id(), "e", {"n": n}) for n in range(good + bad)]
    for record in made[good:]:
        record.trace_id = b"short"
    return otlp.logs(made)


def _points(good: int, bad: int) -> bytes:
    request = metrics_service.ExportMetricsServiceRequest()
    metrics = request.resource_metrics.add().scope_metrics.add().metrics
    for number in range(good):
        metrics.add(name="m").gauge.data_points.add(as_int=number)
    for _ in range(bad):
        metrics.add(name="BROKEN").gauge.data_points.add(as_int=1)
    # The points lose their wire form, at the same length: a field of wire type 7, which there is none of.
    return request.SerializeToString().replace(b"\x0a\x06BROKEN", b"\x0f\x06BROKEN")


@dataclass(frozen=True)
class OtlpSignal:
    """One signal: its messages, and requests with so many good and so many bad items."""

    name: str
    request: Any
    response: Any
    rejected: str
    items: Callable[[int, int], bytes]
    reason: str  # why the bad items are refused

    @property
    def path(self) -> str:
        return f"/v1/{self.name}"


SIGNALS = (
    OtlpSignal(
        "traces",
        trace_service.ExportTraceServiceRequest,
        trace_service.ExportTraceServiceResponse,
        "rejected_spans",
        _spans,
        "span_id",
    ),
    OtlpSignal(
        "logs",
        logs_service.ExportLogsServiceRequest,
        logs_service.ExportLogsServiceResponse,
        "rejected_log_records",
        _records,
        "trace_id",
    ),
    OtlpSignal(
        "metrics",
        metrics_service.ExportMetricsServiceRequest,
        metrics_service.ExportMetricsServiceResponse,
        "rejected_data_points",
        _points,
        "malformed",
    ),
)


@dataclass(frozen=True)
class Answered:
    """What a request was told. `code` is google.rpc's, 0 for OK; `http` the status where there is one."""

    code: int
    status: Status | None = None
    response: Any = None
    http: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes = b""

    @property
    def retry_delay(self) -> float | None:
        """What RetryInfo says, in seconds."""
        for packed in self.status.details if self.status is not None else ():
            info = error_details_pb2.RetryInfo()
            if packed.Unpack(info):
                return float(info.retry_delay.seconds + info.retry_delay.nanos / 1e9)
        return None


def send(
    service: Service, way: Way, signal: OtlpSignal, body: bytes, *, key: str | None = None, packed: bool = False
) -> Answered:
    """Send these bytes, whatever they are, as they stand."""
    headers = {"x-api-key": service.key if key is None else key}
    if way == "grpc":
        return _send_grpc(service, signal, body, headers, packed)
    headers["content-type"] = CONTENT_TYPES[way]
    if packed:
        headers["content-encoding"] = "gzip"
    answer = httpx.post(
        service.url + signal.path, content=gzip.compress(body) if packed else body, headers=headers, timeout=60
    )
    told: dict[str, Any] = {"http": answer.status_code, "headers": answer.headers, "raw": answer.content}
    if answer.status_code == 200:
        return Answered(0, None, _read(way, signal.response, answer.content), **told)
    status = _read(way, Status, answer.content)
    return Answered(status.code, status, None, **told)


def encoded(way: Way, signal: OtlpSignal, body: bytes) -> bytes:
    """A protobuf request as this way sends it."""
    return json.dumps(to_json(signal.request.FromString(body))).encode() if way == "http json" else body


def _read(way: Way, message: Any, raw: bytes) -> Any:
    if way == "http protobuf":
        return message.FromString(raw)
    # What the published client reads of an answer stands beside OTLP's own fields.
    return ParseDict(json.loads(raw), message(), ignore_unknown_fields=True)


def _send_grpc(service: Service, signal: OtlpSignal, body: bytes, headers: Mapping[str, str], packed: bool) -> Answered:
    compression = grpc.Compression.Gzip if packed else grpc.Compression.NoCompression
    unbounded = [("grpc.max_send_message_length", -1)]
    with grpc.insecure_channel(service.grpc, compression=compression, options=unbounded) as channel:
        try:
            raw = channel.unary_unary(PATHS[signal.name])(body, metadata=tuple(headers.items()), timeout=60)
        except grpc.RpcError as error:
            details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
            # What gRPC itself refuses, before any handler, has a code and no details.
            status = Status.FromString(details) if details else Status(code=error.code().value[0], message="")
            return Answered(error.code().value[0], status)
    return Answered(0, None, signal.response.FromString(raw), raw=raw)
