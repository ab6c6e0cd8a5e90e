"""Datasets with both clients: push, look, pull, describe, publish, delete; every set is its account's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conformance.conftest import Platform
from support.peers import Peer, PeerError
from support.rows import shelf

ROWS = shelf()


def push(peer: Peer, name: str = "shelf", **about: object) -> str:
    """The id of a pushed set."""
    entry = peer("wai.push_rows(rows, name, **about)", rows=ROWS, name=name, about=about)
    assert isinstance(entry["datasetId"], str)
    return str(entry["datasetId"])


def test_pushed_rows_come_back_as_they_were(peer: Peer) -> None:
    entry = peer("wai.push_rows(rows, 'shelf', mode='rl', agent='Desk', description='parcels')", rows=ROWS)
    assert entry["datasetId"].startswith("ds_")
    assert (entry["status"], entry["rows"], entry["name"]) == ("ready", 12, "shelf")
    assert (entry["purpose"], entry["mode"], entry["agent"]) == ("train", "rl", "Desk")
    assert entry["description"] == "parcels"
    assert entry["sizeBytes"] > 1000
    assert peer("wai.pull(id)", id=entry["datasetId"]) == ROWS


def test_a_pull_into_a_file_writes_a_line_for_each_row(peer: Peer, tmp_path: Path) -> None:
    target = tmp_path / "pulled.jsonl"
    told = peer("str(wai.pull(id, path))", id=push(peer), path=str(target))
    assert told == str(target)
    assert [json.loads(line) for line in target.read_text().splitlines()] == ROWS


def test_a_file_is_pushed_with_every_byte_it_has(peer: Peer, tmp_path: Path, platform: Platform) -> None:
    file = tmp_path / "rollout.jsonl"
    content = "".join(json.dumps(row, separators=(" ,", ":  ")) + "\n" for row in ROWS)
    file.write_text(content)
    entry = peer("wai.push_file(path, gate=False)", path=str(file))
    assert (entry["name"], entry["rows"], entry["sizeBytes"]) == ("rollout", 12, len(content))
    named = peer("wai.push_file(path, 'a name', gate=False, parent=parent)", path=str(file), parent=entry["datasetId"])
    assert named["name"] == "a name"
    assert platform.get(f"/datasets/{named['datasetId']}", peer.key)["parentDatasetId"] == entry["datasetId"]


def test_a_list_without_rows_is_a_set_without_rows(peer: Peer) -> None:
    entry = peer("wai.push_rows([], 'nothing')")
    assert (entry["status"], entry["rows"], entry["sizeBytes"]) == ("ready", 0, 0)
    assert peer("wai.pull(id)", id=entry["datasetId"]) == []


def test_the_list_is_newest_first_and_says_what_is_stored(peer: Peer) -> None:
    first, second = push(peer, "first"), push(peer, "second")
    told = peer("wai.datasets()")
    assert [row["datasetId"] for row in told["datasets"]] == [second, first]
    assert {row["rows"] for row in told["datasets"]} == {12}
    assert told["storageBytes"] == sum(row["sizeBytes"] for row in told["datasets"])


def test_a_holdout_takes_whole_tasks_and_knows_its_train_set(peer: Peer, platform: Platform) -> None:
    entry = peer("wai.push_rows(rows, 'split', holdout=0.5, mode='rl')", rows=ROWS)
    held = entry["holdout"]
    # sha256("sc_0") lies at 0.33 of the range; those of sc_1 and sc_2 lie above 0.5.
    assert entry["holdout_tasks"] == 1
    assert {row["scenario_id"] for row in peer("wai.pull(id)", id=held["datasetId"])} == {"sc_0"}
    assert {row["scenario_id"] for row in peer("wai.pull(id)", id=entry["datasetId"])} == {"sc_1", "sc_2"}
    train = platform.get(f"/datasets/{entry['datasetId']}", peer.key)
    holdout = platform.get(f"/datasets/{held['datasetId']}", peer.key)
    assert (holdout["name"], holdout["purpose"], holdout["parentDatasetId"]) == (
        "split-holdout",
        "holdout",
        entry["datasetId"],
    )
    assert (train["siblingDatasetId"], holdout["siblingDatasetId"]) == (held["datasetId"], entry["datasetId"])


def test_a_holdout_too_small_to_prove_a_gain_is_warned_of(peer: Peer) -> None:
    peer("wai.push_rows(rows, 'small', purpose='holdout')", rows=ROWS)
    assert any("80" in warning for warning in peer.warnings), peer.warnings


def test_a_share_that_leaves_nothing_to_train_on_is_refused(peer: Peer) -> None:
    with pytest.raises(PeerError) as refused:
        peer("wai.push_rows(rows, 'all', holdout=0.99)", rows=ROWS)
    assert "ValueError" in refused.value.kinds
    assert peer("wai.datasets()")["datasets"] == []


def test_a_container_pushes_its_rows_and_describes_its_agent(peer: Peer) -> None:
    entry = peer(
        "wai.SimulationData(trajectories=rows, mode='rl').push('runs', agent='Box Agent', gate=False, holdout=0.5)",
        rows=ROWS,
    )
    assert entry["holdout"]["datasetId"] != entry["datasetId"]
    rows = peer("wai.pull(id)", id=entry["datasetId"])
    assert {row["scenario_id"] for row in rows} == {"sc_1", "sc_2"}
    assert all(row["messages"] for row in rows)
    (agent,) = peer("wai.agents()")
    assert (agent["name"], agent["datasets"]) == ("Box Agent", {"train": 1, "holdout": 1, "eval": 0})


def test_a_container_can_name_its_parent_and_publish(peer: Peer) -> None:
    first = push(peer)
    entry = peer(
        "wai.SimulationData(trajectories=rows).push('v2', parent=parent, agent='Box', publish=True, purpose='eval',"
        " description='second', gate=False)",
        rows=ROWS,
        parent=first,
    )
    row = next(row for row in peer("wai.datasets()")["datasets"] if row["datasetId"] == entry["datasetId"])
    assert (row["parentDatasetId"], row["purpose"], row["description"], row["published"]) == (
        first,
        "eval",
        "second",
        True,
    )


def test_a_gated_push_stores_its_rows(peer: Peer) -> None:
    entry = peer("wai.push_rows(rows, 'gated', gate=True, mode='rl')", rows=ROWS)
    pulled = peer("wai.pull(id)", id=entry["datasetId"])
    assert [(row["scenario_id"], row["reward"]) for row in pulled] == [
        (row["scenario_id"], row["reward"]) for row in ROWS
    ]


def test_a_parent_that_is_not_ones_own_is_none(peer: Peer, stranger: Peer) -> None:
    made = push(peer)
    for parent in (made, "ds_nothing"):
        with pytest.raises(PeerError, match="404"):
            stranger("wai.push_rows(rows, 'child', parent=parent)", rows=ROWS, parent=parent)
    assert stranger("wai.datasets()")["datasets"] == []
    peer("wai.publish(id, agent='Desk')", id=made)
    assert stranger("wai.push_rows(rows, 'child', parent=parent)", rows=ROWS, parent=made)["rows"] == 12


def test_a_graded_container_pushes_its_rewards(peer: Peer) -> None:
    entry = peer(
        "wai.ScoredData(rows, run_id='r', source='grade', judge_name='j').push('graded', mode='rl')", rows=ROWS
    )
    assert [row["reward"] for row in peer("wai.pull(id)", id=entry["datasetId"])] == [row["reward"] for row in ROWS]


def test_a_preview_shows_three_rows(peer: Peer) -> None:
    told = peer("wai.preview(id)", id=push(peer))
    assert told["rows"] == ROWS[:3]
    assert isinstance(told["report"], dict)


def test_a_profile_counts_tasks_passes_and_tools(peer: Peer) -> None:
    told = peer("wai.profile(id)", id=push(peer))
    assert (told["rows"], told["tasks"], told["tasks_with_repeats"], told["mixed_tasks"]) == (12, 3, 3, 1)
    assert told["split"] == {"pass": 6, "fail": 6, "ungraded": 0}
    assert told["pass_rate"] == 0.5
    assert told["support"] == {"least": 4, "most": 4, "mean": 4}
    assert told["tool_use"] == {"rows_with_tools": 12, "tools": [{"tool": "track", "rows": 12}]}
    assert told["per_task"] == [
        {"task": "sc_0", "rows": 4, "graded": 4, "pass_rate": 1},
        {"task": "sc_1", "rows": 4, "graded": 4, "pass_rate": 0.5},
        {"task": "sc_2", "rows": 4, "graded": 4, "pass_rate": 0},
    ]
    assert peer("wai.profile(id, force=True)", id=push(peer)) == told


def test_what_is_said_about_a_set_can_be_changed(peer: Peer, platform: Platform) -> None:
    made = push(peer)
    peer("wai.update_dataset(id, purpose='holdout', agent='Desk')", id=made)
    peer("wai.update_dataset(id, description='measured with', mode='sft')", id=made)
    row = platform.get(f"/datasets/{made}", peer.key)
    assert (row["purpose"], row["agent"], row["mode"], row["description"]) == (
        "holdout",
        "Desk",
        "sft",
        "measured with",
    )
    with pytest.raises(PeerError):
        peer("wai.update_dataset(id, purpose='something')", id=made)


def test_a_deleted_set_is_gone_and_deleting_it_again_is_no_error(peer: Peer) -> None:
    made = push(peer)
    peer("wai.delete_dataset(id)", id=made)
    assert peer("wai.datasets()")["datasets"] == []
    peer("wai.delete_dataset(id)", id=made)
    with pytest.raises(PeerError) as refused:
        peer("wai.pull(id)", id=made)
    assert "PlatformError" in refused.value.kinds


def test_sets_without_rows_are_found_before_they_are_deleted(peer: Peer) -> None:
    full = push(peer)
    empty = peer("wai.push_rows([], 'nothing')")["datasetId"]
    small = peer("wai.push_rows(rows, 'two')", rows=ROWS[:2])["datasetId"]
    told = peer("wai.delete_empty_datasets(dry_run=True)")
    assert empty in json.dumps(told)
    assert len(peer("wai.datasets()")["datasets"]) == 3
    peer("wai.delete_empty_datasets()")
    assert {row["datasetId"] for row in peer("wai.datasets()")["datasets"]} == {full, small}
    peer("wai.delete_empty_datasets(max_rows=2)")
    assert [row["datasetId"] for row in peer("wai.datasets()")["datasets"]] == [full]


def test_a_published_set_is_a_card_that_anybody_can_pull(peer: Peer, stranger: Peer) -> None:
    made = push(peer)
    card = peer("wai.publish(id, agent='Desk', description='parcels')", id=made)
    assert (card["datasetId"], card["agent"], card["rows"]) == (made, "Desk", 12)
    shown = next(row for row in stranger("wai.catalog()")["datasets"] if row["datasetId"] == made)
    assert (shown["name"], shown["passRate"], shown["description"]) == ("shelf", 0.5, "parcels")
    assert stranger("wai.pull(id)", id=made) == ROWS
    stranger.key = ""
    assert stranger("wai.pull(id)", id=made) == ROWS
    peer("wai.unpublish(id)", id=made)
    assert made not in json.dumps(peer("wai.catalog()"))
    with pytest.raises(PeerError):
        stranger("wai.pull(id)", id=made)


def test_a_push_can_publish_at_once(peer: Peer) -> None:
    made = push(peer, agent="Desk", publish=True)
    assert made in json.dumps(peer("wai.catalog()"))


def test_a_set_without_rows_cannot_be_published(peer: Peer) -> None:
    empty = peer("wai.push_rows([], 'nothing')")["datasetId"]
    with pytest.raises(PeerError, match="rows"):
        peer("wai.publish(id, agent='Desk')", id=empty)


def test_a_file_with_a_line_that_is_no_row_becomes_no_set(peer: Peer, tmp_path: Path) -> None:
    file = tmp_path / "half.jsonl"
    file.write_text(json.dumps(ROWS[0]) + "\n" + json.dumps(ROWS[1])[:-20])
    with pytest.raises(PeerError, match="line 2"):
        peer("wai.push_file(path, gate=False)", path=str(file))
    assert peer("wai.datasets()")["datasets"] == []


def test_another_account_sees_none_of_it(peer: Peer, stranger: Peer) -> None:
    made = push(peer)
    assert stranger("wai.datasets()")["datasets"] == []
    for call in ("pull", "preview", "profile"):
        with pytest.raises(PeerError):
            stranger(f"wai.{call}(id)", id=made)
    stranger("wai.delete_dataset(id)", id=made)
    assert peer("wai.pull(id)", id=made) == ROWS


def test_a_purge_takes_traces_sets_and_the_agent(peer: Peer) -> None:
    push(peer, agent="old-desk")
    kept = push(peer, "kept")
    rows = [{"prompt": "hello", "final_text": "hi", "reward": 1.0}] * 3
    peer("whileai.send_runs(rows, agent='old-desk')", rows=rows)
    told = peer("wai.purge_agent('old-desk', dry_run=True)")
    assert [agent["name"] for agent in peer("wai.agents()")] == ["old-desk"]
    assert isinstance(told, dict)
    peer("wai.purge_agent('old-desk')")
    assert peer("wai.agents()") == []
    assert [row["datasetId"] for row in peer("wai.datasets()")["datasets"]] == [kept]
