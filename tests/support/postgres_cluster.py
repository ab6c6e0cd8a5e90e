"""A private PostgreSQL for the tests: its own folder, its own socket, no port, gone when the session ends."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

_INSTALLED = Path("/usr/lib/postgresql")
_UNSAFE_BUT_FAST = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=32MB"


@dataclass(frozen=True)
class Cluster:
    folder: Path

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def run(self, statement: str) -> None:
        with psycopg.connect(f"host={self.folder} user=postgres dbname=postgres", autocommit=True) as connection:
            connection.execute(statement.encode())

    def create(self) -> None:
        self._program("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' {_UNSAFE_BUT_FAST}"
        self._program("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        self._program("pg_ctl", "-w", "-m", "fast", "stop")

    def _program(self, name: str, *arguments: str) -> None:
        as_owner = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*as_owner, str(binaries() / name), "-D", str(self.folder / "data"), *arguments]
        # Not a pipe: the server inherits it and would keep it open for ever.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(command, cwd=self.folder, stdout=output, stderr=subprocess.STDOUT, check=False)
            output.seek(0)
            assert done.returncode == 0, f"{name} failed: {output.read()}"


def binaries() -> Path:
    found = sorted(_INSTALLED.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    if on_path is None:
        raise RuntimeError("PostgreSQL is not installed, and the records are tested on it; run `make setup` first")
    return Path(on_path).resolve().parent


@contextmanager
def cluster() -> Iterator[Cluster]:
    binaries()
    folder = Path(tempfile.mkdtemp(prefix="whileai-pg-"))
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, "postgres")
    made = Cluster(folder)
    try:
        made.create()
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder)
