"""ClickHouse, in the process or on a server: one class over clickhouse-connect, chosen by URL.

`chdb:///folder` is the embedded engine, `clickhouse://user:password@host:8123/database` (or `clickhouses://` for TLS) a
server. Same schema, same SQL. A chDB handle is one lane, so readers borrow from a small pool and the writer has its own.
"""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import clickhouse_connect
from clickhouse_connect.driver.exceptions import ClickHouseError, DataError, OperationalError, StreamFailureError

from whileai_ingest.errors import IngestError, StoreRefused, StoreUnavailable

# Results are small or streamed by us in chunks; a pool of readers bounds what runs at once on two cores.
POOL_SIZE = 4
_PROTOBUF = "Protobuf"
# Codes by which a server says "not now" rather than "not this": too many parts, memory, read-only replica, timeouts, shutdown.
_PASSING_CODES = frozenset({159, 164, 202, 203, 209, 210, 241, 242, 243, 252, 319, 394, 415, 473, 999})


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How the schema is laid out: empty strings for one server."""

    cluster: str = ""
    replicated: bool = False

    def placeholders(self) -> dict[str, str]:
        return {
            "on_cluster": f"ON CLUSTER '{self.cluster}'" if self.cluster else "",
            "replicated": "Replicated" if self.replicated else "",
            "durable": "fsync_after_insert = 1, fsync_part_directory = 1",
        }


@dataclass(slots=True)
class Store:
    """Queries and inserts. Raises `StoreUnavailable` when ClickHouse cannot be reached, `StoreRefused` when it says no."""

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

    def command(self, sql: str, parameters: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None) -> None:
        """A statement without rows."""
        with self._client() as client:
            client.command(sql, parameters=dict(parameters or {}), settings=dict(settings or {}) or None)

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Rows of Python values, in Native form."""
        if rows:
            with self._client() as client:
                client.insert(table, rows, column_names=list(columns))

    def insert_frames(self, table: str, schema: str, frames: bytes) -> None:
        """A stream of length-delimited protobuf messages; ClickHouse decodes them."""
        with self._client() as client:
            client.raw_insert(
                table,
                insert_block=frames,
                fmt=_PROTOBUF,
                settings={
                    "format_schema_source": "string",
                    "format_schema": schema,
                    "format_schema_message_name": "Frame",
                },
            )

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


def _connect(url: str) -> Any:
    parts = urlsplit(url)
    common: dict[str, Any] = {"autogenerate_session_id": False, "query_limit": 0}
    if parts.scheme == "chdb":
        folder = Path(unquote(parts.path))
        folder.mkdir(parents=True, exist_ok=True)
        return clickhouse_connect.get_client(dsn=f"chdb://{folder}", **common)
    if parts.scheme in ("clickhouse", "clickhouses"):
        secure = parts.scheme == "clickhouses"
        database = parts.path.strip("/") or "default"
        server = {
            "host": parts.hostname or "localhost",
            "port": parts.port or (8443 if secure else 8123),
            "username": unquote(parts.username or "default"),
            "password": unquote(parts.password or ""),
            "secure": secure,
            "connect_timeout": 5,
            **dict(parse_qsl(parts.query)),
        }
        if database != "default":
            with contextlib.closing(clickhouse_connect.get_client(**server, **common)) as client:
                client.command(f"CREATE DATABASE IF NOT EXISTS `{database.replace('`', '')}`")
        return clickhouse_connect.get_client(**server, **common, database=database)
    raise StoreRefused(f"{url!r} is no ClickHouse URL; use chdb:///folder or clickhouse://host:8123/database")


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
