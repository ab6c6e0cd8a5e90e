"""The exporters that everybody already has, with only an endpoint and a key."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from support.service import Service

EXPORTERS: dict[str, Callable[[Service], SpanExporter]] = {
    "http": lambda service: HttpExporter(f"{service.url}/v1/traces", headers={"x-api-key": service.key}),
    "http, gzip": lambda service: HttpExporter(
        f"{service.url}/v1/traces", headers={"x-api-key": service.key}, compression=Compression.Gzip
    ),
    "grpc": lambda service: GrpcExporter(service.grpc, insecure=True, headers=(("x-api-key", service.key),)),
}


@pytest.mark.parametrize("name", EXPORTERS)
def test_a_stock_exporter_reaches_the_service(service: Service, http: httpx.Client, name: str) -> None:
    provider = TracerProvider(resource=Resource.create({"service.name": "stock"}))
    provider.add_span_processor(BatchSpanProcessor(EXPORTERS[name](service)))
    tracer = provider.get_tracer("tests")
    with tracer.start_as_current_span("invoke_agent stock-bot") as root:
        root.set_attribute("gen_ai.operation.name", "invoke_agent")
        root.set_attribute("gen_ai.agent.name", "stock-bot")
        with tracer.start_as_current_span("chat"):
            pass
    provider.shutdown()
    run = http.get(f"/traces/{root.get_span_context().trace_id:032x}").json()
    assert (run["agent"], run["service"], run["spanCount"], run["state"]) == ("stock-bot", "stock", 2, "complete")
