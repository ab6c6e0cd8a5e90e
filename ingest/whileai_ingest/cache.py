"""The traces the writer saw last, bounded by bytes, so that a trace that grows need not be read back each time."""

from __future__ import annotations

from collections import OrderedDict

from whileai_ingest.items import TraceItems

Key = tuple[str, str]  # account, trace id


class TraceCache:
    """Least recently written first out. Only the writer's thread touches it."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._traces: OrderedDict[Key, tuple[TraceItems, int]] = OrderedDict()
        self.bytes = 0

    def take(self, key: Key) -> TraceItems | None:
        """The items of a trace, out of the cache: whoever changes them puts them back."""
        found = self._traces.pop(key, None)
        if found is None:
            return None
        items, size = found
        self.bytes -= size
        return items

    def put(self, key: Key, items: TraceItems) -> None:
        self._traces[key] = (items, items.size)
        self.bytes += items.size
        while self.bytes > self._max_bytes and self._traces:
            _, (_, size) = self._traces.popitem(last=False)
            self.bytes -= size

    def clear(self) -> None:
        """After a failed write nobody knows what the store has: read everything back."""
        self._traces.clear()
        self.bytes = 0
