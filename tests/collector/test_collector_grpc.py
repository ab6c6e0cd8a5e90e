"""OTLP over gRPC: the same door, gRPC's own codes."""

from __future__ import annotations

import grpc
import httpx
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from support.grpc_export import PATHS, exporter
from support.otlp import chat_run, new_trace_id, span, traces
from support.service import Service


def test_export_over_grpc_is_a_run(service: Service, http: httpx.Client) -> None:
    trace_id = new_trace_id()
    with grpc.insecure_channel(service.grpc) as channel:
        answer = exporter(channel, service.key)(traces(chat_run(trace_id)))
    assert not ExportTraceServiceResponse.FromString(answer).HasField("partial_success")
    assert http.get(f"/traces/{trace_id}").json()["finalText"] == "Done."


def test_gzip_and_a_bearer_token_work(service: Service, http: httpx.Client) -> None:
    trace_id = new_trace_id()
    with grpc.insecure_channel(service.grpc, compression=grpc.Compression.Gzip) as channel:
        call = channel.unary_unary(PATHS["traces"])
        call(traces(chat_run(trace_id)), metadata=(("authorization", f"Bearer {service.key}"),))
    assert http.get(f"/traces/{trace_id}").status_code == 200


def test_a_partial_success_names_what_was_refused(service: Service) -> None:
    bad = span(new_trace_id())
    bad.trace_id = b"short"
    with grpc.insecure_channel(service.grpc) as channel:
        answer = ExportTraceServiceResponse.FromString(exporter(channel, service.key)(traces([bad])))
    assert answer.partial_success.rejected_spans == 1
    assert "trace_id" in answer.partial_success.error_message


@pytest.mark.parametrize("signal", PATHS)
def test_an_empty_request_is_a_success_on_every_service(service: Service, signal: str) -> None:
    with grpc.insecure_channel(service.grpc) as channel:
        assert exporter(channel, service.key, signal)(b"") == b""


@pytest.mark.parametrize(
    ("body", "key", "code"),
    [
        (b"", None, grpc.StatusCode.UNAUTHENTICATED),
        (b"", "zp_wrong_wrong_wrong_wrong", grpc.StatusCode.UNAUTHENTICATED),
        (b"\xff\xff\xff", "right", grpc.StatusCode.INVALID_ARGUMENT),
        (b"\0" * (9 << 20), "right", grpc.StatusCode.RESOURCE_EXHAUSTED),
    ],
)
def test_refusals_have_their_code(service: Service, body: bytes, key: str | None, code: grpc.StatusCode) -> None:
    with grpc.insecure_channel(service.grpc) as channel, pytest.raises(grpc.RpcError) as refused:
        exporter(channel, service.key if key == "right" else key)(body)
    assert refused.value.code() is code
    details = dict(refused.value.trailing_metadata() or ())
    if code is not grpc.StatusCode.RESOURCE_EXHAUSTED:  # that one is gRPC's own, before our handler
        assert Status.FromString(details["grpc-status-details-bin"]).code == code.value[0]


def test_a_message_over_four_megabytes_is_taken(service: Service, http: httpx.Client) -> None:
    trace_id = new_trace_id()
    with grpc.insecure_channel(service.grpc, options=[("grpc.max_send_message_length", -1)]) as channel:
        exporter(channel, service.key)(traces([span(trace_id, attributes={"big": "x" * (5 << 20)})]))
    assert http.get(f"/traces/{trace_id}?spans=0").json()["spanCount"] == 1
