"""ClickHouse's HTTP interface in front of an embedded engine, as much of it as clickhouse-connect speaks.

    python clickhouse_front.py FOLDER PORT

The engine and the driver are the real ones; only the server's own HTTP handler is ours. It exists because no ClickHouse
server can be installed where these tests run; with `WHILEAI_TEST_CLICKHOUSE_URL` the same tests use a real one.
Not shown here: replication, quorum, `ON CLUSTER`, server restarts in the middle of a merge.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import queue
import re
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import chdb
import lz4.frame
from backports import zstd

# Parameters of the HTTP interface itself; everything else in the URL is a setting or a bound value.
_TRANSPORT = {
    "query",
    "database",
    "session_id",
    "session_timeout",
    "session_check",
    "query_id",
    "quota_key",
    "compress",
    "decompress",
    "wait_end_of_query",
    "client_protocol_version",
    "role",
    "buffer_size",
    "send_progress_in_http_headers",
    "http_headers_progress_interval_ms",
    "enable_http_compression",
}
_INSERT = re.compile(rb"^\s*INSERT\s+INTO\s+(?P<table>.+?)\s+FORMAT\s+(?P<format>\w+)\s*(?:\n|$)", re.I | re.S)
_CODE = re.compile(r"Code: (\d+)")
_CONNECTIONS = 4
connect: Callable[[str], Any] = chdb.connect


class Engine:
    """A few lanes to one engine."""

    def __init__(self, folder: str) -> None:
        self._lanes: queue.Queue[Any] = queue.Queue()
        for _ in range(_CONNECTIONS):
            self._lanes.put(connect(folder))

    def execute(self, sql: str, database: str, settings: dict[str, str], values: dict[str, str]) -> bytes:
        lane = self._lanes.get()
        try:
            lane.query(f"USE `{database}`")
            with _set(lane, settings):
                result = lane.query(sql, "TabSeparated", params=values) if values else lane.query(sql, "TabSeparated")
                return bytes(result.bytes())
        finally:
            self._lanes.put(lane)


@contextlib.contextmanager
def _set(lane: Any, settings: dict[str, str]) -> Iterator[None]:
    for name, value in settings.items():
        lane.query(f"SET {name} = {_quoted(value)}")
    try:
        yield
    finally:
        for name in settings:
            lane.query(f"SET {name} = DEFAULT")


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _all_lz4_frames(data: bytes) -> bytes:
    """The driver packs each block into a frame of its own; `lz4.frame.decompress` would stop after the first."""
    parts = []
    while data:
        frame = lz4.frame.LZ4FrameDecompressor()
        parts.append(frame.decompress(data))
        if not frame.eof:
            raise ValueError("an lz4 frame ended before its end")
        data = frame.unused_data or b""
    return b"".join(parts)


def _form(content_type: str, body: bytes) -> dict[str, str]:
    head = f"content-type: {content_type}\r\n\r\n".encode()
    parts = BytesParser(policy=HTTP).parsebytes(head + body).iter_parts()
    return {str(part.get_param("name", header="content-disposition")): part.get_content() for part in parts}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine: Engine

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        try:
            body = self._body()
        except (ConnectionError, ValueError):
            self.close_connection = True
            return
        address = urlsplit(self.path)
        if address.path == "/ping":
            self._answer(200, b"Ok.\n")
            return
        given = dict(parse_qsl(address.query, keep_blank_values=True))
        if self.headers.get("content-type", "").startswith("multipart/form-data"):
            given |= _form(self.headers["content-type"], body)  # long bound values come this way
            body = b""
        values = {name[6:]: value for name, value in given.items() if name.startswith("param_")}
        settings = {
            name: value for name, value in given.items() if name not in _TRANSPORT and not name.startswith("param_")
        }
        try:
            answer = self._run(given.get("query", ""), body, given.get("database", "default"), settings, values)
        except Exception as error:  # whatever the engine says goes back as a server says it
            found = _CODE.search(str(error))
            self._answer(500, str(error).encode(), {"X-ClickHouse-Exception-Code": found[1] if found else "1002"})
            return
        self._answer(200, answer)

    def _run(self, query: str, body: bytes, database: str, settings: dict[str, str], values: dict[str, str]) -> bytes:
        text, data = (query.encode(), body) if query else (body, b"")
        insert = _INSERT.match(text)
        if insert is None:
            return self.engine.execute((text + data).decode(), database, settings, values)
        with tempfile.NamedTemporaryFile(dir=os.getcwd()) as file:
            file.write(text[insert.end() :] + data)
            file.flush()
            clause = ", ".join(f"{name} = {_quoted(value)}" for name, value in settings.items())
            sql = f"INSERT INTO {insert['table'].decode()} FROM INFILE {_quoted(file.name)}"
            sql += (f" SETTINGS {clause}" if clause else "") + f" FORMAT {insert['format'].decode()}"
            return self.engine.execute(sql, database, {}, values)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self._exactly(size))
                self.rfile.readline()
            self.rfile.readline()
            body = b"".join(parts)
        else:
            body = self._exactly(int(self.headers.get("content-length") or 0))
        decoders = {"gzip": gzip.decompress, "zstd": zstd.decompress, "lz4": _all_lz4_frames}
        encoding = self.headers.get("content-encoding", "")
        return decoders[encoding](body) if encoding else body

    def _exactly(self, size: int) -> bytes:
        data = self.rfile.read(size)
        if len(data) < size:  # a server inserts nothing of a request that was cut
            raise ConnectionError("the request ended before its end")
        return data

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        fixed = {"X-ClickHouse-Timezone": "UTC", "X-ClickHouse-Query-Id": uuid.uuid4().hex}
        for name, value in {**fixed, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the tests look at answers."""


def main() -> None:
    folder, port = sys.argv[1], int(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)  # the engine caches schema texts under the working directory
    Handler.engine = Engine(os.path.join(folder, "engine"))
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"ready {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
