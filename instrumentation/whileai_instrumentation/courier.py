"""Delivering: one request to the service, or to the spool when the service is away, and the spool's when it is back.

After a failure the service is left alone for a while, doubling up to half a minute, and everything goes straight to
the spool: an outage costs the agent a little disk, and no waiting.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from whileai_instrumentation.encoding import Encoder
from whileai_instrumentation.outcome import Fate, Outcome
from whileai_instrumentation.signals import Signal
from whileai_instrumentation.spool import Spool
from whileai_instrumentation.transport import Transport
from whileai_instrumentation.warnings_once import warn

REQUEST_SECONDS = 10.0  # OpenTelemetry's default
FIRST_REST, LONGEST_REST = 1.0, 30.0


OUT_OF_TIME = Outcome(Fate.LATER, "the process is ending")


class Courier:
    """Used by one thread at a time."""

    def __init__(
        self,
        transport: Transport,
        encoder: Encoder,
        spool: Spool | None,
        where: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.transport, self.encoder, self.spool, self.where = transport, encoder, spool, where
        self._clock = clock
        self._rest = 0.0
        self._not_before = 0.0
        self._deadline: float | None = None
        self._resend_not_before = 0.0

    def hurry(self, seconds: float) -> None:
        """From now on no request may take longer than until then: the process is about to end."""
        self._deadline = self._clock() + seconds

    def deliver(self, signal: Signal, items: Sequence[Any]) -> bool:
        """Send some spans or log records; False when the service has not taken them."""
        body = self.encoder.encode(signal, items)
        if body is None:
            return False
        if self._resting():
            self._keep(signal, body, len(items))
            return False
        outcome = self._send(signal, body)
        if outcome.fate is Fate.LATER:
            self._keep(signal, body, len(items))
        elif outcome.fate is Fate.REFUSED:
            warn("refused", "%s refused %d %s: %s", self.where, len(items), signal.value, outcome.reason)
        return outcome.fate is Fate.ACCEPTED

    def write_down(self, signal: Signal, items: Sequence[Any]) -> None:
        """Put some spans or log records into the spool without trying to send them."""
        body = self.encoder.encode(signal, items)
        if body is not None:
            self._keep(signal, body, len(items))

    def seconds_to_resend(self) -> float | None:
        """How long until the spool should be tried; None when nothing is in it."""
        if self.spool is None or not self.spool.waiting():
            return None
        return max(0.0, self._not_before - self._clock(), self._resend_not_before - self._clock())

    def resend(self) -> None:
        """Send what the spool holds, until the service declines."""
        if self.spool is None or self.seconds_to_resend() != 0.0:
            return
        self.spool.resend(lambda signal, body: self._send(signal, body).fate is not Fate.LATER)
        if self.spool.waiting():  # another process is at it, or the service declined: not at once again
            self._resend_not_before = self._clock() + FIRST_REST

    def _send(self, signal: Signal, body: bytes) -> Outcome:
        seconds = REQUEST_SECONDS
        if self._deadline is not None:
            seconds = min(seconds, self._deadline - self._clock())
            if seconds <= 0:
                return OUT_OF_TIME
        outcome = self.transport.send(signal, body, seconds)
        if outcome.fate is Fate.LATER:
            self._rest = min(LONGEST_REST, self._rest * 2 or FIRST_REST)
            self._not_before = self._clock() + (self._rest if outcome.wait is None else outcome.wait)
            kept = "are kept on disk until then" if self.spool else "are dropped until then"
            warn("away", "%s does not take traces now (%s); spans %s", self.where, outcome.reason, kept)
        else:
            self._rest = self._not_before = 0.0
        return outcome

    def _resting(self) -> bool:
        return self._clock() < self._not_before

    def _keep(self, signal: Signal, body: bytes, count: int) -> None:
        if self.spool is None or not self.spool.keep(signal, body):
            warn("lost", "%d %s could not be sent and are lost", count, signal.value)
