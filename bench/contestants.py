"""The ways into the same typed table that `make bench` compares, each with the real components.

A contestant is prepared once with its requests; what it gives back is called once a round and returns the CPU seconds
that its processes used until the last span could be read.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import clickhouse_connect
import httpx
import orjson
import psutil
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.types import Receive, Scope, Send

from bench.steps import ACCOUNT
from whileai_ingest import Store
from whileai_ingest.door import check_spans
from whileai_ingest.frames import SPAN_SCHEMA, stream
from whileai_ingest.migrations import migrate
from whileai_ingest.otlp_json import to_json

Requests = Sequence[bytes]
Round = Callable[[], float]

KEY = "zp_bench_key_0123456789abcdef"
SENDERS = 8
_COLUMNS = (
    "account, version, trace_id, span_id, parent_span_id, name, kind, start_time_unix_nano, end_time_unix_nano, "
    "attributes, resource, scope"
)


@contextmanager
def raw_limit(requests: Requests, folder: Path) -> Iterator[Round]:
    """Rows that are built already, in Native form: what the engine alone takes."""
    with _store(folder) as store:
        store.insert_frames("spans", SPAN_SCHEMA, _frames(requests))
        client = clickhouse_connect.get_client(interface="chdb", path=str(folder / "clickhouse"))
        rows = client.raw_query(f"SELECT {_COLUMNS} FROM spans", fmt="Native")
        columns = _COLUMNS.split(", ")

        def once() -> None:
            client.raw_insert("spans", columns, rows, fmt="Native")

        yield _own_cpu(once)
        client.close()


@contextmanager
def decode_and_insert(requests: Requests, folder: Path) -> Iterator[Round]:
    """Door checks, frames, and ClickHouse's own decoding of them."""
    with _store(folder) as store:
        yield _own_cpu(lambda: store.insert_frames("spans", SPAN_SCHEMA, _frames(requests)))


@contextmanager
def plain_way(requests: Requests, folder: Path) -> Iterator[Round]:
    """Parse, walk every attribute in Python, insert rows with the driver: what one writes first."""
    columns = _COLUMNS.split(", ")
    with _store(folder) as store:

        def once() -> None:
            for request in requests:
                store.insert("spans", columns, list(_rows(request)))

        yield _own_cpu(once)


@contextmanager
def end_to_end(requests: Requests, folder: Path, kind: str = "application/x-protobuf") -> Iterator[Round]:
    """Over HTTP into the running service, until the last trace is answered by `GET /traces/{id}`."""
    with _service(folder) as (url, process):
        bodies = list(requests)
        if kind == "application/json":
            bodies = [_as_json(request) for request in bodies]
        last = [_last_trace(request) for request in requests]

        def once() -> float:
            before = _cpu_of(process)
            asyncio.run(_post(url, bodies, kind))
            with httpx.Client(base_url=url, headers={"x-api-key": KEY}, timeout=300) as client:
                for trace_id in last:
                    client.get(f"/traces/{trace_id}", params={"spans": "0"}).raise_for_status()
            return _cpu_of(process) - before

        yield once


@contextmanager
def end_to_end_json(requests: Requests, folder: Path) -> Iterator[Round]:
    with end_to_end(requests, folder, "application/json") as once:
        yield once


@contextmanager
def asgi_no_op(requests: Requests, _folder: Path) -> Iterator[Round]:
    """A raw ASGI app on the same server that reads the body and answers: what the server alone takes."""
    port = _free_port()
    server = ["-m", "uvicorn", "bench.contestants:no_op", "--port", str(port), "--log-level", "error"]
    process = subprocess.Popen([sys.executable, *server])
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url)

        def once() -> float:
            before = _cpu_of(process)
            asyncio.run(_post(url, requests, "application/x-protobuf"))
            return _cpu_of(process) - before

        yield once
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def acknowledged(requests: Requests, folder: Path) -> Iterator[Round]:
    """Over HTTP into the running service, until each request is acknowledged."""
    with _service(folder) as (url, process):

        def once() -> float:
            before = _cpu_of(process)
            asyncio.run(_post(url, requests, "application/x-protobuf"))
            return _cpu_of(process) - before

        yield once


async def no_op(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def _own_cpu(once: Callable[[], None]) -> Round:
    def measured() -> float:
        before = time.process_time()
        once()
        return time.process_time() - before

    return measured


def _frames(requests: Requests) -> bytes:
    version = time.time_ns()
    checked = (check_spans(ACCOUNT, request).items for request in requests)
    return b"".join(stream(items, version + number * 1000) for number, items in enumerate(checked))


def _rows(request: bytes) -> Iterator[list[object]]:
    for of_resource in ExportTraceServiceRequest.FromString(request).resource_spans:
        resource = of_resource.resource.SerializeToString()
        for of_scope in of_resource.scope_spans:
            scope = of_scope.scope.SerializeToString()
            for number, span in enumerate(of_scope.spans, time.time_ns()):
                attributes = {pair.key: pair.value.SerializeToString() for pair in span.attributes}
                ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
                times = (span.start_time_unix_nano, span.end_time_unix_nano)
                yield [ACCOUNT, number, *ids, span.name, span.kind, *times, attributes, resource, scope]


def _last_trace(request: bytes) -> str:
    return ExportTraceServiceRequest.FromString(request).resource_spans[-1].scope_spans[-1].spans[-1].trace_id.hex()


def _as_json(request: bytes) -> bytes:
    return orjson.dumps(to_json(ExportTraceServiceRequest.FromString(request)))


async def _post(url: str, bodies: Requests, kind: str) -> None:
    headers = {"x-api-key": KEY, "content-type": kind}
    waiting = iter(bodies)

    async def sender(client: httpx.AsyncClient) -> None:
        for body in waiting:
            while (answer := await client.post("/v1/traces", content=body)).status_code == 503:
                await asyncio.sleep(0.1)
            answer.raise_for_status()

    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=300) as client:
        await asyncio.gather(*(sender(client) for _ in range(SENDERS)))


@contextmanager
def _store(folder: Path) -> Iterator[Store]:
    store = Store(f"chdb://{folder / 'clickhouse'}")
    migrate(store)
    yield store
    store.close()


@contextmanager
def _service(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    environment = os.environ | {"WHILEAI_HOME": str(folder / "home"), "WHILEAI_BOOTSTRAP_KEY": KEY}
    command = [str(Path(sys.executable).with_name("whileai")), "serve", "--http-port", "0", "--grpc-port", "0"]
    process = subprocess.Popen(
        [*command, "--data", str(folder / "data")], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[1], process
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def _cpu_of(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> float:
    used = psutil.Process(process.pid).cpu_times()
    return float(used.user + used.system)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _wait_for(url: str) -> None:
    for _ in range(200):
        try:
            httpx.post(url, content=b"")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"nothing answers at {url}")


Contestant = Callable[[Requests, Path], AbstractContextManager[Round]]
# Spans per CPU second of 512-span requests …
WAYS_IN: dict[str, Contestant] = {
    "raw limit": raw_limit,
    "decode + insert": decode_and_insert,
    "end to end": end_to_end,
    "end to end, JSON": end_to_end_json,
    "plain way": plain_way,
}
# … and requests per CPU second of six-span ones, acknowledged durable.
SMALL_REQUESTS: dict[str, Contestant] = {"no-op": asgi_no_op, "acknowledged": acknowledged}
