"""A service that behaves as badly as a test wants: takes, refuses, is busy, does not answer; keeps what it took."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Receiver:
    """Set `status` to refuse; clear `open` to leave requests unanswered until it is set again."""

    url: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    open: threading.Event = field(default_factory=threading.Event)
    knocked: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)
    requests: list[Mapping[str, str]] = field(default_factory=list)
    traces: list[ExportTraceServiceRequest] = field(default_factory=list)
    logs: list[ExportLogsServiceRequest] = field(default_factory=list)

    def take(self, path: str, headers: Mapping[str, str], body: bytes) -> int:
        self.asked.append(path)
        self.knocked.set()
        self.open.wait(60)
        if self.status != 200:
            return self.status
        plain = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        if path == "/v1/traces":
            self.traces.append(ExportTraceServiceRequest.FromString(plain))
        else:
            self.logs.append(ExportLogsServiceRequest.FromString(plain))
        self.requests.append(headers)
        return 200

    def spans(self) -> list[Span]:
        """Every span taken, in the order of arrival."""
        return [
            span
            for request in self.traces
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def names(self) -> list[str]:
        return [span.name for span in self.spans()]

    def span(self, name: str) -> Mapping[str, Any]:
        """The attributes of the one span of this name."""
        (found,) = [span for span in self.spans() if span.name == name]
        return values(found.attributes)

    def resources(self) -> list[Resource]:
        return [resource.resource for request in self.traces for resource in request.resource_spans]

    def records(self) -> list[LogRecord]:
        return [
            record
            for request in self.logs
            for resource in request.resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]


def values(attributes: Any) -> dict[str, Any]:
    """Attributes as plain values."""
    pairs: list[KeyValue] = list(attributes)
    return {pair.key: plain(pair.value) for pair in pairs}


def plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [plain(member) for member in value.array_value.values]
    if kind == "kvlist_value":
        return values(value.kvlist_value.values)
    return getattr(value, kind)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver on a free loopback port."""
    receiver = Receiver()
    receiver.open.set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = receiver.take(self.path, headers, self.rfile.read(int(headers["content-length"])))
            try:
                self.send_response(status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", "0")
                self.end_headers()
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the sender has gone

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield receiver
    finally:
        receiver.open.set()
        server.shutdown()
        server.server_close()
        thread.join()
