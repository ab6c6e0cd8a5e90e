"""Work that outlives its request: a few threads of this process. A job says its own state in the records.

Nothing waits for a job when the service stops: at the next start its record says that it was interrupted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

log = structlog.get_logger("jobs")

# Each moves a file through a network; more at once would only slow each other down.
AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Jobs:
    """Runs functions, a few at a time, in the order they were given."""

    _room: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(AT_ONCE))

    def start(self, name: str, work: Callable[[], None]) -> None:
        """Run it soon. `work` handles its own failures; what it lets through is logged."""

        def run() -> None:
            with self._room:
                try:
                    work()
                except Exception:
                    log.exception("a job failed", job=name)

        threading.Thread(target=run, name=name, daemon=True).start()
