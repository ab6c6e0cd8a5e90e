"""CPU seconds of a contestant: of all its processes, with what they still owe when the last answer is there.

Merges, files to be synced and rows to be written go on after a query was answered. They belong to the round, so it ends
when the processes have been quiet for a while.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

import psutil

Prepared = TypeVar("Prepared")
Round = Callable[[], float]

LOOK_SECONDS = 0.3
# A service that waits uses a hundredth of a core or two, a merge most of one.
QUIET_SHARE = 0.06
LONGEST_SECONDS = 20.0


class Meter:
    """The CPU of these processes and their children."""

    def __init__(self, *pids: int) -> None:
        self._processes = [psutil.Process(pid) for pid in pids or (os.getpid(),)]

    def used(self) -> float:
        total = 0.0
        for process in self._processes:
            for one in (process, *process.children(recursive=True)):
                times = one.cpu_times()
                total += times.user + times.system
        return total

    def memory(self) -> int:
        """Resident bytes of all of them."""
        return sum(
            one.memory_info().rss for process in self._processes for one in (process, *process.children(recursive=True))
        )

    def wait_for_quiet(self) -> None:
        """Until hardly any CPU is used; not for ever, for a contestant that never rests."""
        until = time.monotonic() + LONGEST_SECONDS
        before = self.used()
        while time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
            now = self.used()
            if now - before <= QUIET_SHARE * LOOK_SECONDS:
                return
            before = now


def rounds(
    meter: Meter,
    prepare: Callable[[], Prepared],
    work: Callable[[Prepared], object],
    *,
    uncounted: Callable[[], object] | None = None,
) -> Round:
    """A round: prepare, then count `work` and what it leaves behind; with `uncounted`, that is done apart."""

    def once() -> float:
        prepared = prepare()
        meter.wait_for_quiet()
        before = meter.used()
        work(prepared)
        if uncounted is None:
            meter.wait_for_quiet()
            return meter.used() - before
        used = meter.used() - before
        uncounted()
        meter.wait_for_quiet()
        return used

    return once
