"""OTLP/gRPC with plain bytes, as a test wants to send them."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import grpc

PATHS = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    "metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}


def exporter(channel: grpc.Channel, key: str | None, signal: str = "traces") -> Callable[[bytes], bytes]:
    """A function that sends one request and returns the answer's bytes; grpc.RpcError when it is refused."""
    call = channel.unary_unary(PATHS[signal])
    metadata = (("x-api-key", key),) if key is not None else ()
    return lambda body: cast(bytes, call(body, metadata=metadata, timeout=20))
