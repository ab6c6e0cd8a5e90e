"""The steps of the ingest path, each alone on the real component.

A step is prepared with the requests and a folder of its own; what it gives back is timed, once a round.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client import CollectorRegistry

from whileai_dialects import Span, summarise
from whileai_ingest import Ingest, Signal, Store
from whileai_ingest.door import check_spans
from whileai_ingest.frames import SPAN_SCHEMA, split, stream
from whileai_ingest.journal import Journal
from whileai_ingest.migrations import migrate
from whileai_ingest.records import Kind

ACCOUNT = "bench"
JOURNAL_BYTES = 4 << 30

Requests = Sequence[bytes]
Round = Callable[[], None]


@contextmanager
def parse(requests: Requests, _folder: Path) -> Iterator[Round]:
    def once() -> None:
        for request in requests:
            ExportTraceServiceRequest.FromString(request)

    yield once


@contextmanager
def check_and_frame(requests: Requests, _folder: Path) -> Iterator[Round]:
    def once() -> None:
        _frames(requests)

    yield once


@contextmanager
def journal(requests: Requests, folder: Path) -> Iterator[Round]:
    frames = _frames(requests)
    opened = Journal(folder, max_bytes=JOURNAL_BYTES)

    def append(frame: bytes) -> Future[tuple[int, int]]:
        return opened.append(Kind.SPANS, ACCOUNT, 1, lambda _version: frame, len(frame))

    def once() -> None:
        for appended in [append(frame) for frame in frames]:
            appended.result()
        opened.advance(opened.durable)

    yield once
    opened.close()


@contextmanager
def read_frames(requests: Requests, _folder: Path) -> Iterator[Round]:
    frames = _frames(requests)

    def once() -> None:
        for payload in frames:
            for frame in split(payload):
                Span.from_frame(frame)

    yield once


@contextmanager
def summarise_runs(requests: Requests, _folder: Path) -> Iterator[Round]:
    frames = _frames(requests)

    def once() -> None:
        # Fresh spans each round: decoded attributes are remembered by the span.
        traces: dict[str, list[Span]] = defaultdict(list)
        for payload in frames:
            for frame in split(payload):
                span = Span.from_frame(frame)
                traces[span.trace_id].append(span)
        for spans in traces.values():
            summarise(spans)

    yield once


@contextmanager
def insert(requests: Requests, folder: Path) -> Iterator[Round]:
    block = b"".join(_frames(requests))
    store = Store(f"chdb://{folder / 'clickhouse'}")
    migrate(store)
    yield lambda: store.insert_frames("spans", SPAN_SCHEMA, block)
    store.close()


@contextmanager
def accept_and_write(requests: Requests, folder: Path) -> Iterator[Round]:
    store = Store(f"chdb://{folder / 'clickhouse'}")
    ingest = Ingest(folder / "journal", store, CollectorRegistry(), journal_max_bytes=JOURNAL_BYTES)
    ingest.start()

    async def accept() -> None:
        await asyncio.gather(*(ingest.accept(ACCOUNT, Signal.TRACES, request) for request in requests))

    def once() -> None:
        asyncio.run(accept())
        if not ingest.settle(timeout=300):
            raise RuntimeError(f"the writer did not catch up: {ingest.writer.problem}")

    yield once
    ingest.close()


def _frames(requests: Requests) -> list[bytes]:
    return [stream(check_spans(ACCOUNT, request).items, number << 20) for number, request in enumerate(requests, 1)]


# In the order of the way. chDB allows one data folder a process, so each step that opens it gets a process of its own.
STEPS = {
    "strict parse of the request": parse,
    "door: parse, check, frame": check_and_frame,
    "journal: append and fsync": journal,
    "writer: frames to spans": read_frames,
    "writer: frames to spans, summarised": summarise_runs,
    "ClickHouse: insert of frames": insert,
    "all of it: accept until it can be read": accept_and_write,
}
