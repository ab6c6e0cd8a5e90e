"""A ClickHouse over HTTP: the one of `WHILEAI_TEST_CLICKHOUSE_URL`, else the front over an embedded engine."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from support import clickhouse_front


@contextmanager
def clickhouse_port(folder: Path) -> Iterator[int]:
    """The HTTP port on loopback of a ClickHouse."""
    given = os.environ.get("WHILEAI_TEST_CLICKHOUSE_URL")
    if given:
        yield urlsplit(given).port or 8123
        return
    front = subprocess.Popen(
        [sys.executable, str(Path(clickhouse_front.__file__)), str(folder / "front"), "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert front.stdout is not None
    try:
        yield int(front.stdout.readline().removeprefix("ready "))
    finally:
        front.kill()
        front.wait(10)
        front.stdout.close()


def database_url(port: int) -> str:
    """A database of its own on that ClickHouse."""
    given = urlsplit(os.environ.get("WHILEAI_TEST_CLICKHOUSE_URL", ""))
    user = f"{given.username}:{given.password or ''}@" if given.username else ""
    return f"clickhouse://{user}127.0.0.1:{port}/test_{uuid.uuid4().hex[:8]}"
