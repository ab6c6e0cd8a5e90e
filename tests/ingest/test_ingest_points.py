"""Metrics are counted, not stored: every kind of data point, and a bad one costs only itself."""

from __future__ import annotations

import json

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from whileai_ingest import Undecodable
from whileai_ingest.otlp_json import to_protobuf
from whileai_ingest.points import count_points
from whileai_ingest.protowire import bytes_field
from whileai_ingest.refusals import Reason

KINDS = ("gauge", "sum", "histogram", "exponential_histogram", "summary")


def request(name: str = "m") -> ExportMetricsServiceRequest:
    """One metric of each kind, with two points each."""
    made = ExportMetricsServiceRequest()
    metrics = made.resource_metrics.add().scope_metrics.add().metrics
    for kind in KINDS:
        points = getattr(metrics.add(name=name), kind).data_points
        points.add(time_unix_nano=1)
        points.add(time_unix_nano=2)
    return made


def from_json(document: object) -> tuple[int, list[Reason]]:
    body, early = to_protobuf(ExportMetricsServiceRequest.DESCRIPTOR, json.dumps(document).encode())
    points, refusals = count_points(body)
    return points, [refusal.reason for refusal in [*early, *refusals]]


def json_metrics(*metrics: object) -> dict[str, object]:
    return {"resourceMetrics": [{"scopeMetrics": [{"metrics": list(metrics)}]}]}


def test_points_of_every_kind_are_counted() -> None:
    made = request()
    made.resource_metrics[0].scope_metrics[0].metrics.add(name="without data")
    assert count_points(made.SerializeToString()) == (2 * len(KINDS), [])


def test_text_that_is_not_utf8_costs_no_point() -> None:
    body = request("caf#").SerializeToString()
    assert count_points(body.replace(b"#", b"\xff")) == (2 * len(KINDS), [])


def test_a_metric_that_is_no_protobuf_costs_only_itself() -> None:
    (good,) = request().resource_metrics[0].scope_metrics
    raws = [metric.SerializeToString() for metric in good.metrics]
    raws.insert(1, b"\x0a\x7f short")  # a length that runs past the end
    body = bytes_field(1, bytes_field(2, b"".join(bytes_field(2, raw) for raw in raws)))
    points, refusals = count_points(body)
    assert (points, [refusal.reason for refusal in refusals]) == (2 * len(KINDS), [Reason.MALFORMED])


def test_a_json_point_that_is_none_costs_only_itself() -> None:
    good = {"asInt": "9223372036854775807", "timeUnixNano": 5}
    points = [good, {"asInt": "many"}, {"timeUnixNano": -1}, {"asDouble": "NaN"}, 7]
    document = json_metrics({"name": "m", "gauge": {"dataPoints": points}}, {"name": 3}, {"name": "n"})
    counted, reasons = from_json(document)
    assert (counted, sorted(reasons)) == (2, ["malformed", "malformed", "malformed", "time"])


@pytest.mark.parametrize("body", [b"\xff\xff\xff", b"not protobuf at all", b"\x0a\x05abc"])
def test_a_body_that_is_no_request_is_undecodable(body: bytes) -> None:
    with pytest.raises(Undecodable):
        count_points(body)
