"""`whileai backup FOLDER`: everything that a service needs to live again, taken while it runs or while it is stopped.

The result is a folder: `manifest.json`, `data/` (a data folder as a stopped service leaves it), and what lies elsewhere
by settings (a dump of PostgreSQL, the files of a bucket). It appears whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

from whileai_query import Objects
from whileai_registry import Signer
from whileai_server import folder, records_copy
from whileai_server.copying import copy_tree, flush, is_empty, sizes_of, total
from whileai_server.errors import StartError
from whileai_server.settings import Settings
from whileai_server.snapshot import PATH, PURPOSE, SUBJECT, journal_folder, shadow_folder

FORMAT = 1
MANIFEST = "manifest.json"
DATA = "data"
ENGINE = "clickhouse"
OBJECTS = "objects"
# A service freezes its tables in milliseconds; one that is under load may have to wait for its lanes.
ASK_SECONDS = 120

_PRIVATE = ("secret", "credentials.json")
# Below the engine's folder: parts of tables (`all_1_1_0`), which come from the snapshot, and what is of the moment.
_PART = re.compile(
    r"store/[0-9a-f]{3}/[0-9a-f-]{36}/"
    r"([^/]+_\d+_\d+_\d+(_\d+)?(/.*)?|(tmp|delete_tmp|moving)[^/]*(/.*)?|detached/.*)"
)
_OF_THE_MOMENT = re.compile(r"(tmp|shadow|status|preprocessed_configs)(/.*)?")


@dataclass(frozen=True, slots=True)
class Moment:
    """Where journal and parts are to be read from: a running service's snapshot, or the stopped folder itself."""

    journal: Path
    frozen: Path | None


def back_up(settings: Settings, target: Path) -> str:
    """Make the backup and say what is in it. Raises `StartError`."""
    if not is_empty(target):
        raise StartError(f"{target} is not empty; give backup a new folder")
    if not settings.data_folder.is_dir():
        raise StartError(f"there is no data folder at {settings.data_folder}; say which one with --data")
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True, mode=0o700)
    try:
        with _moment(settings) as moment:
            _copy(settings, moment, partial)
        files = sizes_of(partial)
        (partial / MANIFEST).write_text(json.dumps(_manifest(settings, files), indent=2) + "\n")
        flush(partial)
        if target.exists():
            target.rmdir()
        partial.rename(target)
    except OSError as error:
        raise StartError(f"the backup could not be written: {error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    told = f"{len(files)} files, {total(files.values())}"
    beside = "" if engine_folder(settings) else "; ClickHouse is a server: back it up now, after this, by its own means"
    return f"{target}: {told}{beside}"


def engine_folder(settings: Settings) -> Path | None:
    """Where embedded ClickHouse has its files; None when it is a server."""
    scheme, _, path = settings.store_url.partition("://")
    return Path(path) if scheme == "chdb" else None


def _manifest(settings: Settings, files: dict[str, int]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": version("whileai-platform"),
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "clickhouse": "embedded" if engine_folder(settings) else "server",
        "files": files,
    }


@contextmanager
def _moment(settings: Settings) -> Iterator[Moment]:
    data, engine = settings.data_folder, engine_folder(settings)
    address = folder.served_at(data)
    if address is None:
        lock = folder.hold(data)
        try:
            yield Moment(data / "journal", None)
        finally:
            os.close(lock)
        return
    signer = Signer(folder.secret(data, settings.secret_key))
    token = signer.sign(PURPOSE, SUBJECT, datetime.now(UTC) + timedelta(minutes=10))
    headers = {"authorization": f"Bearer {token}"}
    with httpx.Client(base_url=address, timeout=ASK_SECONDS, trust_env=False, headers=headers) as service:
        name = _ask(service, "POST", "")["name"]
        try:
            yield Moment(journal_folder(data, name), shadow_folder(engine, name) if engine else None)
        finally:
            service.headers["authorization"] = "Bearer " + signer.sign(
                PURPOSE, SUBJECT, datetime.now(UTC) + timedelta(minutes=10)
            )
            _ask(service, "DELETE", name)


def _ask(service: httpx.Client, method: str, name: str) -> dict[str, str]:
    try:
        answer = service.request(method, PATH, params={"name": name} if name else None)
    except httpx.HTTPError as error:
        raise StartError(f"the service at {service.base_url} does not answer: {error}") from error
    told: dict[str, str] = answer.json() if answer.headers.get("content-type") == "application/json" else {}
    if answer.status_code != 200:
        raise StartError(f"the service at {service.base_url} made no snapshot: {told.get('error', answer.status_code)}")
    return told


def _copy(settings: Settings, moment: Moment, target: Path) -> None:
    """Files of datasets on both sides of the records: a set that is listed has its file."""
    data = target / DATA
    data.mkdir()
    for name in _PRIVATE:
        if (settings.data_folder / name).exists():
            shutil.copy2(settings.data_folder / name, data / name)
    _copy_objects(settings, target)
    records_copy.save(settings.registry_url, data / records_copy.SQLITE_FILE, target / records_copy.DUMP_FILE)
    _copy_objects(settings, target)
    copy_tree(moment.journal, data / "journal", lambda below: below.suffix == ".segment" or below.name == "applied")
    engine = engine_folder(settings)
    if engine is not None:
        _copy_engine(engine, moment.frozen, data / ENGINE)


def _copy_engine(engine: Path, frozen: Path | None, target: Path) -> None:
    if frozen is None:
        copy_tree(engine, target, lambda below: not _OF_THE_MOMENT.fullmatch(str(below)))
        return
    copy_tree(frozen, target)
    copy_tree(engine, target, lambda below: not (_OF_THE_MOMENT.fullmatch(str(below)) or _PART.fullmatch(str(below))))


def _copy_objects(settings: Settings, target: Path) -> None:
    """What is not there yet: the files of a dataset never change."""
    source = Objects(settings.object_store_url)
    copy = Objects(f"file://{(target / OBJECTS).absolute()}")
    for key in source.list_keys():
        path = copy.local_path(key)
        if path is not None and not path.exists():
            try:
                chunks = source.read(key)
            except FileNotFoundError:  # the dataset was deleted meanwhile
                continue
            with copy.writing(key) as file:
                for chunk in chunks:
                    file.write(chunk)
