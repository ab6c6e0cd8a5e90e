"""The composition root: opens the stores, starts journal, writer and both servers, and takes them down in order."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import grpc
import structlog
import uvicorn
import uvloop
from prometheus_client import CollectorRegistry

from whileai_collector import BY_PATH, Admission, OtlpHttp, bind, create_grpc_server
from whileai_ingest import Ingest, IngestError, Store, StoreOptions
from whileai_query import HUGGING_FACE, Objects, Services, create_api, sweep
from whileai_registry import Registry, RegistryError, Signer, Vault
from whileai_registry.keycache import KeyCache
from whileai_server import credentials, folder, logs, ports
from whileai_server.app import App, compose, nothing_here
from whileai_server.backup import engine_folder
from whileai_server.bounded_http import BoundedHttp
from whileai_server.errors import StartError
from whileai_server.operations import Operations
from whileai_server.retention import apply_retention
from whileai_server.settings import Role, Settings
from whileai_server.snapshot import Snapshots

log = structlog.get_logger("server")

# Requests under way get this long at a stop; the writer's drain has its own bound after it.
GRACE_SECONDS = 4


@dataclass(slots=True)
class Service:
    """One running process: its two doors, and what it says when they are open. A query process has no gRPC door."""

    http_socket: socket.socket
    grpc_server: grpc.aio.Server | None
    app: App
    ready_line: str
    chores: Sequence[Callable[[], object]]


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then drain. Raises `StartError`."""
    logs.configure(settings.log_level)
    # The writer keeps many thousand spans, none of them in cycles: by default the collector would walk them all day.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    uvloop.run(_serve(settings))
    # chDB's threads may still be winding down; what matters is closed.
    sys.stdout.flush()
    sys.stderr.flush()


async def _serve(settings: Settings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    with contextlib.ExitStack() as undo:
        service = await _open(settings, undo)
        server = _HttpServer(
            uvicorn.Config(
                service.app,
                http=BoundedHttp,
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                timeout_keep_alive=75,
                timeout_graceful_shutdown=GRACE_SECONDS,
                server_header=False,
            )
        )
        http = asyncio.create_task(server.serve(sockets=[service.http_socket]))
        if service.grpc_server is not None:
            await service.grpc_server.start()
        while not server.started and not http.done():
            await asyncio.sleep(0.01)
        if http.done():
            http.result()
            raise StartError("the HTTP server stopped while it was starting")
        print(service.ready_line, flush=True)
        stopped = asyncio.create_task(stop.wait())
        tidying = asyncio.create_task(_tidy_hourly(service.chores))
        await asyncio.wait({http, stopped}, return_when=asyncio.FIRST_COMPLETED)
        tidying.cancel()
        log.info("stopping")
        server.should_exit = True
        if service.grpc_server is not None:
            await service.grpc_server.stop(GRACE_SECONDS)
        await http
    log.info("stopped")


async def _open(settings: Settings, undo: contextlib.ExitStack) -> Service:
    """Everything up to the ready line; `undo` takes it down again, last opened first."""
    if settings.role is not Role.ALL:
        _check_shared(settings)
    lock = folder.hold(settings.data_folder)
    undo.callback(os.close, lock)
    http_socket = ports.listen(settings.host, settings.http_port)
    undo.callback(http_socket.close)
    http_address = ports.shown(settings.host, http_socket.getsockname()[1])
    folder.sign(lock, f"http://{http_address}")

    registry = Registry(settings.registry_url)
    undo.callback(registry.close)
    counters = CollectorRegistry()
    store = Store(settings.store_url, StoreOptions(settings.clickhouse_cluster, settings.clickhouse_replicated))
    try:
        registry.migrate()
        first = registry.bootstrap(settings.bootstrap_key)
        secret = folder.secret(settings.data_folder, settings.secret_key)
        if settings.role is not Role.COLLECTOR:
            _fail_interrupted(settings, registry)
        ingest = Ingest(
            settings.data_folder / "journal",
            store,
            counters,
            journal_max_bytes=settings.journal_max_bytes,
            run_quiet_seconds=settings.run_quiet_seconds,
            shared=settings.role is not Role.ALL,
        )
        undo.callback(_drain, ingest)
        ingest.start()
        apply_retention(store, settings.retention_days)
    except (RegistryError, IngestError) as error:
        raise StartError(str(error)) from error

    local = settings.public_url or f"http://{_reachable(http_address)}"
    if first.api_key:
        credentials.write_first(settings.data_folder, settings.home_folder, first.api_key, local)
    else:
        credentials.follow_address(settings.data_folder, settings.home_folder, local)

    snapshots = Snapshots(settings.data_folder, engine_folder(settings), store, Signer(secret))
    snapshots.clear()
    routes = {**Operations(ingest, registry, counters).routes(), **snapshots.routes()}
    grpc_server, grpc_address, otherwise = None, "none", nothing_here
    if settings.role is not Role.QUERY:
        keys = KeyCache(registry.authenticate)
        admission = Admission(settings.max_request_bytes, settings.max_in_flight_bytes)
        routes |= dict.fromkeys(BY_PATH, OtlpHttp(ingest, keys, admission))
        grpc_server = create_grpc_server(ingest, keys, admission)
        grpc_address = ports.shown(settings.host, _bind_grpc(grpc_server, settings))
    chores: list[Callable[[], object]] = [registry.tidy]
    if settings.role is not Role.COLLECTOR:
        services = _services(settings, ingest, registry, secret)
        otherwise = create_api(services)
        chores.append(partial(sweep, services))
    ready = f"ready http://{http_address} grpc {grpc_address}"
    return Service(http_socket, grpc_server, compose(routes, otherwise), ready, chores)


def _check_shared(settings: Settings) -> None:
    """A part of a split service stands on stores that its other parts reach too."""
    given = {
        "WHILEAI_CLICKHOUSE_URL": (settings.clickhouse_url or "").startswith("clickhouse"),
        "WHILEAI_RECORDS_URL": bool(settings.records_url),
    }
    missing = [name for name, is_given in given.items() if not is_given]
    if missing:
        raise StartError(f"--role {settings.role} needs stores that all parts share: set {' and '.join(missing)}")


def _services(settings: Settings, ingest: Ingest, registry: Registry, secret: bytes) -> Services:
    return Services(
        ingest=ingest,
        registry=registry,
        objects=Objects(settings.object_store_url),
        signer=Signer(secret),
        vault=Vault(secret),
        public_url=settings.public_url,
        run_quiet_seconds=settings.run_quiet_seconds,
        clock=time.time_ns,
        smtp_url=settings.smtp_url,
        hub_url=os.environ.get("HF_ENDPOINT") or HUGGING_FACE,
    )


def _fail_interrupted(settings: Settings, registry: Registry) -> None:
    """Imports and pushes die with their process. Where others may run some, only very old ones are surely dead."""
    before = None if settings.role is Role.ALL else datetime.now(UTC) - timedelta(days=1)
    count = registry.datasets.fail_interrupted("the service stopped meanwhile; run it again", before)
    if count:
        log.warning("imports or pushes were interrupted", count=count)


def _bind_grpc(server: grpc.aio.Server, settings: Settings) -> int:
    address = ports.shown(settings.host, settings.grpc_port)
    try:
        return bind(server, address, settings.grpc_tls_certificate, settings.grpc_tls_key)
    except (RuntimeError, OSError) as error:
        raise ports.taken(settings.host, settings.grpc_port, error) from None


async def _tidy_hourly(chores: Sequence[Callable[[], object]]) -> None:
    """Expired codes, sessions, grants and uploads go; a store that is away is asked again in an hour."""
    while True:
        for chore in chores:
            with contextlib.suppress(RegistryError, OSError):
                await asyncio.to_thread(chore)
        await asyncio.sleep(3600)


def _drain(ingest: Ingest) -> None:
    if not ingest.close():
        log.warning("ClickHouse did not take everything in time; the journal keeps the rest for the next start")


def _reachable(address: str) -> str:
    """An address a client on this machine can use when the server listens on all of them."""
    host, _, port = address.rpartition(":")
    return f"127.0.0.1:{port}" if host in ("0.0.0.0", "[::]") else address


class _HttpServer(uvicorn.Server):
    """uvicorn without its signal handling, which re-raises the signal and exits 143."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
