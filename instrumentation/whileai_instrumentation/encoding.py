"""From what the SDK hands over to the bytes of an OTLP request: encoded, marked with whose it is, content left out or
redacted as the user asked. Everything happens on the copy that leaves, so other exporters see what they always saw.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from whileai_instrumentation import adoption
from whileai_instrumentation.content import leave_out_content
from whileai_instrumentation.identity import Identity
from whileai_instrumentation.redaction import Redact, redact_request
from whileai_instrumentation.signals import Signal
from whileai_instrumentation.warnings_once import warn

Request = ExportTraceServiceRequest | ExportLogsServiceRequest

_ENCODERS: dict[Signal, Callable[[Sequence[Any]], Request]] = {Signal.TRACES: encode_spans, Signal.LOGS: encode_logs}


@dataclass(frozen=True)
class Encoder:
    """What leaves the process, and in which state."""

    identity: Identity = field(default_factory=Identity)
    capture_content: bool = True
    redact: Redact | None = None

    def encode(self, signal: Signal, items: Sequence[Any]) -> bytes | None:
        """The serialised request; None when nothing of it can leave."""
        request = _encoded(signal, items)
        if request is None:
            return None
        try:
            adoption.rewrite(request)
            self.identity.mark(request)
            if not self.capture_content:
                leave_out_content(request)
            if self.redact is not None:
                redact_request(request, self.redact)
        except Exception as problem:
            # Half redacted is not redacted: rather lose a batch than let it out.
            warn("prepare", "%d %s were dropped: %s: %s", len(items), signal.value, type(problem).__name__, problem)
            return None
        return request.SerializeToString()


def _encoded(signal: Signal, items: Sequence[Any]) -> Request | None:
    encode = _ENCODERS[signal]
    try:
        return encode(items)
    except Exception as problem:
        if len(items) == 1:
            warn("encode", "one of the %s cannot be encoded: %s", signal.value, problem)
            return None
    # One bad item never costs its neighbours.
    return _together(encoded for item in items if (encoded := _encoded(signal, [item])) is not None)


def _together(requests: Iterable[Request]) -> Request | None:
    merged: Request | None = None
    for request in requests:
        if merged is None:
            merged = request
        else:
            merged.MergeFrom(request)  # type: ignore[arg-type]  # both are requests of one signal
    return merged
