"""Datasets made from a file: create, send, finalize, describe, profile, publish."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import otlp
from support.api import Caller

from whileai_query import upload

RUN = {"schema_version": "1", "prompt": "Where is it?", "steps": [{"text": "There."}], "final_text": "There."}


def lines(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def push(caller: Caller, rows: list[Any], **said: Any) -> dict[str, Any]:
    made = caller.post("/datasets", {"name": "pushed", **said})
    assert caller.client.put(made["uploadUrl"], content=lines(rows)).is_success
    finished: dict[str, Any] = caller.request("POST", f"/datasets/{made['datasetId']}/finalize").json()
    return finished


def stored_files(caller: Caller) -> list[Path]:
    root = Path(caller.services.objects.root) / caller.account
    return sorted(path for path in root.rglob("*") if path.is_file())


def pulled(caller: Caller, dataset_id: str) -> bytes:
    return caller.client.get(caller.get(f"/datasets/{dataset_id}/download")["parts"][0]).content


def test_what_was_pushed_can_be_pulled_byte_for_byte(caller: Caller) -> None:
    parent = push(caller, [RUN])
    body = b'{"any": "row \xe2\x98\x83"}\n\n  {"b": [1, 2.50]}'
    said = {
        "purpose": "eval",
        "mode": "rl",
        "agent": "Triage",
        "description": "d",
        "parentDatasetId": parent["datasetId"],
    }
    made = caller.post("/datasets", {"name": "../../etc/passwd", **said})
    assert made["uploadUrl"].startswith("http://testserver/")
    assert caller.client.put(made["uploadUrl"], content=body).is_success
    finished = caller.request("POST", f"/datasets/{made['datasetId']}/finalize").json()
    assert {key: finished[key] for key in said} == said
    assert (finished["name"], finished["rows"], finished["sizeBytes"], finished["status"]) == (
        "../../etc/passwd",
        2,
        len(body),
        "ready",
    )
    assert pulled(caller, made["datasetId"]) == body
    assert [agent["name"] for agent in caller.get("/agents")["agents"]] == ["Triage"]


def test_finalizing_twice_gives_the_same_answer(caller: Caller) -> None:
    first = push(caller, [RUN])
    assert caller.request("POST", f"/datasets/{first['datasetId']}/finalize").json() == first


def test_an_empty_file_is_a_dataset_without_rows(caller: Caller) -> None:
    empty = push(caller, [])
    assert (empty["status"], empty["rows"]) == ("ready", 0)
    assert pulled(caller, empty["datasetId"]) == b""


def test_nothing_can_be_finalized_before_it_was_sent(caller: Caller) -> None:
    made = caller.post("/datasets", {"name": "later"})
    assert (made["status"], made["purpose"]) == ("uploading", "train")
    assert caller.refused("POST", f"/datasets/{made['datasetId']}/finalize")[0] == 409
    assert caller.refused("GET", f"/datasets/{made['datasetId']}/download")[0] == 409


def test_sending_again_replaces_until_the_set_is_finalized(caller: Caller) -> None:
    made = caller.post("/datasets", {"name": "twice"})
    for row in ({"a": 1}, {"a": 2}):
        assert caller.client.put(made["uploadUrl"], content=lines([row])).is_success
    assert len(stored_files(caller)) == 1
    caller.request("POST", f"/datasets/{made['datasetId']}/finalize")
    assert pulled(caller, made["datasetId"]) == lines([{"a": 2}])
    assert caller.client.put(made["uploadUrl"], content=lines([{"a": 3}])).status_code == 409
    assert pulled(caller, made["datasetId"]) == lines([{"a": 2}])
    caller.request("DELETE", f"/datasets/{made['datasetId']}")
    assert stored_files(caller) == []


def test_an_upload_link_is_for_one_set_and_for_a_while(caller: Caller) -> None:
    one, other = caller.post("/datasets", {"name": "one"}), caller.post("/datasets", {"name": "other"})
    download = caller.get(f"/datasets/{push(caller, [RUN])['datasetId']}/download")["downloadUrl"]
    before = stored_files(caller)
    crossed = one["uploadUrl"].replace(one["datasetId"], other["datasetId"])
    borrowed = one["uploadUrl"].partition("?")[0] + "?" + download.partition("?")[2]
    for url in (crossed, borrowed, one["uploadUrl"][:-3] + "xyz", one["uploadUrl"].partition("?")[0]):
        assert caller.client.put(url, content=lines([RUN])).status_code == 403
    caller.clock.ahead = 24 * 3600 * otlp.SECOND
    assert caller.client.put(one["uploadUrl"], content=lines([RUN])).status_code == 403
    assert stored_files(caller) == before


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"{", "line 2 is not JSON"),
        (b"[1]", "line 2 is not a JSON object"),
        (b"{}", "at least one field"),
        (b'{"schema_version": "1", "prompt": "p", "steps": []}', "final_text is missing"),
        (b'{"schema_version": "1", "prompt": 5, "steps": [], "final_text": ""}', "prompt has the wrong shape"),
        (b'{"schema_version": "1", "prompt": "p", "steps": [{}], "final_text": ""}', "steps has the wrong shape"),
        (b'{"schema_version": "1", "messages": [{"content": "x"}]}', "messages has the wrong shape"),
        (b'{"schema_version": "1", "prompt": "p", "chosen": "c"}', "rejected is missing"),
        (b'{"a": "\xff"}', "line 2 is not JSON"),
    ],
)
def test_the_first_bad_line_is_named_and_nothing_is_stored(caller: Caller, bad: bytes, reason: str) -> None:
    made = caller.post("/datasets", {"name": "bad"})
    answer = caller.client.put(made["uploadUrl"], content=lines([RUN]) + bad + b"\n" + lines([RUN]))
    assert answer.status_code == 400
    assert reason in answer.json()["error"]
    assert stored_files(caller) == []


def test_training_and_preference_rows_are_rows(caller: Caller) -> None:
    training = {"schema_version": "1", "messages": [{"role": "user", "content": "x"}], "loss_mask": [0]}
    preference = {"schema_version": "1", "prompt": "p", "chosen": "a", "rejected": "b"}
    assert push(caller, [RUN, training, preference, {"no": "stamp"}])["rows"] == 4


def test_a_file_without_room_is_refused_before_it_is_taken(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "LARGEST_FILE", 100)
    made = caller.post("/datasets", {"name": "big"})
    announced = caller.client.put(made["uploadUrl"], content=lines([RUN] * 50))
    unannounced = caller.client.put(made["uploadUrl"], content=(lines([RUN]) for _ in range(50)))
    assert [announced.status_code, unannounced.status_code] == [413, 413]
    assert stored_files(caller) == []


def test_what_is_said_about_a_set_can_be_changed(caller: Caller) -> None:
    made = push(caller, [RUN], description="first")
    path = f"/datasets/{made['datasetId']}/meta"
    changed = caller.post(path, {"purpose": "holdout", "agent": "triage"})
    assert (changed["purpose"], changed["agent"], changed["description"]) == ("holdout", "triage", "first")
    assert caller.refused("POST", path, json={})[0] == 400
    assert "purpose" in caller.refused("POST", path, json={"purpose": "fun"})[1]
    assert caller.refused("POST", "/datasets/ds_none/meta", json={"mode": "rl"})[0] == 404


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "x" * 300}, {"name": "x", "purpose": "fun"}, {"name": "x", "mode": "fast"}, []]
)
def test_a_malformed_creation_is_refused(caller: Caller, body: Any) -> None:
    assert caller.refused("POST", "/datasets", json=body)[0] == 400


def test_the_profile_counts_passes_tasks_and_tools(caller: Caller) -> None:
    tool = {"tool": "lookup", "arguments": {}, "result": 1}
    rows = [
        {**RUN, "scenario_id": "a", "reward": 1, "steps": [tool, {"text": "x"}]},
        {**RUN, "scenario_id": "a", "reward": 0.4},
        {**RUN, "task_id": "b", "reward": 0.5},
        {**RUN, "reward": None},
    ]
    made = push(caller, rows)
    profile = caller.get(f"/datasets/{made['datasetId']}/profile")["profile"]
    assert (profile["rows"], profile["tasks"], profile["tasks_with_repeats"], profile["mixed_tasks"]) == (4, 3, 1, 1)
    assert profile["split"] == {"pass": 2, "fail": 1, "ungraded": 1}
    assert profile["tool_use"]["tools"] == [{"tool": "lookup", "rows": 1}]
    assert {entry["task"]: (entry["graded"], entry["pass_rate"]) for entry in profile["per_task"]} == {
        "a": (2, 0.5),
        "b": (1, 1.0),
        "Where is it?": (0, None),
    }
    assert caller.get(f"/datasets/{made['datasetId']}/profile", force="1")["profile"] == profile


def test_a_published_set_is_for_everybody_until_it_is_taken_back(new_caller: Callable[[], Caller]) -> None:
    mine, other = new_caller(), new_caller()
    made = push(mine, [{**RUN, "reward": 1}])
    path = f"/datasets/{made['datasetId']}"
    card = mine.post(f"{path}/publish", {"agent": "triage", "description": "For all."})
    assert (card["agent"], card["rows"], card["passRate"], card["description"]) == ("triage", 1, 1.0, "For all.")
    shown = mine.client.get("/catalog").json()
    assert made["datasetId"] in [entry["datasetId"] for entry in shown["datasets"]]
    assert mine.account not in json.dumps(shown)
    grant = other.client.get(f"/catalog/{made['datasetId']}/download").json()
    assert other.client.get(grant["parts"][0]).content == lines([{**RUN, "reward": 1}])
    assert other.refused("POST", f"{path}/unpublish")[0] == 404
    (agent,) = mine.get("/agents")["agents"]
    assert agent["publicCards"] == 1
    assert mine.request("POST", f"{path}/unpublish").json()["published"] is False
    assert other.client.get(f"/catalog/{made['datasetId']}/download").status_code == 404


def test_an_unfinished_or_empty_set_cannot_be_published(caller: Caller) -> None:
    unfinished, empty = caller.post("/datasets", {"name": "x"}), push(caller, [])
    for dataset_id in (unfinished["datasetId"], empty["datasetId"]):
        assert caller.refused("POST", f"/datasets/{dataset_id}/publish", json={"agent": "a"})[0] == 409


def test_a_trial_stores_no_more_than_its_limit(new_caller: Callable[[], Caller]) -> None:
    caller = new_caller()
    made_up = f"{caller.account}@example.com"
    signed_up = caller.services.registry.signup.create(made_up, "", client=caller.account)
    trial = replace(caller, key=signed_up.key.secret, account=signed_up.account.id)
    limit = trial.get("/me")["limits"]["storage_bytes"]
    made = trial.post("/datasets", {"name": "large"})
    too_much = {"content-length": str(limit + 1)}
    answer = trial.client.put(made["uploadUrl"], content=b"{}", headers=too_much)
    assert answer.status_code == 413
    assert str(limit) in answer.json()["error"]
    assert trial.client.put(made["uploadUrl"], content=b'{"a": 1}').is_success
