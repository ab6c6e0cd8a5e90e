"""What is in force in this process: at most one set-up, which a second `instrument` changes and never doubles."""

import threading
from dataclasses import dataclass, field

from whileai_instrumentation.outbox import Outbox
from whileai_instrumentation.processors import OutboxLogProcessor, OutboxSpanProcessor


@dataclass
class Setup:
    """The set-up of this process."""

    outbox: Outbox
    spans: OutboxSpanProcessor
    logs: OutboxLogProcessor
    joined: list[object] = field(default_factory=list)  # the providers that the processors hang in
    said: set[str] = field(default_factory=set)  # the lines that were printed


lock = threading.RLock()
_current: Setup | None = None


def current() -> Setup | None:
    """The set-up in force, if `instrument` was called."""
    return _current


def put_in_force(setup: Setup) -> None:
    """Make a set-up the one in force."""
    global _current
    _current = setup


def agent() -> str | None:
    """The agent given to `instrument`."""
    return _current.outbox.courier.encoder.identity.agent if _current else None


def capture_content() -> bool:
    """Whether content may leave this process."""
    return _current.outbox.courier.encoder.capture_content if _current else True
