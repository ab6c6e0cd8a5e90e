"""Admission: how many bytes may be between the door and the journal at once.

What is over a bound is told to come back (503 / UNAVAILABLE) or that it never will fit (413 / RESOURCE_EXHAUSTED);
memory does not grow with what is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from whileai_ingest import Overloaded, TooLarge


class Admission:
    """Counts bytes in flight over all requests of the process; safe from any thread."""

    def __init__(self, max_request_bytes: int, max_in_flight_bytes: int) -> None:
        self.max_request_bytes = max_request_bytes
        self._max_in_flight_bytes = max_in_flight_bytes
        self._in_flight = 0
        self._lock = threading.Lock()

    @property
    def in_flight(self) -> int:
        return self._in_flight

    @contextmanager
    def request(self) -> Iterator[Ticket]:
        """A ticket that grows with what the request takes and gives all of it back."""
        ticket = Ticket(self)
        try:
            yield ticket
        finally:
            with self._lock:
                self._in_flight -= ticket.held

    def _take(self, size: int) -> None:
        with self._lock:
            if self._in_flight + size > self._max_in_flight_bytes:
                raise Overloaded("too many bytes in flight", retry_after=1)
            self._in_flight += size


class Ticket:
    """One request's share."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self.held = 0

    def check(self, size: int) -> None:
        """Raises `TooLarge` when a request of this size is never taken."""
        limit = self._admission.max_request_bytes
        if size > limit:
            raise TooLarge(f"a request may have {limit} bytes after decompression")

    def grow(self, size: int) -> None:
        """Take `size` more bytes. Raises `Overloaded` when the process holds too many."""
        self._admission._take(size)
        self.held += size
