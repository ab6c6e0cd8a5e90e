"""A small folder of requests that could not be sent, to be sent by this process or a later one.

One gzip file a request, written whole or not at all, readable by its owner alone. The folder is bounded: the oldest
make room. The same request sent twice is harmless, because the service knows a span by its ids.
"""

import gzip
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whileai_instrumentation.signals import Signal
from whileai_instrumentation.warnings_once import warn

MOST_BYTES = 64 * 1024 * 1024  # some hours of a busy agent, and no burden to a laptop's disk
SUFFIX = ".otlp.gz"
PARTIAL = ".partial"
PARTIAL_SECONDS = 3600  # a half-written file that old belongs to a process that died

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: two processes may send one file twice, which changes nothing
    fcntl = None


class Spool:
    """Requests on disk, oldest first."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._number = 0

    def keep(self, signal: Signal, body: bytes) -> bool:
        """Write a request down; False when the disk will not have it."""
        packed = gzip.compress(body, compresslevel=1)
        if len(packed) > self._most_bytes:
            return False
        self._number += 1
        name = f"{time.time_ns():020d}-{os.getpid()}-{self._number}.{signal.value}{SUFFIX}"
        partial = self._folder / (name + PARTIAL)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._make_room(len(packed))
            with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(packed)
            os.replace(partial, self._folder / name)
        except OSError as problem:
            warn("spool", "spans cannot be kept in %s (%s)", self._folder, problem.strerror or problem)
            return False
        return True

    def waiting(self) -> bool:
        """Whether anything is there to be sent."""
        return bool(self._files())

    def resend(self, send: Callable[[Signal, bytes], bool]) -> None:
        """Offer each request to `send`, oldest first, until it says that it is no use to go on.

        A request that was offered and not declined is taken away. One process at a time does this.
        """
        with self._alone() as alone:
            if not alone:
                return
            for path in self._files():
                try:
                    signal, body = Signal(path.name.split(".")[1]), gzip.decompress(path.read_bytes())
                except FileNotFoundError:
                    continue
                except (OSError, EOFError, ValueError):
                    warn("spool", "%s cannot be read and is removed", path)
                    path.unlink(missing_ok=True)
                    continue
                if not send(signal, body):
                    return
                path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        try:
            return sorted(path for path in self._folder.iterdir() if path.name.endswith(SUFFIX))
        except OSError:
            return []

    def _make_room(self, coming: int) -> None:
        for path in self._folder.glob(f"*{PARTIAL}"):
            if time.time() - _stat(path, "st_mtime", default=time.time()) > PARTIAL_SECONDS:
                path.unlink(missing_ok=True)
        files = [(path, int(_stat(path, "st_size"))) for path in self._files()]
        used = sum(size for _, size in files) + coming
        for path, size in files:
            if used <= self._most_bytes:
                return
            warn("spool full", "%s is full; the oldest spans that were never sent are given up", self._folder)
            path.unlink(missing_ok=True)
            used -= size

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether this process is the one that sends; the lock goes with the process, however it ends."""
        if fcntl is None or not self._folder.is_dir():
            yield True
            return
        with open(self._folder / "lock", "ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
                return
            yield True


def _stat(path: Path, field: str, default: float = 0) -> float:
    """A number about a file; the default when another process took it away meanwhile."""
    try:
        return float(getattr(path.stat(), field))
    except FileNotFoundError:
        return default
