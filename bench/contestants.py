"""The ways into ClickHouse that `make bench` compares, each with the real components.

A contestant is prepared once; what it gives back is called once a round, sends traces that were never sent before, and
returns the CPU seconds that its processes used until the last span could be read and nothing was left to do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import clickhouse_connect
import uvloop
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bench.cpu import Meter, Round, rounds
from bench.fresh import Request, Template
from bench.processes import clickhouse_front, no_op_server, service
from bench.sending import JSON, PROTOBUF, send_all, wait_until_read
from bench.steps import ACCOUNT
from whileai_ingest import Store
from whileai_ingest.door import check_spans
from whileai_ingest.frames import SPAN_SCHEMA, stream
from whileai_ingest.migrations import migrate

Originals = Sequence[bytes]
Contestant = Callable[[Originals, int, Path], AbstractContextManager[Round]]

SENDERS, SMALL_SENDERS = 8, 32
_COLUMNS = (
    "account, version, trace_id, span_id, parent_span_id, name, kind, start_time_unix_nano, end_time_unix_nano, "
    "attributes, resource, scope"
)
# The rows of one round as another round's: other traces, later arrivals, in the order in which they came.
_FRESH_ROWS = """
SELECT account, version + {round:UInt64} * 1000000000 AS version,
    lower(hex(sipHash128(trace_id, {round:UInt64}))) AS trace_id, * EXCEPT (account, version, trace_id)
FROM built ORDER BY built.version
"""


def fresh(templates: Sequence[Template], count: int) -> list[Request]:
    """That many requests, made of the templates in turn."""
    return [templates[number % len(templates)].fresh() for number in range(count)]


@contextmanager
def raw_limit(originals: Originals, count: int, folder: Path) -> Iterator[Round]:
    """Rows that are built already, in Native form: what the engine alone takes."""
    columns = _COLUMNS.split(", ")
    with _store(folder) as store:
        store.insert_frames("spans", SPAN_SCHEMA, _frames(originals[:count]))
        store.command(f"CREATE TABLE built ENGINE = Memory AS SELECT {_COLUMNS} FROM spans")
        client = clickhouse_connect.get_client(interface="chdb", path=str(folder / "clickhouse"))
        number = 0

        def build() -> bytes:
            nonlocal number
            number += 1
            return bytes(client.raw_query(_FRESH_ROWS, parameters={"round": number}, fmt="Native"))

        yield rounds(Meter(), build, lambda rows: client.raw_insert("spans", columns, rows, fmt="Native"))
        client.close()


@contextmanager
def decode_and_insert(originals: Originals, count: int, folder: Path) -> Iterator[Round]:
    """Door checks, frames, and ClickHouse's own decoding of them."""
    templates = [Template(one) for one in originals]
    with _store(folder) as store:

        def once(bodies: Sequence[bytes]) -> None:
            store.insert_frames("spans", SPAN_SCHEMA, _frames(bodies))

        yield rounds(Meter(), lambda: [one.body for one in fresh(templates, count)], once)


@contextmanager
def plain_way(originals: Originals, count: int, folder: Path) -> Iterator[Round]:
    """Parse, walk every attribute in Python, insert rows with the driver: what one writes first."""
    columns = _COLUMNS.split(", ")
    templates = [Template(one) for one in originals]
    with _store(folder) as store:

        def once(requests: Sequence[Request]) -> None:
            for request in requests:
                store.insert("spans", columns, list(_rows(request.body)))

        yield rounds(Meter(), lambda: fresh(templates, count), once)


@contextmanager
def end_to_end(
    originals: Originals, count: int, folder: Path, kind: str = PROTOBUF, senders: int = SENDERS
) -> Iterator[Round]:
    """Over HTTP into the running service, until the last acknowledged trace is answered by `GET /traces/{id}`."""
    templates = [Template(one, as_json=kind == JSON) for one in originals]
    with service(folder) as (url, pid):
        yield rounds(
            Meter(pid), lambda: fresh(templates, count), lambda requests: _send_and_read(url, requests, kind, senders)
        )


@contextmanager
def end_to_end_json(originals: Originals, count: int, folder: Path) -> Iterator[Round]:
    with end_to_end(originals, count, folder, JSON) as once:
        yield once


@contextmanager
def end_to_end_server(originals: Originals, count: int, folder: Path) -> Iterator[Round]:
    """The same into a ClickHouse over HTTP, whose CPU counts too: what Rotel is compared with."""
    templates = [Template(one) for one in originals]
    with (
        clickhouse_front(folder / "front") as (port, engine),
        service(folder, WHILEAI_CLICKHOUSE_URL=f"clickhouse://127.0.0.1:{port}/bench") as (url, pid),
    ):
        yield rounds(
            Meter(pid, engine), lambda: fresh(templates, count), lambda requests: _send_and_read(url, requests)
        )


@contextmanager
def small_end_to_end(originals: Originals, count: int, folder: Path) -> Iterator[Round]:
    with end_to_end(originals, count, folder, senders=SMALL_SENDERS) as once:
        yield once


@contextmanager
def no_op(originals: Originals, count: int, folder: Path) -> Iterator[Round]:
    """The same requests to an app that does nothing, on the server that the service runs on."""
    templates = [Template(one) for one in originals]
    with no_op_server(folder) as (url, pid):
        yield rounds(
            Meter(pid),
            lambda: [one.body for one in fresh(templates, count)],
            lambda bodies: uvloop.run(send_all(url, bodies, SMALL_SENDERS)),
            uncounted=lambda: None,
        )


@contextmanager
def acknowledged(originals: Originals, count: int, folder: Path) -> Iterator[Round]:
    """Over HTTP into the running service, until the last request is acknowledged, with what was written meanwhile."""
    templates = [Template(one) for one in originals]
    with service(folder) as (url, pid):
        last = ""

        def send(requests: Sequence[Request]) -> None:
            nonlocal last
            last = requests[_send(url, requests, PROTOBUF, SMALL_SENDERS)].last_trace

        yield rounds(
            Meter(pid),
            lambda: fresh(templates, count),
            send,
            uncounted=lambda: uvloop.run(wait_until_read(url, last)),
        )


def _send(url: str, requests: Sequence[Request], kind: str, senders: int) -> int:
    return uvloop.run(send_all(url, [request.body for request in requests], senders, kind))


def _send_and_read(url: str, requests: Sequence[Request], kind: str = PROTOBUF, senders: int = SENDERS) -> None:
    last = _send(url, requests, kind, senders)
    uvloop.run(wait_until_read(url, requests[last].last_trace))


def _frames(bodies: Sequence[bytes]) -> bytes:
    version = time.time_ns()
    checked = (check_spans(ACCOUNT, body).items for body in bodies)
    return b"".join(stream(items, version + number * 1000) for number, items in enumerate(checked))


def _rows(request: bytes) -> Iterator[list[object]]:
    for of_resource in ExportTraceServiceRequest.FromString(request).resource_spans:
        resource = of_resource.resource.SerializeToString()
        for of_scope in of_resource.scope_spans:
            scope = of_scope.scope.SerializeToString()
            for version, span in enumerate(of_scope.spans, time.time_ns()):
                attributes = {pair.key: pair.value.SerializeToString() for pair in span.attributes}
                ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
                times = (span.start_time_unix_nano, span.end_time_unix_nano)
                yield [ACCOUNT, version, *ids, span.name, span.kind, *times, attributes, resource, scope]


@contextmanager
def _store(folder: Path) -> Iterator[Store]:
    store = Store(f"chdb://{folder / 'clickhouse'}")
    migrate(store)
    yield store
    store.close()
