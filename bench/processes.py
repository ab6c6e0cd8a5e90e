"""The processes that `make bench` measures: the service, a ClickHouse over HTTP, a no-op on the same server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from bench.sending import KEY

ROOT = Path(__file__).resolve().parents[1]
FRONT = ROOT / "tests" / "support" / "clickhouse_front.py"
START_SECONDS = 60


@contextmanager
def process(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A process until the block ends; what it says on stderr goes to a file in its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("WHILEAI_", "OTEL_"))}
    with (folder / "stderr.log").open("ab") as errors:
        started = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, env={**inherited, **(environment or {})}, text=True
        )
    assert started.stdout is not None
    try:
        yield started
    finally:
        started.terminate()
        started.wait(60)
        started.stdout.close()


@contextmanager
def service(folder: Path, **settings: str) -> Iterator[tuple[str, int]]:
    """`whileai serve` as it is installed beside this Python: its address and its process."""
    environment = {"WHILEAI_HOME": str(folder / "home"), "WHILEAI_BOOTSTRAP_KEY": KEY, **settings}
    whileai = str(Path(sys.executable).with_name("whileai"))
    ports = ["--http-port", "0", "--grpc-port", "0"]
    with process([whileai, "serve", "--data", str(folder / "data"), *ports], folder, environment) as started:
        yield _said(started, folder).split()[1], started.pid


@contextmanager
def clickhouse_front(folder: Path) -> Iterator[tuple[int, int]]:
    """An embedded engine behind ClickHouse's HTTP interface, as the tests have it: its port and its process."""
    with process([sys.executable, str(FRONT), str(folder / "engine"), "0"], folder) as started:
        yield int(_said(started, folder).removeprefix("ready ")), started.pid


@contextmanager
def no_op_server(folder: Path) -> Iterator[tuple[str, int]]:
    """The server that the service runs on, with an app that reads the body and answers."""
    port = free_port()
    options = ["--port", str(port), "--log-level", "error"]
    with process([sys.executable, "-m", "uvicorn", "bench.no_op:app", *options], folder) as started:
        wait_for_port(port)
        yield f"http://127.0.0.1:{port}", started.pid


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def wait_for_port(port: int) -> None:
    until = monotonic() + START_SECONDS
    while monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            sleep(0.05)
        else:
            return
    raise RuntimeError(f"nothing answers on port {port}")


def _said(started: subprocess.Popen[str], folder: Path) -> str:
    assert started.stdout is not None
    line = started.stdout.readline()
    if not line.startswith("ready "):
        raise RuntimeError(f"it did not start: {(folder / 'stderr.log').read_text()[-2000:]}")
    return line
