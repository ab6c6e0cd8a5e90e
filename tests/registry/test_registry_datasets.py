"""A dataset from its creation to its deletion, alone and as one of a pair."""

from __future__ import annotations

import pytest
from registry.conftest import Clock

from whileai_registry import Dataset, InvalidInput, NewDataset, NotAllowed, NotFound, Registry
from whileai_registry.dataset_states import TRANSITIONS
from whileai_registry.datasets import Datasets


def finalized(sets: Datasets, account: str, dataset_id: str, rows: int = 3) -> Dataset:
    return sets.finalize(account, dataset_id, rows=rows, size_bytes=100, files=[f"{dataset_id}.jsonl"])


def test_a_pushed_set_becomes_ready_when_it_is_finalized(registry: Registry, account: str, clock: Clock) -> None:
    made = registry.datasets.create(
        account, NewDataset("pushed", mode="rl", agent="Refund Bot!", description="d", parent_id="ds_parent")
    )
    assert made.id.startswith("ds_")
    assert (made.status, made.rows, made.purpose, made.mode) == ("uploading", 0, "train", "rl")
    clock.advance(minutes=1)
    ready = registry.datasets.finalize(account, made.id, rows=3, size_bytes=99, files=["f"], report={"ok": True})
    assert (ready.status, ready.rows, ready.size_bytes, ready.files) == ("ready", 3, 99, ["f"])
    assert ready.report == {"ok": True}
    assert ready.finalized_at == clock.at
    assert ready.parent_id == "ds_parent"
    assert registry.datasets.get(account, made.id) == ready


def test_two_finalizes_give_the_same_answer_and_the_first_counts(
    registry: Registry, account: str, clock: Clock
) -> None:
    made = registry.datasets.create(account, NewDataset("twice"))
    first = finalized(registry.datasets, account, made.id)
    clock.advance(minutes=5)
    assert finalized(registry.datasets, account, made.id, rows=777) == first


def test_a_failed_set_says_why_and_can_be_sent_again(registry: Registry, account: str) -> None:
    made = registry.datasets.create(account, NewDataset("broken"))
    assert registry.datasets.fail(account, made.id, "line 7 is not JSON").error == "line 7 is not JSON"
    ready = finalized(registry.datasets, account, made.id)
    assert (ready.status, ready.error) == ("ready", None)


def test_a_failed_import_can_be_run_again_and_a_ready_set_cannot_fail(registry: Registry, account: str) -> None:
    made = registry.datasets.create(account, NewDataset("imported"), status="importing")
    registry.datasets.fail(account, made.id, "the hub went away")
    assert registry.datasets.retry_import(account, made.id).status == "importing"
    finalized(registry.datasets, account, made.id)
    with pytest.raises(NotAllowed, match=f"dataset {made.id} is ready"):
        registry.datasets.fail(account, made.id, "too late")


def test_nothing_leads_out_of_ready() -> None:
    assert {after for (status, _), after in TRANSITIONS.items() if status == "ready"} == {"ready"}


def test_naming_an_agent_registers_it(registry: Registry, account: str) -> None:
    registry.datasets.create(account, NewDataset("one", agent="Refund Bot!"), "ready")
    made = registry.datasets.create(account, NewDataset("two", agent="refund bot!"), "ready")
    registry.datasets.update_meta(account, made.id, agent="Other")
    assert [agent.name for agent in registry.agents.list_page(account).items] == ["Other", "Refund Bot!"]
    assert registry.datasets.counts_by_agent(account) == {"refund-bot": {"train": 1}, "other": {"train": 1}}


def test_a_cut_appears_as_two_siblings(registry: Registry, account: str) -> None:
    lineage = {"source": "traces", "filter": {"agent": "bot"}}
    train, holdout = registry.datasets.create_ready(
        account,
        [
            NewDataset("cut", agent="bot", rows=8, size_bytes=80, files=["a"], lineage=lineage),
            NewDataset("cut-holdout", "holdout", agent="bot", rows=2, size_bytes=20, files=["b"], lineage=lineage),
        ],
    )
    assert (train.purpose, holdout.purpose) == ("train", "holdout")
    assert (train.sibling_id, holdout.sibling_id) == (holdout.id, train.id)
    assert train.status == holdout.status == "ready"
    assert train.lineage == lineage
    assert registry.datasets.storage_used(account) == 100


def test_a_cut_of_which_one_half_is_impossible_leaves_neither(registry: Registry, account: str) -> None:
    with pytest.raises(InvalidInput, match="purpose must be one of train, holdout, eval"):
        registry.datasets.create_ready(account, [NewDataset("cut", agent="ghost"), NewDataset("cut-b", "held-out")])
    assert registry.datasets.list_page(account).items == []
    assert registry.agents.list_page(account).items == []


def test_siblings_are_linked_and_a_deletion_unlinks(registry: Registry, account: str) -> None:
    train = registry.datasets.create(account, NewDataset("a"))
    holdout = registry.datasets.create(account, NewDataset("a-holdout", "holdout", parent_id=train.id))
    registry.datasets.link(account, train.id, holdout.id)
    assert registry.datasets.get(account, holdout.id).sibling_id == train.id  # type: ignore[union-attr]
    deleted = registry.datasets.delete(account, train.id)
    assert deleted is not None
    assert deleted.id == train.id
    left = registry.datasets.get(account, holdout.id)
    assert left is not None
    assert (left.sibling_id, left.parent_id) == (None, train.id)


def test_a_set_cannot_be_its_own_sibling_nor_that_of_one_that_is_not_there(registry: Registry, account: str) -> None:
    made = registry.datasets.create(account, NewDataset("a"))
    with pytest.raises(InvalidInput, match="its own sibling"):
        registry.datasets.link(account, made.id, made.id)
    with pytest.raises(NotFound, match="ds_missing"):
        registry.datasets.link(account, made.id, "ds_missing")


def test_deleting_is_idempotent(registry: Registry, account: str) -> None:
    made = registry.datasets.create(account, NewDataset("a"))
    assert registry.datasets.delete(account, made.id) == made
    assert registry.datasets.delete(account, made.id) is None
    assert registry.datasets.get(account, made.id) is None


def test_meta_changes_what_is_said_and_nothing_else(registry: Registry, account: str) -> None:
    made = registry.datasets.create(account, NewDataset("a", agent="Bot", description="old"))
    changed = registry.datasets.update_meta(account, made.id, purpose="eval", mode="sft")
    assert (changed.purpose, changed.mode, changed.agent, changed.description) == ("eval", "sft", "Bot", "old")
    with pytest.raises(InvalidInput, match="mode must be one of explore, sft, rl, adaptive, not 'ppo'"):
        registry.datasets.update_meta(account, made.id, mode="ppo")
    with pytest.raises(NotFound, match="ds_missing"):
        registry.datasets.update_meta(account, "ds_missing", mode="rl")


def test_notes_about_a_set_are_kept(registry: Registry, account: str) -> None:
    made = registry.datasets.create(account, NewDataset("a"))
    registry.datasets.annotate(account, made.id, profile={"rows": 1}, hf={"status": "pushing"})
    noted = registry.datasets.annotate(account, made.id, hf={"status": "done"})
    assert (noted.profile, noted.hf, noted.report) == ({"rows": 1}, {"status": "done"}, None)


def test_the_list_is_newest_first_and_filters_by_agent(registry: Registry, account: str, clock: Clock) -> None:
    for name, agent in (("one", "Bot"), ("two", "other"), ("three", "BOT")):
        registry.datasets.create(account, NewDataset(name, agent=agent))
        clock.advance(seconds=1)
    assert [made.name for made in registry.datasets.list_page(account).items] == ["three", "two", "one"]
    assert [made.name for made in registry.datasets.list_page(account, agent="bot").items] == ["three", "one"]
    assert registry.datasets.list_page(account, purpose="holdout").items == []


def test_sets_that_arrive_while_paging_shift_nothing(registry: Registry, account: str, clock: Clock) -> None:
    before = []
    for number in range(7):
        before.append(registry.datasets.create(account, NewDataset(f"set {number}")).id)
        clock.advance(seconds=number % 2)  # some share their moment
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = registry.datasets.list_page(account, limit=2, cursor=cursor)
        seen += [made.id for made in page.items]
        clock.advance(seconds=1)
        registry.datasets.create(account, NewDataset("late"))
        cursor = page.next
        if cursor is None:
            break
    assert sorted(seen) == sorted(before)


@pytest.mark.parametrize("cursor", ["nonsense", "", "====", "bm8gZG90", "MTIu", "é", "OTk5OTk5OTk5OTk5OTk5OTk5OTkuYQ"])
def test_a_cursor_that_we_did_not_give_out_is_refused_by_name(registry: Registry, account: str, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        registry.datasets.list_page(account, cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 501])
def test_a_page_has_between_one_and_500_rows(registry: Registry, account: str, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit must be between 1 and 500"):
        registry.datasets.list_page(account, limit=limit)


def test_a_set_of_no_account_is_refused(registry: Registry) -> None:
    with pytest.raises(NotFound, match="there is no account 'acc_ghost'"):
        registry.datasets.create("acc_ghost", NewDataset("a"))


def test_the_catalog_shows_finished_sets_with_rows_to_everybody(registry: Registry, account: str, clock: Clock) -> None:
    made = registry.datasets.create(account, NewDataset("public"))
    with pytest.raises(NotAllowed, match="uploading with 0 rows"):
        registry.catalog.publish(account, made.id, {"agent": "bot"})
    finalized(registry.datasets, account, made.id)
    shown = registry.catalog.publish(account, made.id, {"agent": "bot"})
    clock.advance(hours=1)
    again = registry.catalog.publish(account, made.id, {"agent": "bot", "description": "d"})
    assert again.published_at == shown.published_at
    assert registry.catalog.find(made.id) == again
    assert registry.catalog.list_page().items == [again]
    assert registry.catalog.unpublish(account, made.id)
    assert not registry.catalog.unpublish(account, made.id)
    assert registry.catalog.find(made.id) is None
    assert registry.catalog.list_page().items == []


def test_the_catalog_pages_by_publication(registry: Registry, account: str, clock: Clock) -> None:
    ids = []
    for number in range(3):
        made = registry.datasets.create(account, NewDataset(f"set {number}"))
        finalized(registry.datasets, account, made.id)
        registry.catalog.publish(account, made.id, {})
        clock.advance(seconds=1)
        ids.append(made.id)
    first = registry.catalog.list_page(limit=2)
    second = registry.catalog.list_page(limit=2, cursor=first.next)
    assert [made.id for made in first.items + second.items] == ids[::-1]
    assert second.next is None
