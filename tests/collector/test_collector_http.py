"""OTLP over HTTP, to the letter: encodings, answers, refusals, limits."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import zlib
from collections.abc import Mapping

import httpx
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from support.otlp import chat_run, new_trace_id, span, traces
from support.service import Service

from whileai_collector import http as edge
from whileai_collector.admission import Admission
from whileai_collector.faults import TooSlow, fault_of
from whileai_ingest.otlp_json import to_json

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
ALL = ("/v1/traces", "/v1/logs", "/v1/metrics")


def as_json(body: bytes) -> bytes:
    return json.dumps(to_json(ExportTraceServiceRequest.FromString(body))).encode()


def run_of(http: httpx.Client, trace_id: str) -> dict[str, object]:
    answer = http.get(f"/traces/{trace_id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def test_a_full_success_leaves_partial_success_unset(http: httpx.Client) -> None:
    trace_id = new_trace_id()
    answer = http.post("/v1/traces", content=traces(chat_run(trace_id)), headers=PROTOBUF)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/x-protobuf"
    assert not ExportTraceServiceResponse.FromString(answer.content).HasField("partial_success")
    assert run_of(http, trace_id)["spanCount"] == 2


@pytest.mark.parametrize(
    ("encode", "encoding"),
    [(bytes, "identity"), (gzip.compress, "gzip"), (zlib.compress, "deflate"), (gzip.compress, "GZIP")],
)
@pytest.mark.parametrize("kind", ["application/x-protobuf", "application/json; charset=utf-8", "Application/JSON"])
def test_every_encoding_says_the_same(http: httpx.Client, kind: str, encode: type[bytes], encoding: str) -> None:
    trace_id = new_trace_id()
    body = traces(chat_run(trace_id, answer="encoded"))
    if "json" in kind.lower():
        body = as_json(body)
    answer = http.post("/v1/traces", content=encode(body), headers={"content-type": kind, "content-encoding": encoding})
    assert answer.status_code == 200, answer.content
    assert run_of(http, trace_id)["finalText"] == "encoded"


def test_a_gzip_body_of_several_members_is_one_body(http: httpx.Client) -> None:
    trace_id = new_trace_id()
    body = traces(chat_run(trace_id))
    split = gzip.compress(body[:100]) + gzip.compress(body[100:])
    assert http.post("/v1/traces", content=split, headers=PROTOBUF | {"content-encoding": "gzip"}).status_code == 200
    assert run_of(http, trace_id)["spanCount"] == 2


def test_a_gzip_body_of_a_hundred_thousand_empty_members_is_400(http: httpx.Client) -> None:
    body = gzip.compress(b"") * 100_000
    answer = http.post("/v1/traces", content=body, headers=PROTOBUF | {"content-encoding": "gzip"})
    assert answer.status_code == 400
    assert "members" in Status.FromString(answer.content).message


@pytest.mark.parametrize("size", [65_535, 65_536, 1 << 20, (1 << 20) + 1, 5 << 20])
def test_a_compressed_body_that_ends_on_a_step_is_whole(http: httpx.Client, size: int) -> None:
    trace_id = new_trace_id()
    body = traces([span(trace_id, attributes={"a": "x"})])
    body = traces([span(trace_id, attributes={"a": "x" * (size - len(body))})])
    for encoding, encoded in (("gzip", gzip.compress(body)), ("deflate", zlib.compress(body)[2:-4])):
        headers = PROTOBUF | {"content-encoding": encoding}
        assert http.post("/v1/traces", content=encoded, headers=headers).status_code == 200


def test_a_json_answer_says_where_the_rows_went(http: httpx.Client) -> None:
    body = as_json(traces(chat_run(new_trace_id()), {"zeroproof.dataset": "nightly"}))
    first = http.post("/v1/traces", content=body, headers=JSON).json()
    again = http.post("/v1/traces", content=body, headers=JSON).json()
    assert first == again
    assert (first["dataset"], first["rows"]) == ("nightly", 2)
    assert first["datasetId"].startswith("ds_")
    assert "partialSuccess" not in first


@pytest.mark.parametrize("headers", [PROTOBUF, JSON])
def test_a_partial_success_counts_and_names_what_was_refused(
    service: Service, http: httpx.Client, headers: Mapping[str, str]
) -> None:
    trace_id = new_trace_id()
    bad = span(trace_id)
    bad.span_id = b"\0" * 8
    body = traces([*chat_run(trace_id), bad])
    is_json = headers is JSON
    answer = http.post("/v1/traces", content=as_json(body) if is_json else body, headers=headers)
    assert answer.status_code == 200
    if is_json:
        partial = answer.json()["partialSuccess"]
        assert partial["rejectedSpans"] == "1"
        message = partial["errorMessage"]
    else:
        parsed = ExportTraceServiceResponse.FromString(answer.content).partial_success
        assert parsed.rejected_spans == 1
        message = parsed.error_message
    assert "span_id" in message
    assert run_of(http, trace_id)["spanCount"] == 2
    listed = http.get("/rejections").json()["rejections"]
    assert any(row["reason"] == "span_id" and row["signal"] == "traces" for row in listed)
    assert 'reason="span_id"' in httpx.get(f"{service.url}/metrics").text


@pytest.mark.parametrize("path", ALL)
def test_an_empty_request_is_a_success(http: httpx.Client, path: str) -> None:
    assert http.post(path, content=b"", headers=PROTOBUF).status_code == 200
    assert http.post(path, content=b"{}", headers=JSON).status_code == 200


def test_logs_answer_with_their_own_message(http: httpx.Client) -> None:
    answer = http.post("/v1/logs", content=b"", headers=PROTOBUF)
    assert ExportLogsServiceResponse.FromString(answer.content) == ExportLogsServiceResponse()


@pytest.mark.parametrize("path", ALL)
@pytest.mark.parametrize("body", [b"\xff\xff\xff\xff", b"\x0a\xff"])
def test_an_undecodable_body_is_400_with_a_status_in_its_own_encoding(
    http: httpx.Client, path: str, body: bytes
) -> None:
    in_protobuf = http.post(path, content=body, headers=PROTOBUF)
    assert in_protobuf.status_code == 400
    assert Status.FromString(in_protobuf.content).message
    in_json = http.post(path, content=body, headers=JSON)
    assert in_json.status_code == 400
    assert in_json.json()["message"]


def test_a_body_that_is_not_what_its_encoding_says_is_400(http: httpx.Client) -> None:
    for encoding in ("gzip", "deflate"):
        answer = http.post("/v1/traces", content=b"plain", headers=PROTOBUF | {"content-encoding": encoding})
        assert answer.status_code == 400
    cut = gzip.compress(traces(chat_run(new_trace_id())))[:-20]
    assert http.post("/v1/traces", content=cut, headers=PROTOBUF | {"content-encoding": "gzip"}).status_code == 400


@pytest.mark.parametrize("path", ALL)
def test_no_key_and_a_wrong_key_are_401_with_a_status(service: Service, path: str) -> None:
    for headers in ({}, {"x-api-key": "zp_wrong_wrong_wrong_wrong"}, {"authorization": "Basic abc"}):
        answer = httpx.post(service.url + path, content=b"", headers=PROTOBUF | headers)
        assert answer.status_code == 401
        assert "key" in Status.FromString(answer.content).message


def test_the_key_may_come_as_a_bearer_token_in_any_case(service: Service) -> None:
    for headers in ({"Authorization": f"Bearer {service.key}"}, {"X-API-KEY": service.key}):
        assert httpx.post(service.url + "/v1/traces", content=b"", headers=PROTOBUF | headers).status_code == 200


@pytest.mark.parametrize(
    "headers", [{"content-type": "text/plain"}, {}, PROTOBUF | {"content-encoding": "br, gzip"}, {"content-type": ""}]
)
def test_an_unknown_type_or_encoding_is_415(http: httpx.Client, headers: Mapping[str, str]) -> None:
    answer = http.post("/v1/traces", content=b"x", headers=dict(headers))
    assert answer.status_code == 415


def test_other_methods_are_405(http: httpx.Client) -> None:
    answer = http.get("/v1/traces")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_body_beyond_the_limit_is_413_however_it_hides_its_size(http: httpx.Client) -> None:
    big = b"\0" * (9 << 20)
    plain = http.post("/v1/traces", content=big, headers=PROTOBUF)
    bomb = http.post("/v1/traces", content=gzip.compress(big), headers=PROTOBUF | {"content-encoding": "gzip"})
    chunked = http.post("/v1/traces", content=(big[:1000] for _ in range(9300)), headers=PROTOBUF)
    assert [answer.status_code for answer in (plain, bomb, chunked)] == [413, 413, 413]


def test_a_body_announced_beyond_the_limit_is_413_before_it_is_sent(service: Service) -> None:
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        head = f"POST /v1/traces HTTP/1.1\r\nhost: x\r\nx-api-key: {service.key}\r\n"
        head += "content-type: application/x-protobuf\r\ncontent-length: 99999999999\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("part", [b"x: " + b"a" * 300_000, b"x: y\r\n" * 60_000])
def test_a_head_without_end_is_400_before_any_key_is_asked_for(service: Service, part: bytes) -> None:
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(b"POST /v1/traces HTTP/1.1\r\nhost: x\r\n" + part)
        assert connection.recv(100).startswith(b"HTTP/1.1 400")


def test_a_trailer_without_end_ends_the_connection(service: Service) -> None:
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        head = f"POST /v1/traces HTTP/1.1\r\nhost: x\r\nx-api-key: {service.key}\r\n"
        head += "content-type: application/x-protobuf\r\ntransfer-encoding: chunked\r\n\r\n0\r\n"
        connection.sendall(head.encode() + b"x: y\r\n" * 60_000)
        assert connection.recv(100).startswith(b"HTTP/1.1 400")


def test_a_body_that_stops_half_way_is_503_and_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge, "BODY_SECONDS", 0)
    admission = Admission(1000, 1000)
    parts = [{"type": "http.request", "body": b"half", "more_body": True}]

    async def receive() -> dict[str, object]:
        return parts.pop() if parts else await asyncio.Future()

    async def read() -> None:
        with admission.request() as ticket:
            await edge._body({}, receive, ticket)

    with pytest.raises(TooSlow) as caught:
        asyncio.run(read())
    fault = fault_of(caught.value)
    assert fault is not None
    assert (fault.http, fault.retry_after_header, admission.in_flight) == (503, "5", 0)


def test_a_body_under_the_limit_is_taken_though_its_values_are_large(http: httpx.Client) -> None:
    trace_id, text = new_trace_id(), "é\0" * 2_000_000
    body = traces([span(trace_id, attributes={"big": text})])
    assert http.post("/v1/traces", content=body, headers=PROTOBUF).status_code == 200
    spans = run_of(http, trace_id)["spans"]
    assert isinstance(spans, list)
    assert spans[0]["attributes"]["big"] == text


def test_metrics_are_accepted_and_counted(http: httpx.Client, service: Service) -> None:
    document = {
        "resourceMetrics": [
            {"scopeMetrics": [{"metrics": [{"name": "m", "gauge": {"dataPoints": [{"asInt": "1"}, {"asInt": 2}]}}]}]}
        ]
    }
    assert http.post("/v1/metrics", json=document).status_code == 200
    assert 'whileai_items_accepted_total{signal="metrics"}' in httpx.get(f"{service.url}/metrics").text
