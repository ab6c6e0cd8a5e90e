"""One moment of the journal and of embedded ClickHouse, held as hard links while `whileai backup` copies them.

The command proves itself with the service's own secret, which only the owner of the data folder can read. The moment
is that of a crash: the journal is linked first and the tables are frozen after it, so whatever is missing in the tables
is in the journal, and replaying what is in both changes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs

import structlog
from starlette.responses import JSONResponse

from whileai_ingest import IngestError, Store
from whileai_registry import CapabilityRefused, Signer
from whileai_server.app import App, Receive, Scope, Send

log = structlog.get_logger("snapshot")

PATH = "/snapshot"
PURPOSE = "snapshot"
SUBJECT = "this data folder"
# ClickHouse escapes in folder names what is neither a letter, a digit nor an underscore.
_PREFIX = "backup_"

_TABLES = "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name"
_FREEZE = "ALTER TABLE {table} FREEZE WITH NAME {name}"


@dataclass(frozen=True, slots=True)
class Snapshots:
    """Makes and drops them. `engine` is the folder of the embedded ClickHouse, None where it is a server."""

    data: Path
    engine: Path | None
    store: Store
    signer: Signer

    def routes(self) -> dict[str, App]:
        return {PATH: self.answer}

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """POST makes one and names it; DELETE drops the one of this name."""
        status, told = await asyncio.to_thread(self._answer, scope)
        await JSONResponse(told, status)(scope, receive, send)

    def clear(self) -> None:
        """Remove what a backup left behind when it, or the service, was killed."""
        for folder in (journal_folder(self.data, ""), *([shadow_folder(self.engine, "")] if self.engine else [])):
            for left in folder.glob(f"{_PREFIX}*"):
                shutil.rmtree(left, ignore_errors=True)

    def _answer(self, scope: Scope) -> tuple[int, dict[str, str]]:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        token = headers.get("authorization", "").removeprefix("Bearer ")
        try:
            self.signer.verify(PURPOSE, token, datetime.now(UTC))
        except CapabilityRefused as refused:
            return 403, {"error": str(refused)}
        name = parse_qs(scope["query_string"].decode("latin-1")).get("name", [""])[0]
        actions: dict[str, Callable[[str], dict[str, str]]] = {"POST": self._take, "DELETE": self._drop}
        if scope["method"] not in actions:
            return 405, {"error": f"{scope['method']} is not possible here"}
        try:
            return 200, actions[scope["method"]](name)
        except (IngestError, OSError) as error:
            log.error("a snapshot failed", error=str(error))
            return 503, {"error": f"the snapshot failed: {error}"}

    def _take(self, _name: str) -> dict[str, str]:
        name = _PREFIX + secrets.token_hex(8)
        try:
            _link_journal(self.data / "journal", journal_folder(self.data, name))
            if self.engine is not None:
                for (table,) in self.store.query(_TABLES):
                    # Both are ours: a table of the schema, and hexadecimal digits.
                    self.store.command(_FREEZE.format(table=f"`{table}`", name=f"'{name}'"))
                if not shadow_folder(self.engine, name).is_dir():  # there is always a part: the list of migrations
                    raise FileNotFoundError(f"ClickHouse froze nothing under {shadow_folder(self.engine, name)}")
        except BaseException:
            self._drop(name)
            raise
        return {"name": name}

    def _drop(self, name: str) -> dict[str, str]:
        if name.startswith(_PREFIX) and name.removeprefix(_PREFIX).isalnum():
            shutil.rmtree(journal_folder(self.data, name), ignore_errors=True)
            if self.engine is not None:
                shutil.rmtree(shadow_folder(self.engine, name), ignore_errors=True)
        return {"name": name}


def journal_folder(data: Path, name: str) -> Path:
    """Where the journal of a snapshot is linked."""
    return data / "snapshots" / name


def shadow_folder(engine: Path, name: str) -> Path:
    """Where ClickHouse links the parts of a frozen table."""
    return engine / "shadow" / name


def _link_journal(journal: Path, into: Path) -> None:
    """Segments first, then the position up to which they are in ClickHouse: a later one only skips what is there."""
    into.mkdir(parents=True)
    for segment in sorted(journal.glob("*.segment")):
        with contextlib.suppress(FileNotFoundError):  # written to ClickHouse meanwhile
            os.link(segment, into / segment.name)
    with contextlib.suppress(FileNotFoundError):  # nothing was written yet
        shutil.copy2(journal / "applied", into / "applied")
