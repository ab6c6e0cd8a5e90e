"""What happens to sets in the middle of something when the process that did it is gone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from registry.conftest import Clock

from whileai_registry import NewDataset, NotAllowed, Registry


def test_what_a_lost_process_was_doing_has_failed_and_can_be_run_again(
    registry: Registry, account: str, stranger: str
) -> None:
    importing = registry.datasets.create(account, NewDataset("import"), "importing")
    pushing = registry.datasets.create(stranger, NewDataset("push"), "ready")
    pushed = registry.datasets.create(stranger, NewDataset("pushed"), "ready")
    uploading = registry.datasets.create(account, NewDataset("upload"))
    registry.datasets.begin_push(stranger, pushing.id, {"repo": "ana/x"})
    registry.datasets.annotate(stranger, pushed.id, hf={"status": "done"})

    assert registry.datasets.fail_interrupted("the service stopped") == 2

    failed = registry.datasets.get(account, importing.id)
    assert failed is not None
    assert (failed.status, failed.error) == ("failed", "the service stopped")
    assert registry.datasets.retry_import(account, importing.id).status == "importing"
    again = registry.datasets.begin_push(stranger, pushing.id, {"repo": "ana/x"})
    assert again.hf == {"repo": "ana/x", "status": "pushing"}
    untouched = [registry.datasets.get(stranger, pushed.id), registry.datasets.get(account, uploading.id)]
    assert untouched == [registry.datasets.annotate(stranger, pushed.id, hf={"status": "done"}), uploading]


def test_one_push_of_a_set_at_a_time(registry: Registry, account: str) -> None:
    made = registry.datasets.create(account, NewDataset("push"), "ready")
    registry.datasets.begin_push(account, made.id, {})
    with pytest.raises(NotAllowed, match="pushed already"):
        registry.datasets.begin_push(account, made.id, {})


def test_uploads_that_were_never_finished_are_found_after_a_while(
    registry: Registry, account: str, clock: Clock
) -> None:
    begun = registry.datasets.create(account, NewDataset("begun"))
    finished = registry.datasets.create(account, NewDataset("finished"))
    registry.datasets.finalize(account, finished.id, rows=1, size_bytes=1, files=["a"])
    assert registry.datasets.abandoned(clock.at - timedelta(hours=1)) == []
    clock.advance(hours=2)
    assert [dataset.id for dataset in registry.datasets.abandoned(clock.at - timedelta(hours=1))] == [begun.id]


def test_a_pushed_holdout_becomes_the_sibling_of_its_parent(registry: Registry, account: str) -> None:
    train = registry.datasets.create(account, NewDataset("a"), "ready")
    first, second = (
        registry.datasets.create(account, NewDataset("a-holdout", "holdout", parent_id=train.id)) for _ in range(2)
    )
    made = registry.datasets.finalize(account, first.id, rows=1, size_bytes=1, files=["a"])
    late = registry.datasets.finalize(account, second.id, rows=1, size_bytes=1, files=["b"])
    assert (made.sibling_id, late.sibling_id) == (train.id, None)
    parent = registry.datasets.get(account, train.id)
    assert parent is not None
    assert parent.sibling_id == first.id


def test_a_foreign_parent_gets_no_sibling(registry: Registry, account: str, stranger: str) -> None:
    train = registry.datasets.create(account, NewDataset("a"), "ready")
    theirs = registry.datasets.create(stranger, NewDataset("b", "holdout", parent_id=train.id))
    assert registry.datasets.finalize(stranger, theirs.id, rows=1, size_bytes=1, files=["a"]).sibling_id is None
