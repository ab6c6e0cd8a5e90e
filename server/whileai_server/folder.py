"""The data folder: who holds it, and the secrets that live in it."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from pathlib import Path

from whileai_server.errors import StartError


def hold(folder: Path) -> int:
    """Take the folder for this process; the lock lives as long as the returned descriptor.

    Raises `StartError` naming the process that has it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StartError(f"the data folder {folder} cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = _holder(fd)
        os.close(fd)
        raise StartError(
            f"the data folder {folder} is in use by {holder}; stop it, or give this server another folder with --data"
        ) from None
    return fd


def sign(fd: int, address: str) -> None:
    """Write into the lock who holds it and where it listens, for the next one that asks."""
    os.ftruncate(fd, 0)
    os.pwrite(fd, json.dumps({"pid": os.getpid(), "address": address}).encode(), 0)


def served_at(folder: Path) -> str | None:
    """Where the service that holds the folder listens; None when nobody holds it. Raises `StartError`."""
    try:
        fd = os.open(folder / "lock", os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return None
    except OSError:
        try:
            address = str(json.loads(os.pread(fd, 1024, 0))["address"])
        except (ValueError, KeyError, TypeError):
            raise StartError(f"the data folder {folder} is in use by a service that is starting; try again") from None
        return address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
    finally:
        os.close(fd)


def _holder(fd: int) -> str:
    try:
        told = json.loads(os.pread(fd, 1024, 0))
        return f"whileai serve (process {told['pid']}, {told['address']})"
    except (ValueError, KeyError, TypeError):
        return "another process"


def secret(folder: Path, given: str | None) -> bytes:
    """The key that signs links and sessions: the given one, else one made at the first start."""
    if given:
        return given.encode()
    path = folder / "secret"
    if not path.exists():
        write_private(path, secrets.token_urlsafe(48))
    return path.read_text().strip().encode()


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
