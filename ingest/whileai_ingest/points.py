"""Metrics at the door: their data points are counted and not stored, and bad ones cost only themselves."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

from whileai_dialects import wire
from whileai_ingest.errors import Undecodable
from whileai_ingest.refusals import Reason, Refusal
from whileai_ingest.repair import repaired


def count_points(body: bytes) -> tuple[int, list[Refusal]]:
    """The data points of an `ExportMetricsServiceRequest`, and what could not be read.

    Raises `Undecodable` when the envelope itself cannot be read.
    """
    try:
        request = ExportMetricsServiceRequest.FromString(body)
    except DecodeError:
        return _count_one_by_one(body)
    return sum(
        _points(metric)
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    ), []


def _count_one_by_one(body: bytes) -> tuple[int, list[Refusal]]:
    try:
        lite = wire.LogsRequest.FromString(body)  # up to its items, a metrics request is numbered like one of logs
    except DecodeError as error:
        raise Undecodable("the body is not an OTLP ExportMetricsServiceRequest") from error
    points = 0
    refusals = []
    for resource in lite.resource_logs:
        for scope in resource.scope_logs:
            for raw in scope.log_records:
                mended = repaired("Metric", raw)
                if mended is None:  # how many points it has nobody can say
                    refusals.append(Refusal(Reason.MALFORMED, "a Metric is not well-formed protobuf"))
                else:
                    points += _points(Metric.FromString(mended))
    return points, refusals


def _points(metric: Any) -> int:
    kind = metric.WhichOneof("data")
    return len(getattr(metric, kind).data_points) if kind is not None else 0
