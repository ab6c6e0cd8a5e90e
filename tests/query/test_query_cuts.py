"""What a cut would hold, task by task, and the two sets that come out of one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.api import Caller

# sha256 sides at holdout 0.34: sc_0 and sc_4 (0.33) are held out, sc_1, sc_2 and sc_3 are not.
HOLDOUT = 0.34


@pytest.fixture
def graded(caller: Caller) -> Caller:
    """Five scenarios, one of each kind, and runs that belong to none."""
    caller.task("sc_0", [1, 0, 1, 0])
    caller.task("sc_1", [0, 1, None])
    caller.task("sc_2", [1, 1])
    caller.task("sc_3", [0, 0, 0])
    caller.task("sc_5", [1])
    caller.task("sc_9", [None, None])
    caller.run(prompt="no scenario here")
    return caller


def rows_of(caller: Caller, dataset_id: str) -> list[dict[str, Any]]:
    """Downloaded the way the published client does it: the link alone, without a key."""
    grant = caller.get(f"/datasets/{dataset_id}/download")
    (part,) = grant["parts"]
    answer = caller.client.get(part)
    assert answer.status_code == 200
    assert int(answer.headers["content-length"]) == len(answer.content)
    return [json.loads(line) for line in answer.text.splitlines()]


def test_the_report_counts_runs_and_tasks(graded: Caller) -> None:
    report = graded.get("/traces/cuts", holdout=HOLDOUT)
    assert (report["runs"], report["incomplete"], report["untagged"]) == (16, 0, 1)
    assert (report["ungraded"], report["noReward"]) == (4, 3)
    assert (report["prompts"], report["more"], report["kinds"]["solved"]) == (5, {"prompts": 1}, {"prompts": 1})
    assert report["rl"] == {"prompts": 2, "rows": 6, "train": 1, "holdout": 1}
    assert report["sft"] == {"prompts": 4, "rows": 4, "train": 2, "holdout": 2}
    assert (report["minRuns"], report["band"], report["holdout"]) == (2, [0.2, 0.8], HOLDOUT)


def test_each_task_says_why_it_is_in_or_out(graded: Caller) -> None:
    tasks = {task["scenarioId"]: task for task in graded.get("/traces/cuts/tasks", holdout=HOLDOUT)["tasks"]}
    assert {name: task["bucket"] for name, task in tasks.items()} == {
        "sc_0": "in_band",
        "sc_1": "in_band",
        "sc_2": "solved",
        "sc_3": "never",
        "sc_5": "too_few",
        "sc_9": "ungraded",
    }
    assert (tasks["sc_1"]["runs"], tasks["sc_1"]["graded"], tasks["sc_1"]["passRate"]) == (3, 2, 0.5)
    assert (tasks["sc_0"]["side"], tasks["sc_1"]["side"], tasks["sc_9"]["passRate"]) == ("holdout", "train", None)
    assert tasks["sc_5"]["rl"] == {"included": False, "reason": "1 graded run of 1; a pass rate needs 2"}
    assert tasks["sc_5"]["sft"]["included"] is True


def test_tasks_come_in_pages(graded: Caller) -> None:
    pages = list(graded.pages("/traces/cuts/tasks", "tasks", limit=4))
    assert [len(page) for page in pages] == [4, 2]
    assert [task["scenarioId"] for page in pages for task in page] == ["sc_0", "sc_1", "sc_2", "sc_3", "sc_5", "sc_9"]


def test_an_rl_cut_holds_every_graded_run_of_its_tasks(graded: Caller) -> None:
    answer = graded.post("/datasets/cut", {"filter": {"from": "all"}, "kind": "rl", "holdout": HOLDOUT})
    made = {entry["role"]: entry for entry in answer["made"]}
    assert {role: (entry["rows"], entry["tasks"]) for role, entry in made.items()} == {
        "train": (2, 1),
        "holdout": (4, 1),
    }
    held = rows_of(graded, made["holdout"]["datasetId"])
    assert [row["rollout_index"] for row in held] == [0, 1, 2, 3]
    assert [row["reward"] for row in held] == [1, 0, 1, 0]
    assert {row["scenario_id"] for row in held} == {"sc_0"}
    first = held[0]
    assert first["schema_version"] == "1"
    assert first["lineage"]["source"] == "traces"
    assert first["lineage"]["cut_id"] == answer["cutId"]
    assert first["messages"] == [
        {"role": "user", "content": "How do I sc_0?"},
        {"role": "assistant", "content": "Done."},
    ]


def test_the_two_sets_are_linked_and_know_where_they_come_from(graded: Caller) -> None:
    answer = graded.post("/datasets/cut", {"filter": {"agent": "REFUND-bot"}, "holdout": HOLDOUT, "name": "refunds"})
    train, holdout = (graded.get(f"/datasets/{entry['datasetId']}") for entry in answer["made"])
    assert (train["name"], holdout["name"]) == ("refunds", "refunds-holdout")
    assert (train["purpose"], holdout["purpose"], train["mode"], train["agent"]) == (
        "train",
        "holdout",
        "rl",
        "refund-bot",
    )
    assert (train["siblingDatasetId"], holdout["siblingDatasetId"]) == (holdout["datasetId"], train["datasetId"])
    assert train["lineage"]["filter"] == {"agent": "REFUND-bot"}
    assert train["report"] == answer["report"]
    listed = [row["datasetId"] for row in graded.get("/datasets")["datasets"]]
    assert {train["datasetId"], holdout["datasetId"]} <= set(listed)


def test_an_sft_cut_holds_the_best_run_of_each_task_that_was_ever_passed(caller: Caller) -> None:
    ids = caller.task("sc_1", [0.5, 1, 2, 2])
    caller.task("sc_2", [0.9])
    answer = caller.post("/datasets/cut", {"kind": "SFT", "holdout": 0})
    (made,) = answer["made"]
    (row,) = rows_of(caller, made["datasetId"])
    assert (row["lineage"]["trace_id"], row["rollout_index"]) == (ids[2], 2)


def test_the_same_filter_over_the_same_traces_makes_the_same_rows(graded: Caller) -> None:
    body = {"filter": {"from": "all"}, "kind": "rl", "holdout": HOLDOUT}
    first, second = graded.post("/datasets/cut", body), graded.post("/datasets/cut", body)
    assert first["cutId"] == second["cutId"]
    for one, other in zip(first["made"], second["made"], strict=True):
        assert one["datasetId"] != other["datasetId"]
        assert rows_of(graded, one["datasetId"]) == rows_of(graded, other["datasetId"])


def test_a_cut_never_changes_afterwards(graded: Caller) -> None:
    (train, _) = graded.post("/datasets/cut", {"holdout": HOLDOUT})["made"]
    before = rows_of(graded, train["datasetId"])
    graded.post("/v1/scores", {"traceId": before[0]["lineage"]["trace_id"], "value": 1})
    graded.request("DELETE", f"/traces/{before[1]['lineage']['trace_id']}")
    assert rows_of(graded, train["datasetId"]) == before
    lineage = graded.get(f"/datasets/{train['datasetId']}")["lineage"]
    assert lineage["traces"] == {"count": 2, "gone": 1, "goneIds": [before[1]["lineage"]["trace_id"]]}


def test_filters_mean_the_same_in_a_cut_as_in_the_list(graded: Caller) -> None:
    graded.task("sc_7", [1, 0], agent="other-bot")
    for query in ({"agent": "Other-Bot"}, {"scenario": "sc_0"}, {"verdict": "pass"}, {"q": "SC_7"}):
        listed = [run for page in graded.pages("/traces", "traces", **query, limit=500) for run in page]
        assert graded.get("/traces/cuts", **query)["runs"] == len(listed) > 0


@pytest.mark.parametrize(
    ("rewards", "kind", "reason"),
    [
        ([], "rl", "no complete run matches"),
        ([None], "rl", "is graded"),
        ([1, 1], "rl", "1 passed more often than 0.8"),
        ([0, 0], "rl", "1 passed less often than 0.2"),
        ([1], "rl", "1 with fewer than 2 graded runs"),
        ([0, 0], "sft", "was ever passed"),
    ],
)
def test_a_cut_of_nothing_says_why_and_makes_nothing(
    caller: Caller, rewards: list[float | None], kind: str, reason: str
) -> None:
    if rewards:
        caller.task("sc_1", rewards)
    before = caller.get("/datasets")["datasets"]
    status, message = caller.refused("POST", "/datasets/cut", json={"kind": kind})
    assert status == 409
    assert reason in message
    assert caller.get("/datasets")["datasets"] == before


def test_runs_without_a_scenario_cannot_be_cut(caller: Caller) -> None:
    caller.run(reward=1.0)
    status, message = caller.refused("POST", "/datasets/cut", json={})
    assert status == 409
    assert "names its scenario" in message


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"kind": "dpo"}, "kind"),
        ({"lo": 0.8, "hi": 0.2}, "band"),
        ({"lo": -0.1}, "band"),
        ({"hi": 1.5}, "band"),
        ({"holdout": 1}, "holdout"),
        ({"holdout": -0.2}, "holdout"),
        ({"holdout": "much"}, "holdout"),
        ({"filter": {"agnet": "x"}}, "agnet"),
        ({"filter": {"from": "yesterday"}}, "from"),
        ({"filter": []}, "filter"),
        ({"bond": 1}, "bond"),
        ([], "the body"),
    ],
)
def test_a_malformed_cut_is_refused_by_name(caller: Caller, body: Any, named: str) -> None:
    status, message = caller.refused("POST", "/datasets/cut", json=body)
    assert status == 400
    assert named in message


def test_incomplete_runs_are_counted_and_left_out(graded: Caller) -> None:
    from support import otlp

    child = otlp.chat_run(otlp.new_trace_id(), scenario="sc_0", reward=1.0)[0]
    graded.send_spans([child])
    report = graded.get("/traces/cuts")
    assert (report["runs"], report["incomplete"]) == (16, 1)
    graded.clock.ahead = 61 * otlp.SECOND
    assert (graded.get("/traces/cuts")["runs"], graded.get("/traces/cuts")["incomplete"]) == (17, 0)


def test_near_copies_a_small_holdout_and_single_runs_are_warned_of(caller: Caller) -> None:
    prompt = "please cancel the order number four that I made on monday"
    caller.task("sc_0", [1, 0], prompt=prompt)
    caller.task("sc_1", [1, 0], prompt=prompt + " again")
    caller.task("sc_2", [1], prompt="something else entirely")
    near, small, single = caller.get("/traces/cuts", holdout=HOLDOUT)["warnings"]
    assert "2 tasks ask nearly the same" in near
    assert "the holdout has 1 task" in small
    assert "1 task has a single run" in single
