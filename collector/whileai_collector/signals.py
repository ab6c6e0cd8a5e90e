"""The three OTLP services: their paths, their messages, and how a partial success is written in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces

from whileai_ingest import Receipt, Signal
from whileai_ingest.refusals import summary


@dataclass(frozen=True, slots=True)
class Service:
    """One OTLP service. `request` and `response` are its protobuf classes."""

    signal: Signal
    path: str
    method: str
    request: Any
    response: Any
    rejected: str

    def answer(self, receipt: Receipt) -> Any:
        """The response message. OTLP: on full success `partial_success` must be left unset."""
        message = self.response()
        if receipt.refusals:
            setattr(message.partial_success, self.rejected, len(receipt.refusals))
            message.partial_success.error_message = summary(receipt.refusals)
        return message


SERVICES = (
    Service(
        Signal.TRACES,
        "/v1/traces",
        "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        traces.ExportTraceServiceRequest,
        traces.ExportTraceServiceResponse,
        "rejected_spans",
    ),
    Service(
        Signal.LOGS,
        "/v1/logs",
        "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        logs.ExportLogsServiceRequest,
        logs.ExportLogsServiceResponse,
        "rejected_log_records",
    ),
    Service(
        Signal.METRICS,
        "/v1/metrics",
        "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
        metrics.ExportMetricsServiceRequest,
        metrics.ExportMetricsServiceResponse,
        "rejected_data_points",
    ),
)
BY_PATH = {service.path: service for service in SERVICES}
