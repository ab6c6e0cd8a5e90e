"""What went wrong, told to the logger `whileai`: each kind at most once a minute, so that an outage is one line.

There is no lock: at worst two threads tell the same at the same moment, and a forked child inherits nothing held.
"""

import logging
import time

LOGGER = logging.getLogger("whileai")
QUIET_SECONDS = 60.0

_last: dict[str, float] = {}


def warn(kind: str, message: str, *arguments: object) -> None:
    """Log a warning unless one of this kind was logged within the last minute."""
    now = time.monotonic()
    if now - _last.get(kind, -QUIET_SECONDS) >= QUIET_SECONDS:
        _last[kind] = now
        LOGGER.warning(message, *arguments)


def forget() -> None:
    """Let every kind be told again."""
    _last.clear()
