"""Recognised keys, remembered for a few seconds, so that a stream of spans does not ask the database for each request.

A revoked key therefore works for at most `TTL_SECONDS` more in this process.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from whileai_registry.keys import Principal

TTL_SECONDS = 5.0
# Wrong keys are remembered too, so a flood of them is bounded in memory and does not reach the database.
MOST_KEYS = 10_000


class KeyCache:
    """`authenticate` with a memory; safe from any thread."""

    def __init__(
        self, authenticate: Callable[[str], Principal | None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._authenticate = authenticate
        self._clock = clock
        self._known: OrderedDict[bytes, tuple[float, Principal | None]] = OrderedDict()
        self._lock = threading.Lock()

    def remembered(self, key: str) -> tuple[bool, Principal | None]:
        """(whether the answer is fresh, the answer): costs nothing, for callers that must not block."""
        with self._lock:
            known = self._known.get(_digest(key))
        if known is None or known[0] <= self._clock():
            return False, None
        return True, known[1]

    def authenticate(self, key: str) -> Principal | None:
        """Who this key is. Raises RegistryUnavailable when it has to ask and the database does not answer."""
        fresh, principal = self.remembered(key)
        if fresh:
            return principal
        principal = self._authenticate(key)
        with self._lock:
            self._known[_digest(key)] = (self._clock() + TTL_SECONDS, principal)
            while len(self._known) > MOST_KEYS:
                self._known.popitem(last=False)
        return principal


def _digest(key: str) -> bytes:
    # The key itself is never kept.
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
