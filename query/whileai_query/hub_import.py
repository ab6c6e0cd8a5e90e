"""Importing a split of a Hub repository as a dataset: its files one after another, its rows as JSON lines."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import structlog
from huggingface_hub import DatasetCard

from whileai_query.dataset_files import delete_files, rows_file, rows_key, traces_key
from whileai_query.errors import ApiError
from whileai_query.hub import Hub, HubError, Snapshot, text_at
from whileai_query.hub_card import CARD_FILE
from whileai_query.hub_files import NoSuchSplit, files_of
from whileai_query.row_check import problem_of
from whileai_query.services import Services
from whileai_query.tabular import Row, Unreadable, read_rows
from whileai_query.upload import room_left
from whileai_registry import Dataset, LimitReached, RegistryError

log = structlog.get_logger("hub")

SOURCE = "huggingface"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be imported; it is kept as the lineage of the set."""

    repo: str
    split: str
    max_rows: int
    revision: str | None = None
    config: str | None = None

    def lineage(self) -> dict[str, Any]:
        return {
            "source": SOURCE,
            "repo": self.repo,
            "split": self.split,
            "maxRows": self.max_rows,
            "revision": self.revision,
            "config": self.config,
        }


def wanted_of(lineage: dict[str, Any]) -> Wanted:
    """The other way round, to run an import again."""
    return Wanted(lineage["repo"], lineage["split"], lineage["maxRows"], lineage["revision"], lineage["config"])


def begin(services: Services, account: str, dataset: Dataset, hub: Hub) -> None:
    """Import in the background; the set is `importing` until it is `ready` or `failed`."""
    services.jobs.start(f"import {dataset.id}", lambda: _run(services, account, dataset, hub))


def _run(services: Services, account: str, dataset: Dataset, hub: Hub) -> None:
    try:
        _import(services, account, dataset, hub)
        return
    except (HubError, NoSuchSplit, Unreadable, LimitReached, ApiError) as error:
        reason = str(error)
    except RegistryError as error:  # deleted meanwhile, or the records are away
        reason = str(error)
    except Exception:
        log.exception("an import failed", dataset=dataset.id)
        reason = "the service failed on this import; its log says why"
    delete_files(services.objects, [rows_key(account, dataset.id), traces_key(account, dataset.id)])
    try:
        services.registry.datasets.fail(account, dataset.id, reason)
    except RegistryError as error:
        log.warning("a failed import could not be noted", dataset=dataset.id, error=str(error))


def _import(services: Services, account: str, dataset: Dataset, hub: Hub) -> None:
    wanted = wanted_of(dataset.lineage or {})
    room = room_left(services, account)
    at = hub.snapshot(wanted.repo, wanted.revision)
    with (
        tempfile.TemporaryDirectory() as folder,
        rows_file(services.objects, account, dataset.id) as file,
    ):
        files = files_of(at.paths, _configs(hub, at, Path(folder)), wanted.config, wanted.split)
        for number, row in enumerate(islice(_rows(hub, at, files, Path(folder)), wanted.max_rows), 1):
            line = _line(row)
            problem = problem_of(line)
            if problem is not None:
                raise Unreadable(f"row {number} of {wanted.repo} is {problem}")
            file.add(line + b"\n", "")
            if file.size > room:
                raise Unreadable(f"{wanted.repo} is larger than the {room} bytes there is room for; lower max_rows")
        rows, size = file.rows, file.size
    services.registry.datasets.annotate(
        account, dataset.id, lineage={**wanted.lineage(), "commit": at.commit, "files": files}
    )
    services.registry.datasets.finalize(
        account, dataset.id, rows=rows, size_bytes=size, files=[rows_key(account, dataset.id)]
    )


def _configs(hub: Hub, at: Snapshot, folder: Path) -> Any:
    card = text_at(hub, at, CARD_FILE, folder)
    return None if card is None else getattr(DatasetCard(card, ignore_metadata_errors=True).data, "configs", None)


def _rows(hub: Hub, at: Snapshot, files: list[str], folder: Path) -> Iterator[Row]:
    """One file at a time on the disk."""
    for path in files:
        local = hub.download(at, path, folder)
        yield from read_rows(local)
        local.unlink(missing_ok=True)


def _line(row: Row) -> bytes:
    return orjson.dumps(dict(row), default=_plain, option=orjson.OPT_NON_STR_KEYS)


def _plain(value: Any) -> Any:
    """What JSON has no form for: bytes (images, audio) as base64, everything else as its text."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
