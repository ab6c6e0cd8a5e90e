"""How a request ended, and what follows: it is done, it is tried again later, or it never will be taken."""

from dataclasses import dataclass
from enum import Enum

# https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes; a proxy answers 408 for a slow line.
HTTP_LATER = frozenset({408, 429, 502, 503, 504})
# A wrong key is a setting that gets mended; what was recorded meanwhile is worth keeping.
HTTP_KEY = frozenset({401, 403})
# https://opentelemetry.io/docs/specs/otlp/#failures
GRPC_LATER = frozenset(
    {"CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS", "RESOURCE_EXHAUSTED"}
)
GRPC_KEY = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED"})


class Fate(Enum):
    ACCEPTED = "accepted"
    LATER = "later"
    REFUSED = "refused"


@dataclass(frozen=True)
class Outcome:
    """The fate of a request, the reason in words, and the seconds the service asks to be left alone."""

    fate: Fate
    reason: str = ""
    wait: float | None = None


ACCEPTED = Outcome(Fate.ACCEPTED)


def of_http(status: int, text: str, retry_after: str | None) -> Outcome:
    """What an HTTP answer means."""
    if status < 300:
        return ACCEPTED
    reason = f"HTTP {status} {text}".strip()
    if status in HTTP_KEY:
        return Outcome(Fate.LATER, f"the key was not accepted ({reason}); set WHILEAI_API_KEY or run `whileai login`")
    return Outcome(Fate.LATER if status in HTTP_LATER else Fate.REFUSED, reason, _seconds(retry_after))


def of_grpc(code: str, text: str) -> Outcome:
    """What a gRPC status means."""
    reason = f"{code} {text}".strip()
    if code in GRPC_KEY:
        return Outcome(Fate.LATER, f"the key was not accepted ({reason}); set WHILEAI_API_KEY or run `whileai login`")
    return Outcome(Fate.LATER if code in GRPC_LATER else Fate.REFUSED, reason)


def _seconds(retry_after: str | None) -> float | None:
    try:
        return max(0.0, float(retry_after)) if retry_after else None
    except ValueError:  # a date: the usual backing off will do
        return None
