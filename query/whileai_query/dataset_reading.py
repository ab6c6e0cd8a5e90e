"""Finding a dataset and reading its rows, stored or ingested."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from whileai_query.dataset_files import whole_file
from whileai_query.errors import Conflict, Missing
from whileai_query.ingested import IngestedDay, ingested_days
from whileai_query.ingested_rows import ingested_rows
from whileai_query.profile import profile_of
from whileai_query.services import Services
from whileai_registry import Dataset

Found = Dataset | IngestedDay


def stored_dataset(services: Services, account: str, dataset_id: str) -> Dataset:
    """A set of the account's own making. Raises `Missing`."""
    found = services.registry.datasets.get(account, dataset_id)
    if found is None:
        raise Missing(f"there is no dataset {dataset_id[:80]!r}")
    return found


def find_dataset(services: Services, account: str, dataset_id: str) -> Found:
    """A stored set, or a day of ingested traces. Raises `Missing`."""
    stored = services.registry.datasets.get(account, dataset_id)
    if stored is not None:
        return stored
    services.settle()
    for day in ingested_days(services.ingest.store, account):
        if day.id == dataset_id:
            return day
    raise Missing(f"there is no dataset {dataset_id[:80]!r}")


def finished(found: Found) -> Found:
    """The same set. Raises `Conflict` when its rows are not there yet."""
    if isinstance(found, Dataset) and found.status != "ready":
        raise Conflict(f"dataset {found.id} is {found.status}; it has no rows yet")
    return found


def lines_of(services: Services, account: str, found: Found) -> Iterator[bytes]:
    """The rows as JSON lines, without blank ones."""
    if isinstance(found, IngestedDay):
        yield from ingested_rows(services.ingest.store, account, found)
        return
    for key in found.files:
        rest = b""
        for chunk in services.objects.read(key):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line for line in whole if line.strip())
        if rest.strip():
            yield rest


def rows_of(services: Services, account: str, found: Found) -> Iterator[dict[str, Any]]:
    """The rows, decoded."""
    for line in lines_of(services, account, found):
        row = orjson.loads(line)
        if isinstance(row, dict):
            yield row


def count_rows(services: Services, account: str, found: Found) -> dict[str, Any]:
    """The profile of these rows, counted now."""
    store = services.ingest.store
    if isinstance(found, Dataset):
        with whole_file(services.objects, found.files) as file:
            return profile_of(store, account, file)
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as copy:
        copy.writelines(lines_of(services, account, found))
        copy.flush()
        return profile_of(store, account, Path(copy.name))
