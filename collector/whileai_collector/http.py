"""OTLP over HTTP: a plain ASGI app, in front of any framework because small requests are all overhead.

https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import structlog
from google.protobuf.json_format import MessageToDict
from google.rpc import code_pb2

from whileai_collector.admission import Admission, Ticket
from whileai_collector.auth import authenticate
from whileai_collector.compression import DECODERS, decoders, undo
from whileai_collector.faults import UNEXPECTED, Fault, TooSlow, UnsupportedMedia, fault_of
from whileai_collector.signals import BY_PATH, Service
from whileai_ingest import Ingest, Receipt, Signal, TooLarge
from whileai_ingest.otlp_json import to_json, to_protobuf
from whileai_ingest.service import INLINE_BYTES
from whileai_registry.keycache import KeyCache

log = structlog.get_logger("otlp")

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# A sender that stops half-way holds bytes that others need; exporters give up after ten seconds themselves.
BODY_SECONDS = 60

PROTOBUF, JSON = "application/x-protobuf", "application/json"


class _Gone(Exception):
    """The client hung up before its body was whole."""


@dataclass(frozen=True, slots=True)
class OtlpHttp:
    """The ASGI app for the paths in `BY_PATH`."""

    ingest: Ingest
    keys: KeyCache
    admission: Admission

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        service = BY_PATH[scope["path"]]
        headers = _headers(scope["headers"])
        content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        try:
            if scope["method"] != "POST":
                await _fail(send, content_type, Fault(405, code_pb2.UNIMPLEMENTED, "use POST here"), {"allow": "POST"})
                return
            status, body = await self._export(service, content_type, headers, receive)
            await _answer(send, status, content_type, body)
        except _Gone:
            return
        except Exception as error:
            fault = fault_of(error)
            if fault is None:
                log.exception("request failed", path=service.path)
                fault = UNEXPECTED
            if fault.retry_after is not None:
                self.ingest.metrics.turned_away.inc()
            extra = {"retry-after": fault.retry_after_header} if fault.retry_after_header else {}
            if isinstance(error, UnsupportedMedia):
                extra["accept-encoding"] = ", ".join(DECODERS)
            if isinstance(error, TooLarge | TooSlow):
                extra["connection"] = "close"  # the rest of the body is not read
            await _fail(send, content_type, fault, extra)

    async def _export(
        self, service: Service, content_type: str, headers: dict[str, str], receive: Receive
    ) -> tuple[int, bytes]:
        principal = await authenticate(self.keys, headers)
        if content_type not in (PROTOBUF, JSON):
            raise UnsupportedMedia(f"content-type must be {PROTOBUF} or {JSON}, not {content_type[:100]!r}")
        encoding = headers.get("content-encoding", "")
        steps = decoders(encoding)
        if steps is None:
            raise UnsupportedMedia(f"content-encoding must be of {', '.join(DECODERS)}, not {encoding[:100]!r}")
        with self.admission.request() as ticket:
            body = await _body(headers, receive, ticket)
            self.ingest.metrics.in_flight.set(self.admission.in_flight)
            if steps:
                body = await _maybe_threaded(len(body), undo, body, ticket, steps)
            if content_type == PROTOBUF:
                receipt = await self.ingest.accept(principal.account_id, service.signal, body)
                return 200, service.answer(receipt).SerializeToString()
            wire, refusals = await _maybe_threaded(len(body), to_protobuf, service.request.DESCRIPTOR, body)
            receipt = await self.ingest.accept(principal.account_id, service.signal, wire, refusals)
            return 200, orjson.dumps(_json_answer(service, receipt))


def _headers(pairs: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}
    if len(headers) < len(pairs):  # a list may come as several lines of one name (RFC 9110, section 5.3)
        said = [value.decode("latin-1") for name, value in pairs if name == b"content-encoding"]
        if said:
            headers["content-encoding"] = ", ".join(said)
    return headers


def _json_answer(service: Service, receipt: Receipt) -> dict[str, Any]:
    answer = to_json(service.answer(receipt))
    if service.signal is Signal.TRACES:  # what the published client reads of an answer
        answer |= {"datasetId": receipt.dataset_id, "dataset": receipt.dataset, "rows": receipt.accepted}
    return answer


async def _maybe_threaded(size: int, function: Callable[..., Any], *arguments: Any) -> Any:
    if size <= INLINE_BYTES:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)


async def _body(headers: dict[str, str], receive: Receive, ticket: Ticket) -> bytes:
    """The whole body; refused as soon as it is announced, or grows, beyond the limit."""
    announced = headers.get("content-length", "")
    if announced.isdecimal():
        ticket.check(int(announced))
    parts: list[bytes] = []
    total = 0
    ends_at = asyncio.get_running_loop().time() + BODY_SECONDS
    while True:
        try:  # the first part is there already, or nothing is held yet: no timer for it
            async with asyncio.timeout_at(ends_at if parts else None):
                message = await receive()
        except TimeoutError:
            raise TooSlow(f"the body was not whole after {BODY_SECONDS} seconds") from None
        if message["type"] == "http.disconnect":
            raise _Gone
        part = message.get("body", b"")
        total += len(part)
        ticket.check(total)
        ticket.grow(len(part))
        parts.append(part)
        if not message.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)


async def _fail(send: Send, content_type: str, fault: Fault, extra: dict[str, str]) -> None:
    """OTLP: the body of every error is a `google.rpc.Status` in the encoding of the request."""
    status = fault.status()
    body = status.SerializeToString() if content_type == PROTOBUF else orjson.dumps(MessageToDict(status))
    await _answer(send, fault.http, content_type, body, extra)


async def _answer(send: Send, status: int, content_type: str, body: bytes, extra: dict[str, str] | None = None) -> None:
    kind = PROTOBUF if content_type == PROTOBUF else JSON
    headers = {"content-type": kind, "content-length": str(len(body)), **(extra or {})}
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": body})
