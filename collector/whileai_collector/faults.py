"""Every way a request can fail, in one table: HTTP status, gRPC code, and whether the client should come back.

OTLP retries only 429, 502, 503, 504 and UNAVAILABLE, so load and outages are told with those, and what will never be
taken with others. https://opentelemetry.io/docs/specs/otlp/#failures
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from google.protobuf.any_pb2 import Any as PackedAny
from google.protobuf.duration_pb2 import Duration
from google.rpc import code_pb2, error_details_pb2
from google.rpc.status_pb2 import Status

from whileai_collector.auth import Unauthenticated
from whileai_ingest import Overloaded, StoreUnavailable, TooLarge, Undecodable
from whileai_registry import RegistryUnavailable


class UnsupportedMedia(Exception):
    """A content type or encoding that OTLP does not know."""


class TooSlow(Exception):
    """A body that does not come to its end."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One failed request, ready to be written on either protocol."""

    http: int
    code: int
    message: str
    retry_after: float | None = None

    @property
    def retry_after_header(self) -> str | None:
        return None if self.retry_after is None else str(max(1, math.ceil(self.retry_after)))

    def status(self) -> Status:
        """`google.rpc.Status`, with `RetryInfo` when coming back is worth it."""
        status = Status(code=self.code, message=self.message)
        if self.retry_after is not None:
            delay = Duration(seconds=int(self.retry_after), nanos=int(self.retry_after % 1 * 1e9))
            packed = PackedAny()
            packed.Pack(error_details_pb2.RetryInfo(retry_delay=delay))
            status.details.append(packed)
        return status


_TABLE: tuple[tuple[type[Exception], int, int, float | None], ...] = (
    (Unauthenticated, 401, code_pb2.UNAUTHENTICATED, None),
    (UnsupportedMedia, 415, code_pb2.INVALID_ARGUMENT, None),
    (Undecodable, 400, code_pb2.INVALID_ARGUMENT, None),
    (TooSlow, 503, code_pb2.UNAVAILABLE, 5.0),
    (TooLarge, 413, code_pb2.RESOURCE_EXHAUSTED, None),
    (Overloaded, 503, code_pb2.UNAVAILABLE, 1.0),
    (StoreUnavailable, 503, code_pb2.UNAVAILABLE, 5.0),
    (RegistryUnavailable, 503, code_pb2.UNAVAILABLE, 5.0),
)


def fault_of(error: Exception) -> Fault | None:
    """The fault an exception means; None for one that nobody expected."""
    for kind, http, code, retry_after in _TABLE:
        if isinstance(error, kind):
            wait = error.retry_after if isinstance(error, Overloaded) else retry_after
            return Fault(http, code, str(error), wait)
    return None


UNEXPECTED = Fault(500, code_pb2.INTERNAL, "the service failed on this request; its log says why")
