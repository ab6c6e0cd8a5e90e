"""What can go wrong on the way in.

One base class; three leaves that a caller treats differently: come back later (`Overloaded`), this request will never
be
taken (`TooLarge`, `Undecodable`), and the service itself cannot start or go on (`StoreUnavailable`, `JournalInUse`).
"""

from __future__ import annotations


class IngestError(Exception):
    """Base of everything this room raises on purpose; the message is meant for a person."""


class Overloaded(IngestError):
    """No room now: bytes in flight, journal bound, or a full disk. The client should retry after `retry_after`
    seconds."""

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooLarge(IngestError):
    """The request exceeds a limit that no retry will change."""


class Undecodable(IngestError):
    """The bytes are not what the content type says."""


class StoreUnavailable(IngestError):
    """ClickHouse cannot be reached; what was acknowledged waits in the journal."""


class StoreRefused(IngestError):
    """ClickHouse was reached and said no: the statement or the data is at fault, not the connection."""


class JournalInUse(IngestError):
    """Another process holds this data folder."""
