"""A small HTTP client for load: keep-alive connections, bodies sent as they are, nothing parsed but the status.

A general client takes more CPU for a request of six spans than the server that is measured, and would be the limit.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

KEY = "zp_bench_key_0123456789abcdef"
PROTOBUF, JSON = "application/x-protobuf", "application/json"
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.I)
_OVERLOADED = 503
_COME_BACK_SECONDS = 0.1


class Connection:
    """One keep-alive connection to a server; one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        self._reader, self._writer, self._head = reader, writer, head

    async def post(self, body: bytes, path: str = "/v1/traces", kind: str = PROTOBUF) -> int:
        """The status of the answer."""
        lines = f"POST {path} HTTP/1.1\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n"
        return await self._exchange(lines.encode() + self._head + body)

    async def get(self, path: str) -> int:
        return await self._exchange(f"GET {path} HTTP/1.1\r\n".encode() + self._head)

    async def _exchange(self, request: bytes) -> int:
        self._writer.write(request)
        await self._writer.drain()
        head = await self._reader.readuntil(b"\r\n\r\n")
        found = _LENGTH.search(head)
        if found is None:
            raise ValueError(f"an answer without its length: {head!r}")
        await self._reader.readexactly(int(found[1]))
        return int(head[9:12])


@asynccontextmanager
async def connected(url: str, headers: Mapping[str, str] | None = None) -> AsyncIterator[Connection]:
    address = urlsplit(url)
    given = {"host": address.netloc, "x-api-key": KEY, **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in given.items()) + "\r\n"
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        yield Connection(reader, writer, head.encode())
    finally:
        writer.close()
        await writer.wait_closed()


async def send_all(url: str, bodies: Iterable[bytes], senders: int, kind: str = PROTOBUF) -> int:
    """Send each body until it is taken. Which one was acknowledged last."""
    waiting = iter(enumerate(bodies))
    last = -1

    async def sender() -> None:
        nonlocal last
        async with connected(url) as connection:
            for number, body in waiting:
                while (status := await connection.post(body, kind=kind)) == _OVERLOADED:
                    await asyncio.sleep(_COME_BACK_SECONDS)
                if status != 200:
                    raise RuntimeError(f"{url} answered {status} to a request of {len(body)} bytes")
                last = number

    async with asyncio.TaskGroup() as tasks:
        for _ in range(senders):
            tasks.create_task(sender())
    return last


async def wait_until_read(url: str, trace_id: str) -> None:
    """`GET /traces/{id}` until it is answered with the trace. Reads wait for the writer, up to what was durable when
    they came: when the newest acknowledged trace is there, all that were acknowledged before it are."""
    async with connected(url) as connection:
        while (status := await connection.get(f"/traces/{trace_id}?spans=0")) == _OVERLOADED:
            await asyncio.sleep(_COME_BACK_SECONDS)
        if status != 200:
            raise RuntimeError(f"the trace {trace_id} was acknowledged, and reading it is answered {status}")
