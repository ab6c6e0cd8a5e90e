"""The exporters that everybody already has, with only an endpoint and a key: three signals, HTTP and gRPC, packed
or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import grpc
import httpx
import pytest
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogs
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcMetrics
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpans
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogs
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpMetrics
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpans
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import set_span_in_context
from opentelemetry.util.types import AnyValue
from prometheus_client.parser import text_string_to_metric_families
from support.service import Service

RESOURCE = Resource.create({"service.name": "stock"})
HTTP: Mapping[str, Any] = {"traces": HttpSpans, "logs": HttpLogs, "metrics": HttpMetrics}
GRPC: Mapping[str, Any] = {"traces": GrpcSpans, "logs": GrpcLogs, "metrics": GrpcMetrics}
WAYS: Mapping[str, Any] = {
    "http": Compression.NoCompression,
    "http, gzip": Compression.Gzip,
    "http, deflate": Compression.Deflate,
    "grpc": grpc.Compression.NoCompression,
    "grpc, gzip": grpc.Compression.Gzip,
    "grpc, deflate": grpc.Compression.Deflate,
}


def exporter(service: Service, way: str, signal: str) -> Any:
    if way.startswith("grpc"):
        key = (("x-api-key", service.key),)
        return GRPC[signal](service.grpc, insecure=True, headers=key, compression=WAYS[way])
    headers = {"x-api-key": service.key}
    return HTTP[signal](f"{service.url}/v1/{signal}", headers=headers, compression=WAYS[way])


def points(service: Service) -> float:
    """How many data points the service says it took."""
    for family in text_string_to_metric_families(httpx.get(f"{service.url}/metrics").text):
        for sample in family.samples:
            if sample.name == "whileai_items_accepted_total" and sample.labels["signal"] == "metrics":
                return sample.value
    return 0


@pytest.mark.parametrize("way", WAYS)
def test_spans_and_log_records_of_a_stock_exporter_are_a_run(service: Service, http: httpx.Client, way: str) -> None:
    tracers = TracerProvider(resource=RESOURCE)
    tracers.add_span_processor(BatchSpanProcessor(exporter(service, way, "traces")))
    loggers = LoggerProvider(resource=RESOURCE)
    loggers.add_log_record_processor(BatchLogRecordProcessor(exporter(service, way, "logs")))
    tracer, logger = tracers.get_tracer("tests"), loggers.get_logger("tests")
    with tracer.start_as_current_span("invoke_agent stock-bot") as root:
        root.set_attribute("gen_ai.operation.name", "invoke_agent")
        root.set_attribute("gen_ai.agent.name", "stock-bot")
        with tracer.start_as_current_span("chat m") as chat:
            chat.set_attribute("gen_ai.operation.name", "chat")
            chat.set_attribute("gen_ai.request.model", "m")
            said: dict[str, AnyValue] = {
                "gen_ai.user.message": {"content": "the ask"},
                "gen_ai.choice": {"index": 0, "message": {"content": "the answer"}},
            }
            for event_name, body in said.items():
                context = set_span_in_context(chat)
                logger.emit(
                    LogRecord(context=context, event_name=event_name, body=body, severity_number=SeverityNumber.INFO)
                )
    tracers.shutdown()
    loggers.shutdown()
    run = http.get(f"/traces/{root.get_span_context().trace_id:032x}").json()
    assert (run["agent"], run["service"], run["spanCount"], run["state"]) == ("stock-bot", "stock", 2, "complete")
    assert (run["prompt"], run["finalText"]) == ("the ask", "the answer")


@pytest.mark.parametrize("way", WAYS)
def test_data_points_of_a_stock_exporter_are_counted(service: Service, way: str) -> None:
    before = points(service)
    meters = MeterProvider([PeriodicExportingMetricReader(exporter(service, way, "metrics"), 3_600_000)], RESOURCE)
    meter = meters.get_meter("tests")
    meter.create_counter("calls").add(1)
    meter.create_histogram("seconds").record(0.5)
    meter.create_gauge("open").set(2)
    meters.shutdown()
    assert points(service) - before == 3
