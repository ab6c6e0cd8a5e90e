"""Every rule that OTLP has for a server, for traces, logs and metrics, by HTTP in protobuf, HTTP in JSON, and gRPC.

https://opentelemetry.io/docs/specs/otlp/. One line of the table is one rule; each is tried nine times with raw bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from google.rpc import code_pb2
from support.service import Service
from support.ways import CONTENT_TYPES, SIGNALS, WAYS, OtlpSignal, Way, encoded, send

from whileai_ingest.protowire import bytes_field

LIMIT = 8 << 20  # of the service these tests send to


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that is overloaded by whatever is larger than a thousand bytes."""
    with Service(tmp_path_factory.mktemp("narrow"), environment={"WHILEAI_MAX_IN_FLIGHT_BYTES": "1000"}) as running:
        yield running


def an_empty_request_is_a_success(service: Service, _narrow: Service, way: Way, signal: OtlpSignal) -> None:
    answered = send(service, way, signal, b"{}" if way == "http json" else b"")
    assert (answered.code, answered.response) == (0, signal.response())


def full_success_leaves_partial_success_unset(service: Service, _narrow: Service, way: Way, signal: OtlpSignal) -> None:
    answered = send(service, way, signal, encoded(way, signal, signal.items(3, 0)))
    assert answered.code == 0
    assert not answered.response.HasField("partial_success")


def a_packed_request_says_the_same(service: Service, _narrow: Service, way: Way, signal: OtlpSignal) -> None:
    answered = send(service, way, signal, encoded(way, signal, signal.items(3, 0)), packed=True)
    assert answered.code == 0
    assert not answered.response.HasField("partial_success")


def a_partial_success_counts_and_names_what_was_refused(
    service: Service, _narrow: Service, way: Way, signal: OtlpSignal
) -> None:
    answered = send(service, way, signal, _partly_bad(way, signal))
    assert answered.code == 0
    assert answered.http in (200, None)
    partial = answered.response.partial_success
    assert getattr(partial, signal.rejected) == 2
    assert signal.reason in partial.error_message


def a_request_of_bad_items_alone_is_a_partial_success_too(
    service: Service, _narrow: Service, way: Way, signal: OtlpSignal
) -> None:
    body = json.dumps(_json_with([_BAD[signal.name]] * 2, signal)).encode() if way == "http json" else None
    answered = send(service, way, signal, body or signal.items(0, 2))
    assert answered.code == 0
    assert getattr(answered.response.partial_success, signal.rejected) == 2


def an_undecodable_request_will_never_be_taken(
    service: Service, _narrow: Service, way: Way, signal: OtlpSignal
) -> None:
    for body in (b"\xff\xff\xff\xff", b"\x0a\xff", b"not a request"):
        answered = send(service, way, signal, body)
        assert (answered.code, answered.http) == (code_pb2.INVALID_ARGUMENT, None if way == "grpc" else 400)
        assert answered.status is not None
        assert answered.status.message
        assert answered.retry_delay is None


def a_request_beyond_the_limit_is_too_large(service: Service, _narrow: Service, way: Way, signal: OtlpSignal) -> None:
    answered = send(service, way, signal, b"\0" * (LIMIT + 1))
    assert (answered.code, answered.http) == (code_pb2.RESOURCE_EXHAUSTED, None if way == "grpc" else 413)
    assert answered.retry_delay is None


def a_request_beyond_the_limit_once_it_is_unpacked_is_too_large(
    service: Service, _narrow: Service, way: Way, signal: OtlpSignal
) -> None:
    answered = send(service, way, signal, b"\0" * (LIMIT + 1), packed=True)
    assert (answered.code, answered.http) == (code_pb2.RESOURCE_EXHAUSTED, None if way == "grpc" else 413)


def a_wrong_key_is_told_and_not_to_be_tried_again(
    service: Service, _narrow: Service, way: Way, signal: OtlpSignal
) -> None:
    for key in ("", "zp_wrong_wrong_wrong_wrong"):
        answered = send(service, way, signal, b"", key=key)
        assert (answered.code, answered.http) == (code_pb2.UNAUTHENTICATED, None if way == "grpc" else 401)
        assert answered.retry_delay is None


def an_overloaded_service_says_when_to_come_back(
    _service: Service, narrow: Service, way: Way, signal: OtlpSignal
) -> None:
    answered = send(narrow, way, signal, encoded(way, signal, signal.items(100, 0)))
    assert (answered.code, answered.http) == (code_pb2.UNAVAILABLE, None if way == "grpc" else 503)
    assert answered.retry_delay is not None
    assert 0 < answered.retry_delay <= 60
    if way != "grpc":
        assert 1 <= int(answered.headers["retry-after"]) <= 60


def every_answer_is_in_the_encoding_of_the_request(
    service: Service, narrow: Service, way: Way, signal: OtlpSignal
) -> None:
    if way == "grpc":
        return  # there is no other encoding
    good = encoded(way, signal, signal.items(100, 0))
    answers = [
        send(service, way, signal, good),
        send(service, way, signal, b"\xff"),
        send(service, way, signal, b"\0" * (LIMIT + 1)),
        send(service, way, signal, good, key="zp_wrong_wrong_wrong_wrong"),
        send(narrow, way, signal, good),
    ]
    assert [answer.http for answer in answers] == [200, 400, 413, 401, 503]
    assert {answer.headers["content-type"] for answer in answers} == {CONTENT_TYPES[way]}


def fields_of_a_later_version_are_ignored(service: Service, _narrow: Service, way: Way, signal: OtlpSignal) -> None:
    body = encoded(way, signal, signal.items(1, 0))
    if way == "http json":
        document = json.loads(body)
        document["somethingNew"] = {"deep": [1]}
        for resource in document.values():
            if isinstance(resource, list):
                resource[0]["somethingNew"] = 7
                resource[0]["resource"] = {"somethingNew": [None]}
        body = json.dumps(document).encode()
    else:
        body += bytes_field(900, b"something new")
    answered = send(service, way, signal, body)
    assert answered.code == 0
    assert not answered.response.HasField("partial_success")


RULES = (
    an_empty_request_is_a_success,
    full_success_leaves_partial_success_unset,
    a_packed_request_says_the_same,
    a_partial_success_counts_and_names_what_was_refused,
    a_request_of_bad_items_alone_is_a_partial_success_too,
    an_undecodable_request_will_never_be_taken,
    a_request_beyond_the_limit_is_too_large,
    a_request_beyond_the_limit_once_it_is_unpacked_is_too_large,
    a_wrong_key_is_told_and_not_to_be_tried_again,
    an_overloaded_service_says_when_to_come_back,
    every_answer_is_in_the_encoding_of_the_request,
    fields_of_a_later_version_are_ignored,
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: signal.name)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_rule_holds_for_every_signal_by_every_way(
    service: Service,
    narrow: Service,
    rule: Callable[[Service, Service, Way, OtlpSignal], None],
    signal: OtlpSignal,
    way: Way,
) -> None:
    rule(service, narrow, way, signal)


ID = "ABCDEFabcdef0123456789ABCDEF0123"
# JSON's own rules: ids are hex in any case, 64-bit integers texts or numbers, enums integers, unknown fields nothing.
_GOOD: Mapping[str, Mapping[str, object]] = {
    "traces": {
        "traceId": ID,
        "spanId": ID[:16],
        "kind": 3,
        "startTimeUnixNano": "1700000000000000001",
        "endTimeUnixNano": 1700000000000000002,
        "status": {"code": 2},
        "flags": 257,
        "new": {},
    },
    "logs": {
        "traceId": ID,
        "spanId": ID[:16],
        "severityNumber": 9,
        "timeUnixNano": 1700000000000000001,
        "observedTimeUnixNano": "1700000000000000002",
        "body": {"intValue": "9223372036854775807"},
        "new": [1],
    },
    "metrics": {
        "name": "m",
        "sum": {
            "aggregationTemporality": 2,
            "isMonotonic": True,
            "dataPoints": [
                {"asInt": "-9223372036854775808", "timeUnixNano": 5, "new": None},
                {"asDouble": 1, "exemplars": [{"traceId": ID, "spanId": ID[:16], "asInt": 1}]},
            ],
        },
    },
}
_BAD: Mapping[str, Mapping[str, object]] = {
    "traces": {"traceId": "ffffffff", "spanId": "0000000000000000"},
    "logs": {"traceId": "not hex"},
    "metrics": {"name": "m", "gauge": {"dataPoints": [{"asInt": "many"}]}},
}
_REASONS = {"traces": "trace_id", "logs": "trace_id", "metrics": "malformed"}


def _json_with(items: Sequence[object], signal: OtlpSignal) -> dict[str, object]:
    short = {"traces": "Spans", "logs": "Logs", "metrics": "Metrics"}[signal.name]
    members = {"traces": "spans", "logs": "logRecords", "metrics": "metrics"}[signal.name]
    return {f"resource{short}": [{f"scope{short}": [{members: list(items)}]}]}


def _partly_bad(way: Way, signal: OtlpSignal) -> bytes:
    if way != "http json":
        return signal.items(3, 2)
    bad = dict(_BAD[signal.name])
    if signal.name == "traces":
        bad["traceId"] = ID
    return json.dumps(_json_with([_GOOD[signal.name], bad, bad], signal)).encode()


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: signal.name)
def test_json_of_every_signal_is_taken_as_the_specification_writes_it(service: Service, signal: OtlpSignal) -> None:
    body = json.dumps(_json_with([_GOOD[signal.name]], signal)).encode()
    answered = send(service, "http json", signal, body)
    assert answered.code == 0
    assert not answered.response.HasField("partial_success")


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: signal.name)
def test_a_json_item_that_cannot_be_read_costs_only_itself(service: Service, signal: OtlpSignal) -> None:
    body = json.dumps(_json_with([_GOOD[signal.name], _BAD[signal.name]], signal)).encode()
    partial = send(service, "http json", signal, body).response.partial_success
    assert getattr(partial, signal.rejected) == 1
    assert _REASONS[signal.name] in partial.error_message
