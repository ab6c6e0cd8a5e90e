"""OTLP over gRPC: the three Export methods, with the message bytes passed through unparsed to the same door.

https://opentelemetry.io/docs/specs/otlp/#otlpgrpc. Compression and the size of a message are gRPC's own; it holds a
whole message before a handler sees it, so memory is bounded by streams times message size.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import structlog

from whileai_collector.admission import Admission
from whileai_collector.auth import authenticate
from whileai_collector.faults import UNEXPECTED, fault_of
from whileai_collector.signals import SERVICES, Service
from whileai_ingest import Ingest
from whileai_registry.keycache import KeyCache

log = structlog.get_logger("otlp")

MAX_STREAMS = 64  # per connection; with MAX request bytes this bounds what gRPC buffers for one client
_CODES = {code.value[0]: code for code in grpc.StatusCode}


def create_grpc_server(ingest: Ingest, keys: KeyCache, admission: Admission) -> grpc.aio.Server:
    """A server without a port yet; add one with `bind`."""
    server = grpc.aio.server(
        options=[
            ("grpc.max_receive_message_length", admission.max_request_bytes),
            ("grpc.max_concurrent_streams", MAX_STREAMS),
            ("grpc.so_reuseport", 0),  # a second server on the same port must fail, not share it
        ]
    )
    for service in SERVICES:
        name, _, method = service.method.strip("/").partition("/")
        handler = grpc.unary_unary_rpc_method_handler(_export(service, ingest, keys, admission))
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(name, {method: handler})])
    return server


def bind(server: grpc.aio.Server, address: str, certificate: Path | None = None, key: Path | None = None) -> int:
    """The port it listens on; RuntimeError when the address is taken."""
    if certificate is None or key is None:
        return int(server.add_insecure_port(address))
    credentials = grpc.ssl_server_credentials([(key.read_bytes(), certificate.read_bytes())])
    return int(server.add_secure_port(address, credentials))


def _export(
    service: Service, ingest: Ingest, keys: KeyCache, admission: Admission
) -> Callable[[bytes, Any], Awaitable[bytes]]:
    async def export(body: bytes, context: Any) -> bytes:
        headers = {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
        try:
            principal = await authenticate(keys, headers)
            with admission.request() as ticket:
                ticket.grow(len(body))
                receipt = await ingest.accept(principal.account_id, service.signal, body)
            return bytes(service.answer(receipt).SerializeToString())
        except Exception as error:
            fault = fault_of(error)
            if fault is None:
                log.exception("request failed", method=service.method)
                fault = UNEXPECTED
            if fault.retry_after is not None:
                ingest.metrics.turned_away.inc()
            # gRPC's own place for RetryInfo.
            context.set_trailing_metadata((("grpc-status-details-bin", fault.status().SerializeToString()),))
            await context.abort(_CODES[fault.code], fault.message)
            raise AssertionError("abort raises") from None

    return export
