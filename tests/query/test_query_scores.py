"""Grading runs that already ran."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from support import otlp
from support.api import Caller

from whileai_query import scores


def test_a_score_is_the_verdict_and_a_second_one_corrects_it(caller: Caller) -> None:
    trace_id = caller.run()
    assert caller.post("/v1/scores", {"traceId": trace_id.upper(), "value": 0.99}) == {
        "applied": 1,
        "unknown": [],
        "pending": [],
        "rejected": [],
    }
    assert caller.get(f"/traces/{trace_id}")["verdict"] == "fail"
    caller.post("/v1/scores", {"traceId": trace_id, "value": True})
    run = caller.get(f"/traces/{trace_id}")
    assert (run["verdict"], run["reward"]) == ("pass", 1.0)
    (score,) = run["scores"]
    assert (score["source"], [earlier["value"] for earlier in score["history"]]) == ("call", [0.99])


def test_names_labels_bars_and_further_fields_are_kept(caller: Caller) -> None:
    trace_id = caller.run()
    answer = caller.post(
        "/v1/scores",
        {
            "traceId": trace_id,
            "scores": [
                {"name": "tone", "label": "friendly"},
                {"name": "score", "value": 0.7, "pass_at": 0.5, "max": 1, "description": "by hand", "kind": "human"},
                {"name": "tiny", "value": 1e-300},
            ],
        },
    )
    assert answer["applied"] == 3
    run = caller.get(f"/traces/{trace_id}")
    assert run["verdict"] == "pass"
    found = {score["name"]: score for score in run["scores"]}
    assert (found["tone"]["label"], found["tone"]["value"]) == ("friendly", None)
    assert (found["score"]["passAt"], found["score"]["max"], found["score"]["kind"]) == (0.5, 1, "human")
    assert found["tiny"]["value"] == 1e-300


def test_the_first_half_of_a_trace_id_names_its_run(caller: Caller) -> None:
    trace_id = caller.run()
    assert caller.post("/v1/scores", {"traceId": trace_id[:16], "value": 1})["applied"] == 1
    assert caller.get(f"/traces/{trace_id[:16]}")["verdict"] == "pass"


def test_an_ambiguous_prefix_is_refused(caller: Caller) -> None:
    prefix = otlp.new_span_id()
    for _ in range(2):
        caller.send_spans(otlp.chat_run(prefix + otlp.new_span_id()))
    answer = caller.post("/v1/scores", {"scores": [{"traceId": prefix, "value": 1}]})
    assert answer["applied"] == 0
    assert answer["rejected"][0]["index"] == 0
    assert "more than one" in answer["rejected"][0]["error"]
    assert caller.refused("GET", f"/traces/{prefix}")[0] == 404


def test_a_score_that_comes_first_waits_for_its_trace(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "PATIENCE_SECONDS", 0)
    trace_id = otlp.new_trace_id()
    assert caller.post("/v1/scores", {"traceId": trace_id, "value": 1}) == {
        "applied": 0,
        "unknown": [trace_id],
        "pending": [trace_id],
        "rejected": [],
    }
    assert caller.refused("GET", f"/traces/{trace_id}")[0] == 404
    assert caller.get("/traces", state="complete")["traces"] == []
    caller.send_spans(otlp.chat_run(trace_id))
    assert caller.get(f"/traces/{trace_id}")["verdict"] == "pass"


def test_a_trace_that_arrives_while_its_score_waits_gets_it_applied(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scores, "PATIENCE_SECONDS", 60)
    trace_id = otlp.new_trace_id()
    sender = threading.Timer(0.2, lambda: caller.send_spans(otlp.chat_run(trace_id)))
    sender.start()
    assert caller.post("/v1/scores", {"traceId": trace_id, "value": 1})["applied"] == 1
    sender.join()


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"traceId": "xyz", "value": 1}, "impossible"),
        ({"traceId": "0" * 32, "value": 1}, "impossible"),
        ({"traceId": 7, "value": 1}, "impossible"),
        ({"value": 1}, "which run"),
        ({"traceId": "a" * 32}, "needs a value"),
        ({"traceId": "a" * 32, "value": "1.0"}, "not text"),
        ({"traceId": "a" * 32, "value": [1]}, "not a list"),
        ({"traceId": "a" * 32, "value": 10**400}, "an infinity"),
        ({"traceId": "a" * 32, "value": 1, "name": 5}, "name must be text"),
        ({"traceId": "a" * 32, "value": 1, "pass_at": "high"}, "pass_at must be a number"),
        ({"traceId": "a" * 32, "label": 5}, "label must be text"),
        ("not an object", "must be an object"),
    ],
)
def test_what_is_no_measurement_is_rejected_with_the_reason(caller: Caller, item: Any, reason: str) -> None:
    trace_id = caller.run()
    answer = caller.post("/v1/scores", {"scores": [item, {"traceId": trace_id, "value": 1}]})
    assert answer["applied"] == 1
    (rejected,) = answer["rejected"]
    assert rejected["index"] == 0
    assert reason in rejected["error"]


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_rejected_by_name(caller: Caller, token: str) -> None:
    trace_id = caller.run()
    for field in (f'"value": {token}', f'"value": 1, "pass_at": {token}', f'"value": 1, "max": {token}'):
        body = f'{{"traceId": "{trace_id}", {field}}}'.encode()
        answer = caller.request("POST", "/v1/scores", content=body)
        assert answer.status_code == 200
        assert answer.json()["applied"] == 0
        assert "finite" in answer.json()["rejected"][0]["error"]


@pytest.mark.parametrize("body", [b"", b"[", b"[]", b'"x"', b'{"scores": 5}', b"[" * 100_000, b"\xff"])
def test_a_body_that_is_no_request_is_refused_whole(caller: Caller, body: bytes) -> None:
    assert caller.refused("POST", "/v1/scores", content=body)[0] == 400


def test_text_that_is_not_unicode_is_mended_not_stored_broken(caller: Caller) -> None:
    trace_id = caller.run()
    body = f'{{"traceId": "{trace_id}", "label": "a\\ud800b", "note\\udfff": "\\ud83d\\ude00"}}'.encode()
    assert caller.request("POST", "/v1/scores", content=body).json()["applied"] == 1
    (score,) = caller.get(f"/traces/{trace_id}")["scores"]
    assert score["label"] == "a\ufffdb"


def test_another_account_cannot_grade_my_run(new_caller: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "PATIENCE_SECONDS", 0)
    mine, other = new_caller(), new_caller()
    trace_id = mine.run()
    assert other.post("/v1/scores", {"traceId": trace_id, "value": 1})["applied"] == 0
    assert mine.get(f"/traces/{trace_id}")["verdict"] is None


def test_fields_nested_too_deep_are_refused_alone(caller: Caller) -> None:
    trace_id = caller.run()
    deep: object = 1
    for _ in range(300):
        deep = [deep]
    scores_sent = [{"value": 1, "note": deep}, {"value": 1, "note": [[1]]}]
    answer = caller.post("/v1/scores", {"traceId": trace_id, "scores": scores_sent})
    assert answer["applied"] == 1
    assert [(refused["index"], "note" in refused["error"]) for refused in answer["rejected"]] == [(0, True)]
