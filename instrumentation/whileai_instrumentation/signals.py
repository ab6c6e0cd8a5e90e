"""The two signals that are sent, and what each is called on the wire."""

from enum import Enum


class Signal(Enum):
    """A kind of telemetry: the value is the last part of its OTLP/HTTP path, and of its files in the spool."""

    TRACES = "traces"
    LOGS = "logs"

    @property
    def http_path(self) -> str:
        return f"/v1/{self.value}"

    @property
    def grpc_method(self) -> str:
        return _GRPC[self]


_GRPC = {
    Signal.TRACES: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    Signal.LOGS: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
}
