"""One request with a body that is ready to go: what a way to the service must offer, and the way over HTTP."""

from __future__ import annotations

import gzip
import logging
import os
import threading
from typing import TYPE_CHECKING, Protocol

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from whileai_instrumentation.outcome import ACCEPTED, Fate, Outcome, of_http
from whileai_instrumentation.signals import Signal
from whileai_instrumentation.warnings_once import warn

if TYPE_CHECKING:
    import httpx

SENDING_THREAD = "whileai-outbox"
CONNECT_SECONDS = 3.0
FASTEST = 1  # gzip's level: most of the gain on JSON text, a third of the time
SHOWN = 200  # characters of an answer worth telling


class Transport(Protocol):
    def send(self, signal: Signal, body: bytes, seconds: float) -> Outcome:
        """Send one serialised OTLP request; whatever happens is an outcome, nothing is raised."""
        ...

    def close(self) -> None:
        """Give the connections back."""
        ...


class HttpTransport:
    """OTLP/HTTP, protobuf, gzip. Connections belong to the process that made them: a fork gets its own."""

    def __init__(self, endpoint: str, api_key: str) -> None:
        self._endpoint = endpoint.rstrip("/")
        self._api_key = api_key
        self._client: httpx.Client | None = None
        self._pid = 0

    def send(self, signal: Signal, body: bytes, seconds: float) -> Outcome:
        import httpx  # by the sending thread, so that the agent does not wait for it at its start

        packed = gzip.compress(body, compresslevel=FASTEST)
        timeout = httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
        try:
            return self._post(signal, packed, timeout)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            # A kept connection that the other side closed meanwhile, as after a freeze. Spans have an identity, so the
            # same request twice is harmless.
            self.close()
        except Exception as problem:
            return _unreachable(problem)
        try:
            return self._post(signal, packed, timeout)
        except Exception as problem:
            return _unreachable(problem)

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None and self._pid == os.getpid():
            client.close()

    def _post(self, signal: Signal, packed: bytes, timeout: httpx.Timeout) -> Outcome:
        response = self._connected().post(self._endpoint + signal.http_path, content=packed, timeout=timeout)
        if response.status_code >= 300:
            return of_http(response.status_code, _told(response), response.headers.get("retry-after"))
        tell_partial_success(signal, response.content)
        return ACCEPTED

    def _connected(self) -> httpx.Client:
        import httpx

        if self._client is None or self._pid != os.getpid():
            for name in ("httpx", "httpcore"):
                logging.getLogger(name).addFilter(_is_not_ours)
            self._client = httpx.Client(
                headers={
                    "x-api-key": self._api_key,
                    "content-type": "application/x-protobuf",
                    "content-encoding": "gzip",
                    "user-agent": "whileai-instrumentation",
                },
                limits=httpx.Limits(max_connections=2, keepalive_expiry=5),
            )
            self._pid = os.getpid()
        return self._client


def _is_not_ours(_record: logging.LogRecord) -> bool:
    """The HTTP client tells its logger of each request; an agent's log is not the place for ours."""
    return threading.current_thread().name != SENDING_THREAD


def tell_partial_success(signal: Signal, content: bytes) -> None:
    """Warn when the service took a request but refused some of what is in it."""
    try:
        if signal is Signal.TRACES:
            taken = ExportTraceServiceResponse.FromString(content).partial_success
            refused, reason = taken.rejected_spans, taken.error_message
        else:
            logs = ExportLogsServiceResponse.FromString(content).partial_success
            refused, reason = logs.rejected_log_records, logs.error_message
    except Exception:  # a proxy's answer, or another protocol's: the status said that it was taken
        return
    if refused:
        warn("partial", "the service refused %d of the %s sent: %s", refused, signal.value, reason[:SHOWN])


def _told(response: httpx.Response) -> str:
    """The words of an error, when it has any that can be read; errors on OTLP paths are protobuf."""
    if "protobuf" in response.headers.get("content-type", ""):
        return "".join(c for c in response.content.decode("utf-8", "ignore") if c.isprintable())[:SHOWN]
    return response.text[:SHOWN]


def _unreachable(problem: Exception) -> Outcome:
    return Outcome(Fate.LATER, f"{type(problem).__name__}: {problem}"[:SHOWN])
