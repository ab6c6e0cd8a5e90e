"""The bounded queue between an agent and the network: putting something in never waits, one thread takes it out.

The thread starts with the first item, sleeps when there is nothing to do, and is started anew in a forked child. What
waits in the parent at a fork is the parent's to send.
"""

import os
import threading
import weakref
from collections import deque
from multiprocessing import util as multiprocessing_util
from typing import Any

from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, attach, detach, set_value

from whileai_instrumentation.courier import Courier
from whileai_instrumentation.signals import Signal
from whileai_instrumentation.sizes import SIZE_OF
from whileai_instrumentation.transport import SENDING_THREAD
from whileai_instrumentation.warnings_once import warn

MOST_ITEMS = 4096
MOST_BYTES = 64 * 1024 * 1024  # of text in what waits
UNCROWDED = 64  # so many items may wait before each is measured: measuring costs the agent as much as all the rest
BATCH_ITEMS = 512
BATCH_BYTES = 8 * 1024 * 1024  # an eighth of what the service takes at once
DELAY_SECONDS = 1.0  # what a page may lag behind its agent
CLOSE_SECONDS = 3.0

Entry = tuple[Signal, Any, int]


class Outbox:
    """What waits to be sent."""

    def __init__(self, courier: Courier, *, most_items: int = MOST_ITEMS, most_bytes: int = MOST_BYTES) -> None:
        self.courier = courier
        self._most_items, self._most_bytes = most_items, most_bytes
        self._closed = False
        self._renew()
        if hasattr(os, "register_at_fork"):
            renew = weakref.WeakMethod(self._renew)
            os.register_at_fork(after_in_child=lambda: (method := renew()) and method())
        # A child of multiprocessing ends without atexit, but runs these.
        multiprocessing_util.register_after_fork(self, _close_at_the_end_of_a_child)

    def _renew(self) -> None:
        """Begin empty: no thread, no lock and no item of another process."""
        self._queue: deque[Entry] = deque()
        self._bytes = 0
        self._lock = threading.RLock()  # a collected generator may end its span inside `put`
        self._changed = threading.Condition(self._lock)
        self._awake = threading.Event()
        self._full = threading.Event()
        self._thread: threading.Thread | None = None
        self._current: list[Entry] = []
        self._taken_in = self._dealt_with = self._failed = 0

    def put(self, signal: Signal, item: Any) -> None:
        """Add an item, unless the queue is full."""
        size = SIZE_OF[signal](item) if len(self._queue) >= UNCROWDED else 0
        with self._lock:
            if self._closed:
                return
            if len(self._queue) >= self._most_items or self._bytes + size > self._most_bytes:
                lost = True
            else:
                lost = False
                self._queue.append((signal, item, size))
                self._bytes += size
                self._taken_in += 1
                if len(self._queue) == BATCH_ITEMS or self._bytes >= BATCH_BYTES:
                    self._full.set()
            started = self._thread is not None
        if lost:
            warn("full", "spans come faster than they can be sent: more than %d wait, some are lost", self._most_items)
        if not started:
            self._start()
        if not self._awake.is_set():
            self._awake.set()

    def hand_over(self, courier: Courier) -> None:
        """From now on another courier delivers; a closed outbox opens again."""
        with self._lock:
            before, self.courier = self.courier, courier
            self._closed = False
        before.transport.close()

    def flush(self, seconds: float) -> bool:
        """Wait until everything put in so far was dealt with; whether the service has all of it."""
        with self._changed:
            goal, failed = self._taken_in, self._failed
            if self._dealt_with >= goal:
                return True
        if not self._start():
            self._drain()
        self._full.set()
        self._awake.set()
        with self._changed:
            done = self._changed.wait_for(lambda: self._dealt_with >= goal, seconds)
            return done and self._failed == failed

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Send what waits, in no more than so many seconds; put the rest into the spool. Then nothing more is taken."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            waiting = bool(self._queue) or self._dealt_with < self._taken_in
            thread = self._thread
        self.courier.hurry(seconds)
        self._full.set()
        self._awake.set()
        if waiting:
            if thread is None or not thread.is_alive():
                self._drain()
            else:
                thread.join(seconds)
        for signal, items in self._rest():
            self.courier.write_down(signal, items)

    def _start(self) -> bool:
        """Start the thread unless it runs; False when the interpreter starts no thread any more."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return True
            self._thread = threading.Thread(target=self._work, name=SENDING_THREAD, daemon=True)
            thread = self._thread
        try:
            thread.start()
        except RuntimeError:
            return False
        return True

    def _work(self) -> None:
        attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))  # sending a span makes no span
        while True:
            self._awake.wait(self.courier.seconds_to_resend())
            if self._queue and not self._closed:
                self._full.wait(DELAY_SECONDS)
            self._full.clear()
            self._awake.clear()
            closed, idle = self._closed, not self._queue
            self._drain()
            if not (closed and idle):
                self.courier.resend()
            if closed:
                return

    def _drain(self) -> None:
        token = attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        try:
            while batch := self._take():
                taken = 0
                for signal in Signal:
                    items = [item for kind, item, _ in batch if kind is signal]
                    taken += not items or self._deliver(signal, items)
                with self._changed:
                    self._current = []
                    self._dealt_with += len(batch)
                    self._failed += taken < len(Signal)
                    self._changed.notify_all()
        finally:
            detach(token)

    def _deliver(self, signal: Signal, items: list[Any]) -> bool:
        try:
            return self.courier.deliver(signal, items)
        except Exception as problem:  # the thread must outlive whatever this was
            warn("bug", "%d %s are lost: %s: %s", len(items), signal.value, type(problem).__name__, problem)
            return False

    def _take(self) -> list[Entry]:
        batch: list[Entry] = []
        size = 0
        with self._lock:
            while self._queue and len(batch) < BATCH_ITEMS:
                signal, item, counted = self._queue[0]
                size += counted or SIZE_OF[signal](item)
                if batch and size > BATCH_BYTES:
                    break
                batch.append(self._queue.popleft())
                self._bytes -= counted
            self._current = batch
        return batch

    def _rest(self) -> list[tuple[Signal, list[Any]]]:
        with self._lock:
            # A batch whose answer nobody will wait for is kept too; sent twice, it changes nothing.
            left = [*self._current, *self._queue]
            self._queue.clear()
        by_signal = [(signal, [item for kind, item, _ in left if kind is signal]) for signal in Signal]
        return [(signal, items) for signal, items in by_signal if items]


def _close_at_the_end_of_a_child(outbox: Outbox) -> None:
    multiprocessing_util.Finalize(outbox, outbox.close, exitpriority=10)
