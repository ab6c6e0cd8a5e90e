"""Rotel, a collector written in Rust, in front of the same engine: what others take for the same spans.

It comes from PyPI into an environment of its own when it is first measured, and writes the table that its exporter
expects through ClickHouse's HTTP interface. It acknowledges what it holds in memory; nothing is on disk by then.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import clickhouse_connect
import uvloop

from bench.contestants import SENDERS, Originals, fresh
from bench.cpu import Meter, Round, rounds
from bench.fresh import Request, Template
from bench.processes import ROOT, clickhouse_front, free_port, process, wait_for_port
from bench.sending import send_all

VERSION = "0.0.1a15"
ENVIRONMENT = ROOT / ".venvs" / "rotel"
LOOK_SECONDS, LONGEST_SECONDS = 0.05, 120.0

# The OpenTelemetry exporter's table for ClickHouse, with the skip indexes that Rotel's own DDL tool gives it.
_STRINGS = "Map(LowCardinality(String), String)"
TABLE = f"""
CREATE TABLE otel.otel_traces (
    Timestamp DateTime64(9) CODEC(Delta, ZSTD(1)),
    TraceId String CODEC(ZSTD(1)), SpanId String CODEC(ZSTD(1)), ParentSpanId String CODEC(ZSTD(1)),
    TraceState String CODEC(ZSTD(1)),
    SpanName LowCardinality(String) CODEC(ZSTD(1)), SpanKind LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)), ResourceAttributes {_STRINGS} CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)), ScopeVersion String CODEC(ZSTD(1)),
    SpanAttributes {_STRINGS} CODEC(ZSTD(1)), Duration UInt64 CODEC(ZSTD(1)),
    StatusCode LowCardinality(String) CODEC(ZSTD(1)), StatusMessage String CODEC(ZSTD(1)),
    Events Nested (Timestamp DateTime64(9), Name LowCardinality(String), Attributes {_STRINGS}) CODEC(ZSTD(1)),
    Links Nested (TraceId String, SpanId String, TraceState String, Attributes {_STRINGS}) CODEC(ZSTD(1)),
    INDEX by_trace TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX by_resource_key mapKeys(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_resource_value mapValues(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_key mapKeys(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_value mapValues(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_duration Duration TYPE minmax GRANULARITY 1
) ENGINE = MergeTree PARTITION BY toDate(Timestamp) ORDER BY (ServiceName, SpanName, toDateTime(Timestamp))
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
"""
# And what finds a trace by its id there.
TIMES = """
CREATE TABLE otel.otel_traces_trace_id_ts (
    TraceId String CODEC(ZSTD(1)), Start DateTime CODEC(Delta, ZSTD(1)), End DateTime CODEC(Delta, ZSTD(1)),
    INDEX by_trace TraceId TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = MergeTree PARTITION BY toDate(Start) ORDER BY (TraceId, Start)
"""
FILL_TIMES = """
CREATE MATERIALIZED VIEW otel.otel_traces_trace_id_ts_mv TO otel.otel_traces_trace_id_ts AS
SELECT TraceId, min(Timestamp) AS Start, max(Timestamp) AS End
FROM otel.otel_traces WHERE TraceId != '' GROUP BY TraceId
"""


class NotHere(Exception):
    """Rotel cannot be had on this machine."""


def program() -> Path:
    """Rotel's binary, installed when it is not there yet. Raises `NotHere`."""
    python = ENVIRONMENT / "bin" / "python"
    commands = [
        [sys.executable, "-m", "venv", str(ENVIRONMENT)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"rotel=={VERSION}"],
    ]
    if not (found := _binary()):
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise NotHere(" ".join((done.stderr.strip() or "it could not be installed").splitlines()[-1:]))
        found = _binary()
    if not found:
        raise NotHere("the package has no binary for this machine")
    return found


def _binary() -> Path | None:
    return next((ENVIRONMENT / "lib").glob("python*/site-packages/rotel/rotel-agent"), None)


@contextmanager
def rotel(originals: Originals, count: int, folder: Path) -> Iterator[Round]:
    """Over HTTP into Rotel, until ClickHouse counts every span of the round."""
    templates = [Template(one) for one in originals]
    with clickhouse_front(folder / "front") as (port, engine):
        _create(port)
        listening = free_port()
        options = {
            "--otlp-http-endpoint": f"127.0.0.1:{listening}",
            "--otlp-grpc-endpoint": f"127.0.0.1:{free_port()}",
            "--exporter": "clickhouse",
            "--clickhouse-exporter-endpoint": f"http://127.0.0.1:{port}",
            # Plain bodies as the service sends them: over loopback, packing them would only cost both sides.
            "--clickhouse-exporter-compression": "none",
            "--clickhouse-exporter-async-insert": "false",
            "--pid-file": str(folder / "rotel.pid"),
        }
        command = [str(program()), "start", *(part for option in options.items() for part in option)]
        with (
            process(command, folder) as started,
            closing(clickhouse_connect.get_client(host="127.0.0.1", port=port)) as reader,
        ):
            wait_for_port(listening)

            def rows() -> int:
                return int(str(reader.command("SELECT count() FROM otel.otel_traces")))

            spans = 0

            def prepare() -> Sequence[Request]:
                nonlocal spans
                spans = rows()
                return fresh(templates, count)

            def once(requests: Sequence[Request]) -> None:
                uvloop.run(send_all(f"http://127.0.0.1:{listening}", [one.body for one in requests], SENDERS))
                wanted, until = spans + sum(one.spans for one in requests), time.monotonic() + LONGEST_SECONDS
                while rows() < wanted:
                    if time.monotonic() > until:
                        raise RuntimeError(f"{wanted - rows()} spans did not arrive: {folder / 'stderr.log'}")
                    time.sleep(LOOK_SECONDS)

            yield rounds(Meter(started.pid, engine), prepare, once)


def _create(port: int) -> None:
    with closing(clickhouse_connect.get_client(host="127.0.0.1", port=port)) as client:
        for statement in ("CREATE DATABASE otel", TABLE, TIMES, FILL_TIMES):
            client.command(statement)
