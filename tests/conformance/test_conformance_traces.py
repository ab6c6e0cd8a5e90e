"""Traces and their grades with both clients: bodies, files, finished runs, and every way to send a score."""

from __future__ import annotations

import contextlib
import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from conformance.conftest import Platform
from support.otlp import new_trace_id
from support.peers import Peer, PeerError

RUNS: list[dict[str, Any]] = [
    {"prompt": "Where is parcel 1?", "final_text": "At the depot.", "reward": 1.0, "scenario_id": "sc_1"},
    {"prompt": "Where is parcel 1?", "final_text": "No idea.", "reward": 0.0, "scenario_id": "sc_1"},
    {"prompt": "Where is parcel 2?", "final_text": "Delivered."},
]


def request(trace_id: str, dataset: str | None = None, **attributes: str) -> dict[str, Any]:
    """One OTLP JSON request with one span of an agent."""
    now = time.time_ns()
    told = {"gen_ai.agent.name": "Desk", "gen_ai.prompt": "hello", "gen_ai.completion": "hi", **attributes}
    span = {
        "traceId": trace_id,
        "spanId": trace_id[:16],
        "name": "agent.run",
        "kind": 1,
        "startTimeUnixNano": str(now),
        "endTimeUnixNano": str(now + 1_000_000),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in told.items()],
    }
    resource = [{"key": "whileai.dataset", "value": {"stringValue": dataset}}] if dataset else []
    return {"resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": [{"spans": [span]}]}]}


def send(peer: Peer, *trace_ids: str) -> None:
    for trace_id in trace_ids:
        body = json.dumps(request(trace_id))
        peer("whileai.send_traces(key, body.encode())", key=peer.key, body=body)


def test_a_body_that_was_sent_names_its_dataset_and_is_a_run(peer: Peer, platform: Platform) -> None:
    trace_id = new_trace_id()
    body = json.dumps(request(trace_id, "batch"))
    told = peer("whileai.send_traces(key, body.encode())", key=peer.key, body=body)
    assert (told["dataset"], told["rows"]) == ("batch", 1)
    again = peer("whileai.send_traces(key, body.encode())", key=peer.key, body=body)
    assert again["datasetId"] == told["datasetId"]
    run = platform.get(f"/traces/{trace_id}", peer.key)
    assert (run["agent"], run["prompt"], run["finalText"], run["spanCount"]) == ("Desk", "hello", "hi", 1)


def test_a_packed_body_is_unpacked(peer: Peer, platform: Platform) -> None:
    trace_id = new_trace_id()
    packed = gzip.compress(json.dumps(request(trace_id)).encode()).hex()
    peer("whileai.send_traces(key, bytes.fromhex(body))", key=peer.key, body=packed)
    assert platform.get(f"/traces/{trace_id}", peer.key)["finalText"] == "hi"


def test_times_in_milliseconds_are_refused_before_they_leave(peer: Peer) -> None:
    body = request(new_trace_id())
    body["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["startTimeUnixNano"] = "1770000000000"
    with pytest.raises(PeerError):
        peer("whileai.send_traces(key, body.encode())", key=peer.key, body=json.dumps(body))
    assert peer("whileai.list_traces()")["traces"] == []


def test_a_wrong_key_is_told(peer: Peer) -> None:
    body = json.dumps(request(new_trace_id()))
    with pytest.raises(PeerError) as refused:
        peer("whileai.send_traces('zp_wrong_key_0123456789', body.encode())", body=body)
    assert "WhileIngestError" in refused.value.kinds


def test_a_file_goes_to_the_dataset_it_is_told(peer: Peer, tmp_path: Path) -> None:
    file = tmp_path / "traces.json"
    documents = [request(new_trace_id(), "other"), request(new_trace_id())]
    whole = {"resourceSpans": [spans for document in documents for spans in document["resourceSpans"]]}
    file.write_text(json.dumps(whole))
    told = peer("whileai.ingest_traces(key, path, dataset='from-file')", key=peer.key, path=str(file))
    assert told["dataset"] == "from-file"
    (day,) = peer("whileai.list_traces()")["traces"]
    assert (day["name"], day["rows"], day["datasetId"]) == ("from-file", 2, told["datasetId"])


def test_finished_runs_are_graded_runs_of_their_tasks(peer: Peer, platform: Platform) -> None:
    told = peer("whileai.send_runs(runs, agent='Desk', dataset='runs', model='m-7')", runs=RUNS)
    assert (told["dataset"], told["rows"]) == ("runs", 3)
    runs = platform.get("/traces", peer.key, agent="desk")["traces"]
    assert {(run["prompt"], run["verdict"], run["model"]) for run in runs} == {
        ("Where is parcel 1?", "pass", "m-7"),
        ("Where is parcel 1?", "fail", "m-7"),
        ("Where is parcel 2?", None, "m-7"),
    }
    scenarios = sorted(run["scenarioId"] for run in runs)
    assert scenarios[1:] == ["sc_1", "sc_1"]
    assert scenarios[0].startswith("p-")


def test_a_bar_below_one_is_the_bar_of_these_runs(peer: Peer, platform: Platform) -> None:
    peer("whileai.send_runs([dict(prompt='p', final_text='t', reward=0.6)], agent='Desk', pass_at=0.5)")
    (run,) = platform.get("/traces", peer.key, agent="Desk")["traces"]
    assert (run["reward"], run["verdict"]) == (0.6, "pass")


def test_many_runs_at_once_all_arrive(peer: Peer) -> None:
    runs = [{"prompt": f"question {number}", "final_text": "word " * 200, "reward": 1.0} for number in range(1500)]
    assert peer("whileai.send_runs(runs, agent='Desk', dataset='many')", runs=runs)["rows"] == 1500
    assert [day["rows"] for day in peer("whileai.list_traces()")["traces"]] == [1500]


def test_ingested_days_are_eval_sets_with_rows(peer: Peer) -> None:
    told = peer("whileai.send_runs(runs, agent='Desk', dataset='runs')", runs=RUNS)
    (row,) = peer("wai.datasets()")["datasets"]
    assert (row["datasetId"], row["purpose"], row["rows"]) == (told["datasetId"], "eval", 3)
    pulled = peer("wai.pull(id)", id=told["datasetId"])
    assert sorted(row["final_text"] for row in pulled) == ["At the depot.", "Delivered.", "No idea."]


def test_the_environment_points_an_exporter_at_the_service(peer: Peer, platform: Platform) -> None:
    told = peer("whileai.otel_env(key, dataset='support')", key=peer.key)
    assert told["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] == f"{platform.url}/v1/traces"
    assert told["OTEL_EXPORTER_OTLP_HEADERS"] == f"x-api-key={peer.key}"
    assert told["OTEL_RESOURCE_ATTRIBUTES"] == "zeroproof.dataset=support,whileai.dataset=support"
    assert told["OTEL_EXPORTER_OTLP_PROTOCOL"] == {"published": "http/json", "ours": "http/protobuf"}[peer.name]


def test_a_score_is_the_verdict_and_the_next_one_corrects_it(peer: Peer, platform: Platform) -> None:
    trace_id = new_trace_id()
    send(peer, trace_id)
    assert peer("wai.send_score(id, 1.0)", id=trace_id)["applied"] == 1
    assert platform.get(f"/traces/{trace_id}", peer.key)["verdict"] == "pass"
    peer("wai.send_score(id, False)", id=trace_id)
    run = platform.get(f"/traces/{trace_id}", peer.key)
    assert (run["verdict"], run["reward"]) == ("fail", 0.0)
    (score,) = run["scores"]
    assert [old["value"] for old in score["history"]] == [1.0]


def test_the_first_half_of_an_id_names_its_run(peer: Peer, platform: Platform) -> None:
    trace_id = new_trace_id()
    send(peer, trace_id)
    peer("wai.send_score(id, 0.7, pass_at=0.5)", id=trace_id[:16])
    run = platform.get(f"/traces/{trace_id}", peer.key)
    assert (run["reward"], run["verdict"]) == (0.7, "pass")


def test_a_batch_grades_many_runs_under_many_names(peer: Peer, platform: Platform) -> None:
    first, second = new_trace_id(), new_trace_id()
    send(peer, first, second)
    scores = [
        {"traceId": first, "value": 1.0},
        {"traceId": second, "value": 0.0},
        {"traceId": first, "name": "tone", "label": "warm"},
        {"traceId": second, "name": "quality", "value": 0.25, "max": 1, "direction": "up"},
    ]
    assert peer("wai.send_score(scores=scores)", scores=scores)["applied"] == 4
    told = platform.get(f"/traces/{first}", peer.key)
    assert told["verdict"] == "pass"
    assert {score["name"]: (score["value"], score["label"]) for score in told["scores"]} == {
        "score": (1.0, None),
        "tone": (None, "warm"),
    }
    runs = platform.get("/traces", peer.key, measure="quality")["traces"]
    assert [run["traceId"] for run in runs] == [second]


def test_measurements_beside_the_verdict_leave_it_alone(peer: Peer, platform: Platform) -> None:
    trace_id = new_trace_id()
    send(peer, trace_id)
    peer("wai.send_score(id, 0.9, name='helpful')", id=trace_id)
    run = platform.get(f"/traces/{trace_id}", peer.key)
    assert (run["verdict"], run["reward"]) == (None, None)


def test_a_part_of_a_batch_that_cannot_be_is_rejected_and_the_rest_is_kept(peer: Peer) -> None:
    trace_id = new_trace_id()
    send(peer, trace_id)
    scores = [{"traceId": trace_id, "value": 1.0}, {"traceId": trace_id, "name": "text", "value": "very good"}]
    told = peer("wai.send_score(scores=scores)", scores=scores)
    assert (told["applied"], len(told["rejected"])) == (1, 1)
    assert "error" in told["rejected"][0]


def test_a_score_for_a_run_that_is_not_there_waits_for_it(peer: Peer, platform: Platform) -> None:
    trace_id = new_trace_id()
    if peer.name == "published":
        with pytest.raises(PeerError, match=trace_id):
            peer("wai.send_score(id, 1.0)", id=trace_id)
    else:
        assert peer("wai.send_score(id, 1.0)", id=trace_id)["pending"] == [trace_id]
    send(peer, trace_id)
    assert platform.get(f"/traces/{trace_id}", peer.key)["verdict"] == "pass"


def test_a_score_for_an_impossible_id_says_so(peer: Peer) -> None:
    with pytest.raises(PeerError, match="hex"):
        peer("wai.send_score('no-such-run', 1.0)")


def test_another_accounts_run_cannot_be_graded(peer: Peer, stranger: Peer, platform: Platform) -> None:
    trace_id = new_trace_id()
    send(peer, trace_id)
    with contextlib.suppress(PeerError):  # ours keeps the score for a run that may still come
        stranger("wai.send_score(id, 1.0)", id=trace_id)
    assert platform.get(f"/traces/{trace_id}", peer.key)["verdict"] is None
    assert stranger("whileai.list_traces()")["traces"] == []
