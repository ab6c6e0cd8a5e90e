"""Cuts with both clients: the report, its sentence, and the two sets that come out."""

from __future__ import annotations

from typing import Any

import pytest
from conformance.conftest import Platform
from support.peers import Peer, PeerError

# Of the ids sc_0 to sc_5 none lies below 0.2; this one does.
HELD_OUT = "task-7"


def runs(task: str, rewards: list[float | None], **more: Any) -> list[dict[str, Any]]:
    return [
        {"prompt": f"Do {task}.", "final_text": f"Try {number}.", "scenario_id": task, **more}
        | ({} if reward is None else {"reward": reward})
        for number, reward in enumerate(rewards)
    ]


def send(peer: Peer, rows: list[dict[str, Any]], agent: str = "Desk", **about: Any) -> None:
    peer("whileai.send_runs(rows, agent=agent, **about)", rows=rows, agent=agent, about=about)


MIXED = [*runs("sc_1", [1.0, 0.0, 1.0, 0.0]), *runs(HELD_OUT, [1.0, 0.0]), *runs("sc_2", [1.0, 1.0])]


def test_the_report_counts_tasks_by_what_they_are_good_for(peer: Peer) -> None:
    send(peer, [*MIXED, *runs("sc_3", [0.0, 0.0]), *runs("sc_4", [1.0]), *runs("sc_5", [None])])
    told = peer("wai.cuts(agent='DESK')")
    assert (told["runs"], told["prompts"], told["noReward"]) == (12, 5, 1)
    assert told["rl"] == {"prompts": 2, "rows": 6, "train": 1, "holdout": 1}
    assert told["sft"]["prompts"] == 4
    assert told["kinds"]["solved"] == {"prompts": 1}
    assert told["more"] == {"prompts": 1}
    assert told["filter"]["agent"] == "desk"


def test_an_rl_cut_is_two_sets_that_share_no_task(peer: Peer, platform: Platform) -> None:
    send(peer, MIXED)
    made = peer("wai.cut(agent='desk', kind='rl')")
    train = peer("wai.pull(id)", id=made["train"]["datasetId"])
    holdout = peer("wai.pull(id)", id=made["holdout"]["datasetId"])
    assert [(row["scenario_id"], row["reward"]) for row in train] == [
        ("sc_1", 1),
        ("sc_1", 0),
        ("sc_1", 1),
        ("sc_1", 0),
    ]
    assert {row["scenario_id"] for row in holdout} == {HELD_OUT}
    assert train[0]["prompt"] == "Do sc_1."
    assert train[0]["messages"][-1] == {"role": "assistant", "content": "Try 0."}
    row = platform.get(f"/datasets/{made['train']['datasetId']}", peer.key)
    assert row["siblingDatasetId"] == made["holdout"]["datasetId"]
    assert (row["purpose"], row["mode"]) == ("train", "rl")


def test_an_sft_cut_keeps_the_best_run_of_every_task_that_passed(peer: Peer) -> None:
    send(peer, [*MIXED, *runs("sc_3", [0.0, 0.0])])
    made = peer("wai.cut(agent='Desk', kind='SFT', holdout=0)")
    rows = peer("wai.pull(id)", id=made["train"]["datasetId"])
    assert [(row["scenario_id"], row["reward"]) for row in rows] == [("sc_1", 1), ("sc_2", 1), (HELD_OUT, 1)]
    assert made["holdout"] is None


def test_the_band_and_the_name_are_the_callers(peer: Peer) -> None:
    send(peer, MIXED)
    made = peer("wai.cut(agent='Desk', band=(0.9, 1.0), holdout=0.0, name='easy')")
    assert made["train"]["name"] == "easy"
    assert {row["scenario_id"] for row in peer("wai.pull(id)", id=made["train"]["datasetId"])} == {"sc_2"}


def test_filters_choose_the_runs(peer: Peer) -> None:
    send(peer, runs("sc_1", [1.0, 0.0]), model="small")
    send(peer, runs("sc_2", [1.0, 0.0]), model="large")
    assert peer("wai.cuts(agent='Desk', model='small')")["runs"] == 2
    assert peer("wai.cuts(agent='Desk', since='1h')")["runs"] == 4
    assert peer("wai.cuts(agent='other')")["runs"] == 0
    with pytest.raises(PeerError, match="colour"):
        peer("wai.cuts(agent='Desk', colour='red')")


def test_nothing_to_cut_says_why(peer: Peer) -> None:
    send(peer, runs("sc_1", [None, None]))
    with pytest.raises(PeerError) as refused:
        peer("wai.cut(agent='Desk')")
    assert "PlatformError" in refused.value.kinds
    assert "409" in refused.value.message
    assert all(row["purpose"] == "eval" for row in peer("wai.datasets()")["datasets"])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (MIXED, ["2", "6", "rl"]),
        (runs("sc_1", [1.0, 1.0]), ["1", "sft"]),
        (runs("sc_1", [None, None]), ["2"]),
        (runs("sc_1", [0.0, 0.0]), ["0"]),
    ],
    ids=["tasks worth training on", "only solved ones", "no verdicts", "never passed"],
)
def test_the_sentence_says_what_the_report_holds(peer: Peer, rows: list[dict[str, Any]], words: list[str]) -> None:
    send(peer, rows)
    told = peer("wai.format_cuts(wai.cuts(agent='Desk'), agent='Desk')")
    assert all(word in told for word in words), told


def test_a_graded_run_moves_into_the_cut(peer: Peer, platform: Platform) -> None:
    send(peer, runs("sc_1", [1.0, None]))
    ungraded = platform.get("/traces", peer.key, verdict="none")["traces"]
    assert peer("wai.cuts(agent='Desk')")["rl"]["prompts"] == 0
    peer("wai.send_score(id, 0.0)", id=ungraded[0]["traceId"])
    assert peer("wai.cuts(agent='Desk')")["rl"]["prompts"] == 1


def test_another_account_cuts_nothing_of_it(peer: Peer, stranger: Peer) -> None:
    send(peer, MIXED)
    assert stranger("wai.cuts()")["runs"] == 0
    with pytest.raises(PeerError):
        stranger("wai.cut()")
