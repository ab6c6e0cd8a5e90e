"""The records in a backup: SQLite's own online copy, or PostgreSQL's own dump, and back."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import URL, make_url

from whileai_server.errors import StartError

SQLITE_FILE = "records.db"
DUMP_FILE = "records.dump"
_DEBIAN = Path("/usr/lib/postgresql")


def is_sqlite(url: str) -> bool:
    return url.startswith("sqlite")


def save(url: str, sqlite_to: Path, dump_to: Path) -> None:
    """A consistent copy, whoever writes meanwhile. Raises `StartError`."""
    if is_sqlite(url):
        file = _sqlite_file(url)
        if not file.exists():
            raise StartError(f"there are no records at {file}; is this the right data folder?")
        with (
            closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(sqlite_to)) as copy,
        ):
            source.backup(copy)
        return
    _postgres("pg_dump", url, "--format=custom", "--no-owner", "--no-privileges", f"--file={dump_to}")


def load(url: str, sqlite_from: Path, dump_from: Path) -> None:
    """Bring a copy back to where the settings say. Raises `StartError`, and never overwrites records."""
    if not is_sqlite(url):
        if not dump_from.exists():
            raise StartError("the backup holds records of SQLite and WHILEAI_RECORDS_URL names PostgreSQL; unset it")
        _postgres(
            "pg_restore", url, "--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction", dump_from
        )
        return
    if not sqlite_from.exists():
        raise StartError("the backup holds records of PostgreSQL; set WHILEAI_RECORDS_URL to an empty database")
    file = _sqlite_file(url)
    if file.exists():
        raise StartError(f"there are records at {file} already; move them away first")
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(sqlite_from, file)


def _sqlite_file(url: str) -> Path:
    return Path(make_url(url).database or "")


def _postgres(program: str, url: str, *arguments: Any) -> None:
    """Run one of PostgreSQL's programs; the password goes through the environment, where other users do not see it."""
    parsed = make_url(url)
    command = [str(_find(program)), f"--dbname={_without_password(parsed)}", *map(str, arguments)]
    environment = {**os.environ, **({"PGPASSWORD": str(parsed.password)} if parsed.password else {})}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StartError(f"{program} failed: {' '.join(done.stderr.split())[:400]}")


def _without_password(url: URL) -> str:
    plain = URL.create("postgresql", url.username, None, url.host, url.port, url.database, url.query)
    return plain.render_as_string(hide_password=False)


def _find(program: str) -> Path:
    on_path = shutil.which(program)
    if on_path:
        return Path(on_path)
    installed = sorted(_DEBIAN.glob(f"*/bin/{program}"), key=lambda path: int(path.parts[-3]))
    if not installed:
        raise StartError(f"{program} is not installed here; install PostgreSQL's client programs")
    return installed[-1]
