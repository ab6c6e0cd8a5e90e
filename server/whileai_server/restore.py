"""`whileai restore FOLDER`: a backup becomes the data folder of a service that is started afterwards.

It overwrites nothing.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from whileai_query import Objects
from whileai_server import records_copy
from whileai_server.backup import DATA, ENGINE, FORMAT, MANIFEST, OBJECTS, engine_folder
from whileai_server.copying import check_sizes, copy_tree, flush, is_empty, total
from whileai_server.errors import StartError
from whileai_server.settings import Settings


def bring_back(settings: Settings, source: Path) -> str:
    """Restore, and say where. Raises `StartError`; nothing is started."""
    manifest = _read(source)
    engine = engine_folder(settings)
    _check_engine(manifest, engine)
    for folder in (settings.data_folder, *([engine] if engine else [])):
        if not is_empty(folder):
            raise StartError(f"{folder} is not empty; move it away, or restore into another folder with --data")
    check_sizes(source, manifest["files"])
    data = settings.data_folder
    partial = data.with_name(f"{data.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        # SQLite's file and ClickHouse's folder may lie elsewhere by settings.
        apart = (records_copy.SQLITE_FILE, ENGINE)
        copy_tree(source / DATA, partial, lambda below: below.parts[0] not in apart)
        flush(partial)
        if data.exists():
            data.rmdir()
        partial.rename(data)
        if engine is not None:
            copy_tree(source / DATA / ENGINE, engine)
            flush(engine)
        _restore_objects(settings, source)
        records = (source / DATA / records_copy.SQLITE_FILE, source / records_copy.DUMP_FILE)
        records_copy.load(settings.registry_url, *records)
    except OSError as error:
        raise StartError(f"the backup could not be restored: {error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return f"{data}: {len(manifest['files'])} files, {total(manifest['files'].values())}, as of {manifest['at']}"


def _read(source: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((source / MANIFEST).read_text())
    except (OSError, ValueError):
        raise StartError(f"{source} is no backup: it has no {MANIFEST}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StartError(f"{source} was made by another version of While; restore it with that one")
    return manifest


def _check_engine(manifest: dict[str, Any], engine: Path | None) -> None:
    embedded = manifest["clickhouse"] == "embedded"
    if embedded and engine is None:
        raise StartError(
            "the backup holds the tables of embedded ClickHouse; unset WHILEAI_CLICKHOUSE_URL to restore it"
        )
    if not embedded and engine is not None:
        raise StartError(
            "the backup was made beside a ClickHouse server; set WHILEAI_CLICKHOUSE_URL to the restored one"
        )


def _restore_objects(settings: Settings, source: Path) -> None:
    saved = Objects(f"file://{(source / OBJECTS).absolute()}")
    target = Objects(settings.object_store_url)
    for key in saved.list_keys():
        with target.writing(key) as file:
            for chunk in saved.read(key):
                file.write(chunk)
