"""ClickHouse, in the process or on a server: one class over clickhouse-connect, chosen by URL.

`chdb:///folder` is the embedded engine, `clickhouse://user:password@host:8123/database` (or `clickhouses://` for TLS) a
server. Same schema, same SQL. A chDB handle is one lane, so readers borrow from a small pool and the writer has its
own.
"""

from __future__ import annotations

import contextlib
import hashlib
import queue
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import clickhouse_connect
from clickhouse_connect.driver.binding import quote_identifier
from clickhouse_connect.driver.exceptions import ClickHouseError, DataError, OperationalError, StreamFailureError

from whileai_ingest.errors import IngestError, StoreRefused, StoreUnavailable

# Results are small or streamed by us in chunks; a pool of readers bounds what runs at once on two cores.
POOL_SIZE = 4
_PROTOBUF = "Protobuf"
# Codes by which a server says "not now" rather than "not this": too many parts, memory, read-only replica, timeouts,
# shutdown.
_PASSING_CODES = frozenset({159, 164, 202, 203, 209, 210, 241, 242, 243, 252, 319, 394, 415, 473, 999})


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How the schema is laid out: empty strings for one server."""

    cluster: str = ""
    replicated: bool = False


@dataclass(slots=True)
class Store:
    """Queries and inserts. Raises `StoreUnavailable` when ClickHouse cannot be reached, `StoreRefused` when it says
    no."""

    url: str
    options: StoreOptions = field(default_factory=StoreOptions)
    _clients: queue.LifoQueue[Any] = field(default_factory=queue.LifoQueue, init=False)
    _created: list[Any] = field(default_factory=list, init=False)

    def query(
        self,
        sql: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        as_bytes: Sequence[str] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> list[tuple[Any, ...]]:
        """Rows of a SELECT. Columns named in `as_bytes` come as bytes, all other strings as text."""
        with self._client() as client:
            result = client.query(
                sql,
                parameters=dict(parameters or {}),
                column_formats=dict.fromkeys(as_bytes, "bytes") or None,
                settings=dict(settings or {}) or None,
            )
            return list(result.result_rows)

    def command(
        self, sql: str, parameters: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        """A statement without rows."""
        with self._client() as client:
            client.command(sql, parameters=dict(parameters or {}), settings=dict(settings or {}) or None)

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Rows of Python values, in Native form."""
        if rows:
            with self._client() as client:
                client.insert(table, rows, column_names=list(columns))

    def insert_frames(self, table: str, schema: str, frames: bytes) -> None:
        """A stream of length-delimited protobuf messages named `Frame`; ClickHouse decodes them."""
        with self._client() as client:
            client.raw_insert(table, insert_block=frames, fmt=_PROTOBUF, settings=_schema_settings(self.url, schema))

    def ping(self) -> None:
        """Raises `StoreUnavailable` unless a query is answered."""
        self.query("SELECT 1")

    def close(self) -> None:
        for client in self._created:
            client.close()
        self._created.clear()

    @contextlib.contextmanager
    def _client(self) -> Iterator[Any]:
        client = self._borrow()
        try:
            yield client
        except Exception as error:
            raise _translated(error) from error
        finally:
            self._clients.put(client)

    def _borrow(self) -> Any:
        try:
            return self._clients.get_nowait()
        except queue.Empty:
            pass
        if len(self._created) >= POOL_SIZE:
            return self._clients.get()
        try:
            client = _connect(self.url)
        except Exception as error:
            raise _translated(error) from error
        self._created.append(client)
        return client


@cache
def _schema_settings(url: str, schema: str) -> dict[str, str]:
    """How ClickHouse learns the message: in the query for a server, from a file for chDB.

    chDB takes the text too, but then caches it under the working directory of whoever started us.
    """
    if not url.startswith("chdb:"):
        return {"format_schema_source": "string", "format_schema": schema, "format_schema_message_name": "Frame"}
    folder = _chdb_folder(url).with_name("schemas")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hashlib.sha256(schema.encode()).hexdigest()[:16]}.proto"
    path.write_text(schema)
    return {"format_schema": f"{path}:Frame"}


def _chdb_folder(url: str) -> Path:
    return Path(unquote(urlsplit(url).path))


def _connect(url: str) -> Any:
    parts = urlsplit(url)
    if parts.scheme == "chdb":
        folder = _chdb_folder(url)
        folder.mkdir(parents=True, exist_ok=True)
        return clickhouse_connect.get_client(interface="chdb", path=str(folder))
    if parts.scheme in ("clickhouse", "clickhouses"):
        return _connect_server(parts)
    raise StoreRefused(f"{url!r} is no ClickHouse URL; use chdb:///folder or clickhouse://host:8123/database")


def _connect_server(parts: SplitResult) -> Any:
    secure = parts.scheme == "clickhouses"
    database = parts.path.strip("/") or "default"
    server: dict[str, Any] = {
        "host": parts.hostname or "localhost",
        "port": parts.port or (8443 if secure else 8123),
        "username": unquote(parts.username or "default"),
        "password": unquote(parts.password or ""),
        "secure": secure,
        "connect_timeout": 5,
        "send_receive_timeout": 30,  # a server that hangs must not hold the writer for the driver's five minutes
        "autogenerate_session_id": False,  # one client serves several threads in turn
        **{name: int(value) if value.isdecimal() else value for name, value in parse_qsl(parts.query)},
    }
    if database != "default":
        with contextlib.closing(clickhouse_connect.get_client(**server)) as client:
            client.command(f"CREATE DATABASE IF NOT EXISTS {quote_identifier(database)}")
    return clickhouse_connect.get_client(**server, database=database)


def _translated(error: Exception) -> IngestError:
    if isinstance(error, IngestError):
        return error
    code = getattr(error, "code", None)
    message = " ".join(str(error).split())[:500]
    if isinstance(error, (OperationalError, StreamFailureError)) and not isinstance(error, DataError) and code is None:
        return StoreUnavailable(f"ClickHouse cannot be reached: {message}")
    if code in _PASSING_CODES:
        return StoreUnavailable(f"ClickHouse does not take this now: {message}")
    if isinstance(error, (ClickHouseError, ValueError, TypeError)):
        return StoreRefused(f"ClickHouse refused: {message}")
    return StoreUnavailable(f"ClickHouse cannot be reached: {message}")
