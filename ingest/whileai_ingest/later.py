"""Traces that are to be looked at again once nothing was heard of them for a while."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from whileai_ingest.cache import Key


class Later:
    """Keys in the order in which they fall due; hearing of one again puts it off."""

    def __init__(self, quiet_seconds: float) -> None:
        self._quiet_seconds = quiet_seconds
        self._due: OrderedDict[Key, float] = OrderedDict()

    def put_off(self, keys: Iterable[Key], now: float) -> None:
        for key in keys:
            self._due[key] = now + self._quiet_seconds
            self._due.move_to_end(key)

    def due_in(self, now: float) -> float | None:
        """Seconds until the first falls due (0 or less: it is); None when there is none."""
        return next(iter(self._due.values())) - now if self._due else None

    def take_due(self, now: float, most: int) -> list[Key]:
        """Those that are due, at most so many; they are put off no more."""
        taken: list[Key] = []
        while self._due and len(taken) < most and next(iter(self._due.values())) <= now:
            taken.append(self._due.popitem(last=False)[0])
        return taken
