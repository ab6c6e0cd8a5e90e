"""Datasets, their links and previews; agents; the account; what was refused."""

from __future__ import annotations

import json

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from support import otlp
from support.api import Caller


def test_a_download_link_works_without_a_key_and_only_for_its_own_set(caller: Caller) -> None:
    caller.task("sc_0", [1, 0])
    caller.task("sc_1", [1, 0])
    train, holdout = caller.post("/datasets/cut", {"holdout": 0.34})["made"]
    grant = caller.get(f"/datasets/{train['datasetId']}/download")
    assert grant["downloadUrl"] == grant["parts"][0]
    assert grant["downloadUrl"].startswith("http://testserver/")
    answer = caller.client.get(grant["downloadUrl"])
    assert (answer.status_code, len(answer.text.splitlines())) == (200, 2)
    other = grant["downloadUrl"].replace(train["datasetId"], holdout["datasetId"])
    no_part = grant["downloadUrl"].replace("/parts/0", "/parts/1")
    forged = grant["downloadUrl"][:-4] + "AAAA"
    bare = grant["downloadUrl"].partition("?")[0]
    assert [caller.client.get(url).status_code for url in (other, no_part, forged, bare)] == [403, 404, 403, 403]
    caller.request("DELETE", f"/datasets/{train['datasetId']}")
    assert caller.client.get(grant["downloadUrl"]).status_code == 404


def test_a_download_link_expires(caller: Caller) -> None:
    caller.task("sc_1", [1, 0])
    (made,) = caller.post("/datasets/cut", {"holdout": 0})["made"]
    url = caller.get(f"/datasets/{made['datasetId']}/download")["downloadUrl"]
    caller.clock.ahead = 24 * 3600 * otlp.SECOND
    assert caller.client.get(url).status_code == 403


def test_a_preview_shows_three_rows_and_the_report(caller: Caller) -> None:
    caller.task("sc_1", [1, 0, 1, 0])
    (made,) = caller.post("/datasets/cut", {"holdout": 0})["made"]
    preview = caller.get(f"/datasets/{made['datasetId']}/preview")
    assert [row["rollout_index"] for row in preview["rows"]] == [0, 1, 2]
    assert preview["report"]["rl"]["rows"] == 4


def test_a_deleted_set_leaves_no_file(caller: Caller) -> None:
    caller.task("sc_1", [1, 0])
    (made,) = caller.post("/datasets/cut", {"holdout": 0})["made"]
    key = f"{caller.account}/{made['datasetId']}/rows.jsonl"
    assert caller.services.objects.size(key) == made["sizeBytes"]
    for _ in range(2):
        assert caller.request("DELETE", f"/datasets/{made['datasetId']}").status_code == 204
    with pytest.raises(FileNotFoundError):
        caller.services.objects.size(key)


def test_a_day_of_traces_can_be_read_as_a_dataset(caller: Caller) -> None:
    ids = {caller.run(reward=1.0), caller.run()}
    (day,) = caller.get("/datasets")["datasets"]
    assert (day["purpose"], day["rows"], day["name"]) == ("eval", 2, "traces")
    url = caller.get(f"/datasets/{day['datasetId']}/download")["downloadUrl"]
    rows = [json.loads(line) for line in caller.client.get(url).text.splitlines()]
    assert {row["lineage"]["trace_id"] for row in rows} == ids
    assert len(caller.get(f"/datasets/{day['datasetId']}/preview")["rows"]) == 2
    caller.request("DELETE", f"/datasets/{day['datasetId']}")
    assert caller.get("/datasets")["datasets"] == []


def test_datasets_come_in_pages_newest_first(caller: Caller) -> None:
    caller.task("sc_1", [1, 0])
    for number in range(3):
        caller.post("/datasets/cut", {"holdout": 0, "name": f"cut-{number}"})
    pages = list(caller.pages("/datasets", "datasets", limit=2, purpose="train"))
    assert [row["name"] for page in pages for row in page] == ["cut-2", "cut-1", "cut-0"]
    assert caller.get("/datasets")["storageBytes"] > 0


def test_an_agent_exists_once_a_trace_or_a_call_names_it(caller: Caller) -> None:
    caller.run(agent="Refund-Bot")
    caller.run(agent="refund-bot")
    caller.run(agent="refund-bot")
    caller.task("sc_1", [1, 0], agent="triage")
    caller.post("/datasets/cut", {"filter": {"agent": "TRIAGE"}, "holdout": 0})
    caller.post("/agents", {"name": "REFUND-BOT", "description": "Refunds", "system_prompt": "Be kind."})
    caller.post("/agents", {"id": "quiet", "name": "Quiet one", "harness": {"label": "h-1", "tools": []}})
    agents = {agent["id"]: agent for agent in caller.get("/agents")["agents"]}
    assert list(agents) == ["quiet", "REFUND-BOT", "triage"]
    assert (agents["REFUND-BOT"]["traces"], agents["REFUND-BOT"]["description"]) == (3, "Refunds")
    assert agents["triage"]["datasets"] == {"train": 1, "holdout": 0, "eval": 0}
    assert (agents["quiet"]["name"], agents["quiet"]["traces"]) == ("Quiet one", 0)
    assert agents["quiet"]["harness"] == {"label": "h-1", "tools": []}
    assert "harness" not in agents["triage"]
    assert all(agent["id"] and agent["name"] for agent in agents.values())


def test_registering_again_merges(caller: Caller) -> None:
    caller.post("/agents", {"name": "triage", "description": "sorts", "model": "m-1"})
    caller.post("/agents", {"name": "Triage", "model": "m-2"})
    (agent,) = caller.get("/agents")["agents"]
    assert (agent["name"], agent["description"], agent["model"]) == ("triage", "sorts", "m-2")


@pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": 5}, {"name": "x", "tools": "y"}, []])
def test_a_malformed_agent_is_refused(caller: Caller, body: object) -> None:
    assert caller.refused("POST", "/agents", json=body)[0] == 400


def test_the_account_and_its_keys(caller: Caller) -> None:
    me = caller.get("/me")
    assert (me["accountId"], me["tier"], me["usage"]["datasets"]) == (caller.account, "standard", 0)
    keys = caller.get("/keys")
    (key,) = keys["keys"]
    assert key["name"] == "tests"
    assert caller.key not in json.dumps(keys)
    assert keys["limit"] >= 5


def test_what_the_door_refused_is_readable(caller: Caller) -> None:
    request = ExportTraceServiceRequest.FromString(otlp.traces(otlp.chat_run(otlp.new_trace_id())))
    request.resource_spans[0].scope_spans[0].spans[1].trace_id = b"short"
    for _ in range(2):
        caller.send(request.SerializeToString())
    rows = [row for page in caller.pages("/rejections", "rejections", limit=1) for row in page]
    assert sum(row["count"] for row in rows) == 2
    assert {(row["signal"], row["reason"], row["agent"]) for row in rows} == {("traces", "trace_id", "refund-bot")}
    assert "16 bytes" in rows[0]["detail"]
