"""An account of its own on the real API: the application, the writer, the stores; only the network is missing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span
from starlette.testclient import TestClient
from support import otlp

from whileai_ingest import Ingest, Signal
from whileai_query import Services

MINUTE = 60 * otlp.SECOND


@dataclass
class Clock:
    """The service's clock, which a test may set forward."""

    ahead: int = 0

    def __call__(self) -> int:
        return time.time_ns() + self.ahead


@dataclass
class Caller:
    """One account: what it sends, and what it is told."""

    client: TestClient
    services: Services
    clock: Clock
    account: str
    key: str
    trace_ids: list[str] = field(default_factory=list)

    @property
    def ingest(self) -> Ingest:
        return self.services.ingest

    def send(self, body: bytes, signal: Signal = Signal.TRACES) -> None:
        asyncio.run(self.ingest.accept(self.account, signal, body))

    def send_spans(self, spans: Sequence[Span], resource: Mapping[str, object] | None = None) -> None:
        self.send(otlp.traces(spans, resource))

    def run(self, **told: Any) -> str:
        """One run of an agent; its trace id."""
        trace_id = otlp.new_trace_id()
        self.send_spans(otlp.chat_run(trace_id, **told))
        return trace_id

    def task(self, scenario: str, rewards: Iterable[float | None], **told: Any) -> list[str]:
        """Runs of one scenario with these rewards, oldest first; None is an ungraded one."""
        begun = time.time_ns() - MINUTE
        ids = []
        spans: list[Span] = []
        for number, reward in enumerate(rewards):
            ids.append(otlp.new_trace_id())
            start = begun + number * otlp.SECOND
            fields = {"prompt": f"How do I {scenario}?", "start": start, **told}
            spans += otlp.chat_run(ids[-1], scenario=scenario, reward=reward, **fields)
        self.send_spans(spans)
        return ids

    def request(self, method: str, path: str, **options: Any) -> Any:
        headers = {"x-api-key": self.key, **options.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **options)

    def get(self, path: str, **params: Any) -> Any:
        """The JSON of a successful GET."""
        answer = self.request("GET", path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any = None) -> Any:
        """The JSON of a successful POST."""
        answer = self.request("POST", path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def refused(self, method: str, path: str, **options: Any) -> tuple[int, str]:
        """Status and message of a request that must fail, checked for the one shape of errors."""
        answer = self.request(method, path, **options)
        assert not answer.is_success, answer.text
        assert len(answer.content) < 400
        assert list(answer.json()) == ["error"]
        return answer.status_code, answer.json()["error"]

    def pages(self, path: str, rows: str, **params: Any) -> Iterator[list[Any]]:
        """Page after page of a list."""
        cursor: dict[str, str] = {}
        while True:
            page = self.get(path, **params, **cursor)
            yield page[rows]
            if page["next"] is None:
                return
            cursor = {"cursor": page["next"]}
