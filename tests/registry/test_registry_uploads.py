"""A grant lets one file into one dataset, until it expires or the dataset is finalized."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from registry.conftest import Clock

from whileai_registry import NewDataset, NotAllowed, NotFound, Registry

HOUR = timedelta(hours=1)


def sent(number: int) -> dict[str, Any]:
    return {"object_key": f"object-{number}", "rows": number, "size_bytes": 10 * number, "sha256": f"{number:064}"}


def test_the_last_whole_file_counts(registry: Registry, account: str, clock: Clock) -> None:
    made = registry.datasets.create(account, NewDataset("a"))
    assert registry.uploads.stored_file(account, made.id) is None
    grant = registry.uploads.grant(account, made.id, HOUR)
    assert registry.uploads.find_open(account, grant.id) == grant
    registry.uploads.store(account, grant.id, **sent(1))
    stored = registry.uploads.store(account, grant.id, **sent(2))
    assert (stored.state, stored.object_key, stored.rows, stored.size_bytes) == ("stored", "object-2", 2, 20)
    assert registry.uploads.stored_file(account, made.id) == stored
    clock.advance(minutes=1)
    registry.uploads.grant(account, made.id, HOUR)
    assert registry.uploads.stored_file(account, made.id) == stored


def test_an_expired_grant_takes_no_file(registry: Registry, account: str, clock: Clock) -> None:
    made = registry.datasets.create(account, NewDataset("a"))
    grant = registry.uploads.grant(account, made.id, HOUR)
    clock.advance(hours=1)
    with pytest.raises(NotAllowed, match="has expired"):
        registry.uploads.store(account, grant.id, **sent(1))
    assert registry.uploads.stored_file(account, made.id) is None


def test_a_closed_grant_takes_no_file(registry: Registry, account: str) -> None:
    made = registry.datasets.create(account, NewDataset("a"))
    grant = registry.uploads.grant(account, made.id, HOUR)
    registry.uploads.store(account, grant.id, **sent(1))
    registry.uploads.close(account, made.id)
    with pytest.raises(NotAllowed, match="is finalized"):
        registry.uploads.store(account, grant.id, **sent(2))
    kept = registry.uploads.stored_file(account, made.id)
    assert kept is not None
    assert kept.object_key == "object-1"


def test_a_grant_goes_with_its_dataset(registry: Registry, account: str) -> None:
    made = registry.datasets.create(account, NewDataset("a"))
    grant = registry.uploads.grant(account, made.id, HOUR)
    registry.datasets.delete(account, made.id)
    with pytest.raises(NotFound, match="there is no upload"):
        registry.uploads.find_open(account, grant.id)
    with pytest.raises(NotFound, match="there is no dataset"):
        registry.uploads.grant(account, made.id, HOUR)
