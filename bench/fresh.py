"""The same requests with trace ids that were never sent: what a round needs, made outside of what is measured.

A request that is sent twice is a resend: the service looks the old copies up and ClickHouse merges them away. So every
round gets its own traces. Only the bytes of the ids are written over, which costs a millisecond a request.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import orjson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from whileai_ingest.otlp_json import to_json

_SPELLINGS: dict[bool, Callable[[bytes], bytes]] = {False: bytes, True: lambda identity: identity.hex().encode()}


@dataclass(frozen=True, slots=True)
class Request:
    """One body to send, the id of the last trace in it as the API takes it, and how many spans it has."""

    body: bytes
    last_trace: str
    spans: int


class Template:
    """One request, in protobuf form or as JSON, that gives any number of requests of other traces."""

    def __init__(self, request: bytes, *, as_json: bool = False) -> None:
        parsed = ExportTraceServiceRequest.FromString(request)
        self._spelled = _SPELLINGS[as_json]
        self._body = orjson.dumps(to_json(parsed)) if as_json else request
        spans = [span for resource in parsed.resource_spans for scope in resource.scope_spans for span in scope.spans]
        self._last = spans[-1].trace_id
        self._spans = len(spans)
        self._places = {span.trace_id: self._find(self._spelled(span.trace_id)) for span in spans}

    def _find(self, spelled: bytes) -> list[int]:
        places = []
        place = self._body.find(spelled)
        while place >= 0:
            places.append(place)
            place = self._body.find(spelled, place + len(spelled))
        return places

    def fresh(self) -> Request:
        """The request with random trace ids."""
        body = bytearray(self._body)
        last = b""
        for before, places in self._places.items():
            identity = os.urandom(16)
            spelled = self._spelled(identity)
            for place in places:
                body[place : place + len(spelled)] = spelled
            if before == self._last:
                last = identity
        return Request(bytes(body), last.hex(), self._spans)
