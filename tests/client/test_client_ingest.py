"""Sending traces and finished runs."""

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from client.recording_service import Answer, Service
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

import whileai
from whileai import ingest
from whileai.errors import WhileIngestError

ACCEPTED = {"datasetId": "ds_1", "dataset": "traces", "rows": 1}


@pytest.fixture
def accepting(platform: Service) -> Service:
    platform.answers("POST", "/v1/traces", ACCEPTED)
    return platform


def request_of(*starts: object) -> bytes:
    spans = [{"name": "s", "startTimeUnixNano": start} for start in starts]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def attributes(span_or_resource: dict[str, Any]) -> dict[str, Any]:
    return {item["key"]: next(iter(item["value"].values())) for item in span_or_resource["attributes"]}


def spans_in(body: Any) -> list[dict[str, Any]]:
    return [span for r in body["resourceSpans"] for s in r["scopeSpans"] for span in s["spans"]]


def test_the_environment_points_a_stock_exporter_at_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHILEAI_API_URL", "http://while.example:4318/")
    assert whileai.otel_env("zp_key", dataset="support, day one") == {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://while.example:4318/v1/traces",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=zp_key",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_RESOURCE_ATTRIBUTES": ("zeroproof.dataset=support%2C%20day%20one,whileai.dataset=support%2C%20day%20one"),
    }


def test_the_dataset_name_arrives_as_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry.sdk.resources import OTELResourceDetector

    name = whileai.otel_env("zp_key", dataset="support, day=one")["OTEL_RESOURCE_ATTRIBUTES"]
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", name)
    assert OTELResourceDetector().detect().attributes["zeroproof.dataset"] == "support, day=one"


def test_a_json_body_goes_out_as_it_is(accepting: Service) -> None:
    body = request_of("1700000000000000000")
    assert whileai.send_traces("zp_positional", body) == ACCEPTED
    sent = accepting.last
    assert (sent.body, sent.headers["content-type"], sent.headers["x-api-key"]) == (
        body,
        "application/json",
        "zp_positional",
    )
    assert "content-encoding" not in sent.headers


def test_a_compressed_body_is_announced_as_compressed(accepting: Service) -> None:
    body = gzip.compress(request_of(1700000000000000000))
    whileai.send_traces("zp_k", body)
    assert accepting.last.headers["content-encoding"] == "gzip"
    assert accepting.last.body == body


def test_a_protobuf_body_gets_its_own_content_type_and_its_answer_is_read(platform: Service) -> None:
    partial = ExportTracePartialSuccess(rejected_spans=1, error_message="span without an id")
    answer = ExportTraceServiceResponse(partial_success=partial).SerializeToString()
    platform.answers("POST", "/v1/traces", Answer(200, answer, content_type="application/x-protobuf"))
    request = ExportTraceServiceRequest()
    request.resource_spans.add().schema_url = "x"
    got = whileai.send_traces("zp_k", request.SerializeToString())
    assert got == {"partialSuccess": {"rejectedSpans": "1", "errorMessage": "span without an id"}}
    assert platform.last.headers["content-type"] == "application/x-protobuf"


@pytest.mark.parametrize("start", ["1700000000", "1700000000000", 1700000000])
def test_seconds_and_milliseconds_are_refused_before_anything_is_sent(accepting: Service, start: object) -> None:
    with pytest.raises(WhileIngestError, match=r"span 's' starts at 1700000000\d*, which cannot be nanoseconds"):
        whileai.send_traces("zp_k", request_of("1700000000000000000", start))
    assert accepting.requests == []


@pytest.mark.parametrize("start", [0, "0", "1700000000000000000"])
def test_an_absent_time_is_left_to_the_service(accepting: Service, start: object) -> None:
    assert whileai.send_traces("zp_k", request_of(start)) == ACCEPTED
    assert accepting.last.body == request_of(start)


@pytest.mark.parametrize(("body", "said"), [(b"{not", "not JSON"), (b"\x1f\x8bnot", "does not unpack")])
def test_a_body_that_is_broken_is_said_so(accepting: Service, body: bytes, said: str) -> None:
    with pytest.raises(WhileIngestError, match=said):
        whileai.send_traces("zp_k", body)
    assert accepting.requests == []


def test_a_refusal_carries_the_status_and_the_reason(platform: Service) -> None:
    platform.answers("POST", "/v1/traces", Answer(401, {"code": 16, "message": "no such key"}))
    with pytest.raises(WhileIngestError, match="401: no such key") as caught:
        whileai.send_traces("zp_k", request_of())
    assert caught.value.status == 401


def test_sending_is_tried_again_while_the_service_is_full(platform: Service) -> None:
    platform.answers("POST", "/v1/traces", Answer(503, {"message": "full"}, {"retry-after": "1"}), ACCEPTED)
    assert whileai.send_traces("zp_k", request_of()) == ACCEPTED
    assert platform.requests[0].body == platform.requests[1].body


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_sent_under_another_dataset_name(accepting: Service, tmp_path: Path, packed: bool) -> None:
    named = {"attributes": [{"key": "whileai.dataset", "value": {"stringValue": "old"}}, {"key": "k", "value": {}}]}
    lines = [{"resourceSpans": [{"resource": named, "scopeSpans": []}]}, {"resourceSpans": [{"scopeSpans": []}]}]
    text = "\n".join(json.dumps(line) for line in lines).encode()
    file = tmp_path / "traces.jsonl"
    file.write_bytes(gzip.compress(text) if packed else text)
    assert whileai.ingest_traces("zp_k", file, dataset="new") == ACCEPTED
    sent = accepting.last.json["resourceSpans"]
    assert len(sent) == 2
    for resource_spans in sent:
        keys = {item["key"]: item["value"] for item in resource_spans["resource"]["attributes"]}
        assert keys["whileai.dataset"] == keys["zeroproof.dataset"] == {"stringValue": "new"}
    assert [item["key"] for item in sent[0]["resource"]["attributes"]].count("whileai.dataset") == 1


def test_one_document_over_many_lines_is_read_too(accepting: Service, tmp_path: Path) -> None:
    file = tmp_path / "traces.json"
    file.write_text(json.dumps({"resourceSpans": [{"scopeSpans": []}]}, indent=2))
    assert whileai.ingest_traces("zp_k", str(file)) == ACCEPTED
    assert accepting.last.json == json.loads(file.read_text())


@pytest.mark.parametrize(
    ("text", "said"), [("{}", "no resourceSpans"), ("{}\n{]", "line 2 of"), ("nonsense", "not JSON"), ("", "not JSON")]
)
def test_a_file_of_something_else_is_named(accepting: Service, tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "f.json"
    file.write_text(text)
    with pytest.raises(WhileIngestError, match=said):
        whileai.ingest_traces("zp_k", file)
    assert accepting.requests == []


def test_finished_runs_become_one_span_each_with_the_facts_the_service_reads(accepting: Service) -> None:
    rows: list[dict[str, Any]] = [
        {"prompt": "Where is 88?", "final_text": "Left.", "reward": 1, "scenario_id": "sc_1", "duration_ms": 5},
        {"prompt": "Where is 89?", "completion": "Gone.", "score": 0.5, "model_version": "m-2"},
        {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]},
    ]
    whileai.send_runs(rows, agent="Bot", pass_at=0.7, model="m-1")
    body = accepting.last.json
    resource = body["resourceSpans"][0]
    assert attributes(resource["resource"]) == {
        "service.name": "Bot",
        "zeroproof.dataset": "Bot",
        "whileai.dataset": "Bot",
    }
    assert resource["scopeSpans"][0]["scope"] == {"name": "whileai.send_runs"}
    spans = spans_in(body)
    assert [attributes(span) for span in spans] == [
        {
            "gen_ai.agent.name": "Bot",
            "test.case.name": "sc_1",
            "gen_ai.prompt": "Where is 88?",
            "gen_ai.completion": "Left.",
            "gen_ai.request.model": "m-1",
            "zeroproof.score": 1.0,
            "zeroproof.score.pass_at": 0.7,
        },
        {
            "gen_ai.agent.name": "Bot",
            "test.case.name": "p-f5b90668e161",
            "gen_ai.prompt": "Where is 89?",
            "gen_ai.completion": "Gone.",
            "gen_ai.request.model": "m-2",
            "zeroproof.score": 0.5,
            "zeroproof.score.pass_at": 0.7,
        },
        {
            "gen_ai.agent.name": "Bot",
            "test.case.name": "p-c22b5f917834",
            "gen_ai.prompt": "hi",
            "gen_ai.completion": "yo",
            "gen_ai.request.model": "m-1",
        },
    ]
    starts = [int(span["startTimeUnixNano"]) for span in spans]
    assert [later - first for first, later in pairwise(starts)] == [1_000_000, 1_000_000]
    assert int(spans[0]["endTimeUnixNano"]) - starts[0] == 5_000_000
    assert {(span["name"], span["kind"], len(span["traceId"]), len(span["spanId"])) for span in spans} == {
        ("agent.run", 1, 32, 16)
    }
    assert len({span["traceId"] for span in spans}) == 3


def test_many_runs_are_compressed(accepting: Service) -> None:
    whileai.send_runs([{"prompt": "x" * 10_000} for _ in range(110)], agent="Bot")
    assert accepting.last.headers["content-encoding"] == "gzip"
    assert len(spans_in(json.loads(gzip.decompress(accepting.last.body)))) == 110


def test_more_runs_than_one_request_holds_go_out_as_several(
    accepting: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "BODY_TARGET", 2_000)
    answer = whileai.send_runs([{"prompt": f"ask {n}"} for n in range(10)], agent="Bot", dataset="d")
    assert answer == {**ACCEPTED, "rows": len(accepting.requests), "requests": len(accepting.requests)}
    sent = [span for request in accepting.requests for span in spans_in(request.json)]
    assert [attributes(span)["gen_ai.prompt"] for span in sent] == [f"ask {n}" for n in range(10)]
    assert len(accepting.requests) > 1


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no rows"),
        ([{"prompt": "a"}, {"final_text": "b"}], "row 1 has no prompt"),
        ([{"prompt": "a", "reward": "pass"}], "row 0: reward is 'pass'"),
        ([{"prompt": "a", "reward": float("nan")}], "row 0: reward is nan"),
    ],
)
def test_runs_that_cannot_be_sent_are_named(accepting: Service, rows: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(WhileIngestError, match=said):
        whileai.send_runs(rows, agent="Bot")
    assert accepting.requests == []


def test_the_list_of_ingested_datasets_comes_back_raw(platform: Service) -> None:
    listing = {"traces": [{"name": "traces", "rows": 3, "sizeBytes": 9}], "rows": 3}
    platform.answers("GET", "/traces", listing)
    assert whileai.list_traces() == listing
    assert platform.last.query == {}
