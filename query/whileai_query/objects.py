"""Files of datasets: a folder or a bucket behind one small interface (fsspec).

A file appears whole or not at all. Keys are made by the service from its own ids; nothing a user says becomes a path.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

CHUNK = 1 << 20
_PARTIAL = ".part"
_SAFE_KEY = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


class Objects:
    """`file:///folder` or `s3://bucket/prefix`; further options as fsspec takes them from the environment."""

    def __init__(self, url: str, **options: Any) -> None:
        self._fs, root = fsspec.core.url_to_fs(url, **options)
        self.root = str(root).rstrip("/")
        self._local = isinstance(self._fs, LocalFileSystem)

    @contextlib.contextmanager
    def writing(self, key: str) -> Iterator[IO[bytes]]:
        """A new file under this key; it is there once the block ends well, and leaves nothing when it does not."""
        path = self._path(key)
        with self._local_file(path) if self._local else self._remote_file(path) as file:
            yield file

    def read(self, key: str) -> Iterator[bytes]:
        """The bytes in chunks. Raises FileNotFoundError at once, not at the first chunk."""
        file = self._fs.open(self._path(key), "rb")
        return _chunks(file)

    def local_path(self, key: str) -> Path | None:
        """The file itself where it lies on this machine; None in a bucket."""
        return Path(self._path(key)) if self._local else None

    def size(self, key: str) -> int:
        """Bytes of the file. Raises FileNotFoundError."""
        self._fs.invalidate_cache()
        return int(self._fs.size(self._path(key)))

    def list_keys(self) -> list[str]:
        """Every whole file."""
        self._fs.invalidate_cache()
        try:
            found = self._fs.find(self.root)
        except FileNotFoundError:
            return []
        below = (str(path)[len(self.root) + 1 :] for path in found)
        return [key for key in below if _SAFE_KEY.fullmatch(key) and not key.endswith(_PARTIAL)]

    def remove_partials(self, before: datetime) -> None:
        """Halves of files that were last written before this moment. A bucket drops its own by a rule of its own."""
        if not self._local:
            return
        for path in self._fs.find(self.root) if self._fs.exists(self.root) else ():
            with contextlib.suppress(FileNotFoundError):
                if path.endswith(_PARTIAL) and os.stat(path).st_mtime < before.timestamp():
                    os.unlink(path)

    def free_bytes(self) -> int | None:
        """What the disk has left; None for a bucket."""
        if not self._local:
            return None
        folder = self.root
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        return shutil.disk_usage(folder).free

    def delete(self, key: str) -> None:
        """Remove the file; one that is not there is removed already."""
        path = self._path(key)
        with contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(path)
        if self._local:
            with contextlib.suppress(OSError):  # the folder of a dataset goes with its last file
                os.rmdir(os.path.dirname(path))

    def _path(self, key: str) -> str:
        if not _SAFE_KEY.fullmatch(key):
            raise ValueError(f"{key!r} is no key of ours")
        return f"{self.root}/{key}"

    @contextlib.contextmanager
    def _local_file(self, path: str) -> Iterator[IO[bytes]]:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{path}.{secrets.token_hex(8)}{_PARTIAL}"
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        _sync_folder(os.path.dirname(path))

    @contextlib.contextmanager
    def _remote_file(self, path: str) -> Iterator[IO[bytes]]:
        file = self._fs.open(path, "wb", autocommit=False)
        try:
            yield file
            file.close()
        except BaseException:
            # Closing would upload what is there; this gives up the parts that were sent already.
            file.closed = True
            file.discard()
            raise
        file.commit()
        self._fs.invalidate_cache()


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK):
            yield chunk


def _sync_folder(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
