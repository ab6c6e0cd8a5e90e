"""Bodies as clients pack them: each content encoding, several at once, bombs, and what is cut off."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Mapping

import grpc
import httpx
import pytest
from backports import zstd
from google.rpc.status_pb2 import Status
from support.grpc_export import PATHS
from support.otlp import chat_run, new_trace_id, span, traces
from support.service import Service

from whileai_collector.admission import Admission
from whileai_collector.compression import unzstd
from whileai_ingest import TooLarge, Undecodable

PROTOBUF = {"content-type": "application/x-protobuf"}
LIMIT = 8 << 20  # of the service these tests send to

Pack = Callable[[bytes], bytes]
PACKED: Mapping[str, Pack] = {"gzip": gzip.compress, "deflate": zlib.compress, "zstd": zstd.compress}


def post(http: httpx.Client, body: bytes, *encodings: str, path: str = "/v1/traces") -> httpx.Response:
    headers = [*PROTOBUF.items(), *(("content-encoding", encoding) for encoding in encodings)]
    return http.post(path, content=body, headers=headers)


@pytest.mark.parametrize("encoding", PACKED)
@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs", "/v1/metrics"])
def test_an_empty_request_may_be_packed(http: httpx.Client, path: str, encoding: str) -> None:
    assert post(http, PACKED[encoding](b""), encoding, path=path).status_code == 200


@pytest.mark.parametrize("level", [-5, 1, 3, 19, 22])
def test_a_zstd_body_of_any_level_is_a_run(http: httpx.Client, level: int) -> None:
    trace_id = new_trace_id()
    body = traces([*chat_run(trace_id), span(trace_id, attributes={"big": "é" * 3_000_000})])
    assert post(http, zstd.compress(body, level), "zstd").status_code == 200
    assert http.get(f"/traces/{trace_id}?spans=0").json()["spanCount"] == 3


@pytest.mark.parametrize("size", [65_535, 65_536, 1 << 20, (1 << 20) + 1, 5 << 20])
def test_a_zstd_body_that_ends_on_a_step_is_whole(http: httpx.Client, size: int) -> None:
    trace_id = new_trace_id()
    body = traces([span(trace_id, attributes={"a": "x"})])
    body = traces([span(trace_id, attributes={"a": "x" * (size - len(body))})])
    assert post(http, zstd.compress(body), "zstd").status_code == 200
    assert http.get(f"/traces/{trace_id}?spans=0").json()["spanCount"] == 1


def test_a_zstd_body_of_several_frames_and_notes_between_them_is_one_body(http: httpx.Client) -> None:
    trace_id = new_trace_id()
    body = traces(chat_run(trace_id))
    note = bytes.fromhex("502a4d18") + (4).to_bytes(4, "little") + b"note"  # a skippable frame
    packed = zstd.compress(body[:100]) + note + zstd.compress(body[100:])
    assert post(http, packed, "zstd").status_code == 200
    assert http.get(f"/traces/{trace_id}?spans=0").json()["spanCount"] == 2


@pytest.mark.parametrize(
    "encodings",
    [("deflate, gzip, zstd",), ("deflate", "gzip", "zstd"), ("deflate,,GZIP, zstd",), ("Deflate, gzip", ", zstd")],
)
def test_several_encodings_are_undone_last_first(http: httpx.Client, encodings: tuple[str, ...]) -> None:
    trace_id = new_trace_id()
    body = zstd.compress(gzip.compress(zlib.compress(traces(chat_run(trace_id)))))
    assert post(http, body, *encodings).status_code == 200
    assert http.get(f"/traces/{trace_id}?spans=0").json()["spanCount"] == 2


def test_encodings_in_the_wrong_order_are_400(http: httpx.Client) -> None:
    body = gzip.compress(zlib.compress(traces(chat_run(new_trace_id()))))
    assert post(http, body, "gzip, deflate").status_code == 400


@pytest.mark.parametrize("encoding", ["br", "gzip, br", "identity, " * 3 + "gzip"])
def test_an_unknown_encoding_is_415_and_says_what_is_known(http: httpx.Client, encoding: str) -> None:
    answer = post(http, b"x", encoding)
    assert answer.status_code == 415
    assert answer.headers["accept-encoding"] == "identity, gzip, x-gzip, deflate, zstd"
    assert "zstd" in Status.FromString(answer.content).message


@pytest.mark.parametrize("encoding", PACKED)
def test_a_bomb_is_413(http: httpx.Client, encoding: str) -> None:
    answer = post(http, PACKED[encoding](b"\0" * (LIMIT + 1)), encoding)
    assert answer.status_code == 413
    assert Status.FromString(answer.content).message


def test_a_bomb_in_a_bomb_is_413(http: httpx.Client) -> None:
    assert post(http, zstd.compress(gzip.compress(b"\0" * (100 << 20))), "gzip, zstd").status_code == 413


def test_a_bomb_is_refused_while_it_is_unpacked_and_not_after() -> None:
    admission = Admission(1 << 20, 1 << 30)
    with admission.request() as ticket, pytest.raises(TooLarge):
        unzstd(zstd.compress(b"\0" * (64 << 20)), ticket)
    with admission.request() as ticket:
        with pytest.raises(TooLarge):
            unzstd(zstd.compress(b"\0" * (64 << 20)), ticket)
        assert ticket.held <= 2 << 20, "more was unpacked than one step beyond the limit"
    assert admission.in_flight == 0


def test_a_frame_that_wants_a_huge_window_is_400() -> None:
    packer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    body = packer.compress(b"x") + packer.flush()
    with Admission(1 << 20, 1 << 20).request() as ticket, pytest.raises(Undecodable, match="memory"):
        unzstd(body, ticket)


@pytest.mark.parametrize("encoding", PACKED)
@pytest.mark.parametrize("damage", ["plain", "cut", "flipped", "trailing"])
def test_a_body_that_is_not_what_its_encoding_says_is_400(http: httpx.Client, encoding: str, damage: str) -> None:
    whole = PACKED[encoding](traces(chat_run(new_trace_id())))
    body = {
        "plain": b"plain",
        "cut": whole[:-5],
        "flipped": whole[:1] + bytes([whole[1] ^ 0xFF]) + whole[2:],
        "trailing": whole + b"more",
    }[damage]
    answer = post(http, body, encoding)
    assert answer.status_code == 400
    assert encoding in Status.FromString(answer.content).message


def test_a_zstd_body_of_a_hundred_thousand_empty_frames_is_400(http: httpx.Client) -> None:
    answer = post(http, zstd.compress(b"") * 100_000, "zstd")
    assert answer.status_code == 400
    assert "members" in Status.FromString(answer.content).message


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
@pytest.mark.parametrize("signal", PATHS)
def test_grpc_takes_its_own_encodings(service: Service, signal: str, compression: grpc.Compression) -> None:
    with grpc.insecure_channel(service.grpc, compression=compression) as channel:
        call = channel.unary_unary(PATHS[signal])
        assert call(b"", metadata=(("x-api-key", service.key),), timeout=20) == b""
