"""Receiving the file of a dataset: streamed to storage, checked line by line, there whole or not at all."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, Any

from whileai_query.errors import BadRequest, BodyTooLarge
from whileai_query.objects import Objects
from whileai_query.row_check import problem_of
from whileai_query.services import Services

LARGEST_FILE = 50 << 30
LONGEST_LINE = 64 << 20
# Left free on the disk: the journal lives there too.
RESERVE = 512 << 20
# So much is collected before a thread checks and writes it; small enough to hold for many uploads at once.
PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Received:
    """A file that is stored and whole."""

    key: str
    rows: int
    size: int
    sha256: str


@dataclass(slots=True)
class _Lines:
    """What has come so far; `rest` is a line whose end has not."""

    file: IO[bytes]
    bound: int
    rows: int = 0
    size: int = 0
    line: int = 0
    rest: bytes = b""
    digest: Any = field(default_factory=hashlib.sha256)

    def take(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size > self.bound:
            raise BodyTooLarge(f"the file is larger than the {self.bound} bytes there is room for")
        self.digest.update(piece)
        self.file.write(piece)
        *whole, self.rest = (self.rest + piece).split(b"\n")
        for line in whole:
            self._check(line)
        if len(self.rest) > LONGEST_LINE:
            raise BadRequest(f"line {self.line + 1} is longer than {LONGEST_LINE} bytes")

    def finish(self) -> None:
        if self.rest:
            self._check(self.rest)

    def _check(self, line: bytes) -> None:
        self.line += 1
        if not line.strip():
            return
        problem = problem_of(line)
        if problem is not None:
            raise BadRequest(f"line {self.line} is {problem}; nothing was stored")
        self.rows += 1


def room_for(objects: Objects, announced: int | None, allowed: int | None) -> int:
    """How many bytes may come. Raises `BodyTooLarge` at once when more than that is announced."""
    free = objects.free_bytes()
    bounds = [
        LARGEST_FILE,
        *([free - RESERVE] if free is not None else []),
        *([allowed] if allowed is not None else []),
    ]
    bound = max(0, min(bounds))
    if announced is not None and announced > bound:
        raise BodyTooLarge(f"the file has {announced} bytes and there is room for {bound}")
    return bound


def room_left(services: Services, account: str, announced: int | None = None) -> int:
    """How many bytes this account may still store. Raises `BodyTooLarge` at once when more than that is announced."""
    limit = services.registry.accounts.get(account).limits.storage_bytes
    left = None if limit is None else limit - services.registry.datasets.storage_used(account)
    return room_for(services.objects, announced, left)


async def receive(objects: Objects, folder: str, body: AsyncIterator[bytes], bound: int) -> Received:
    """Store the body under a new key in this folder. Raises `BadRequest` naming the first line that is no row."""
    key = f"{folder}/upload-{secrets.token_hex(8)}.jsonl"
    with ExitStack() as files:
        lines = _Lines(await asyncio.to_thread(files.enter_context, objects.writing(key)), bound)
        waiting: list[bytes] = []
        size = 0
        async for chunk in body:
            waiting.append(chunk)
            size += len(chunk)
            if size >= PIECE:
                await asyncio.to_thread(lines.take, b"".join(waiting))
                waiting, size = [], 0
        await asyncio.to_thread(lines.take, b"".join(waiting))
        await asyncio.to_thread(lines.finish)
        await asyncio.to_thread(files.close)
    return Received(key, lines.rows, lines.size, lines.digest.hexdigest())
