"""Fields of a value that are worked out when somebody first asks for them, and only once.

Most readers of a run want a few of its facts; what is long to tell waits until it is wanted. A field that waits is an
empty slot, so that a field that does not costs nothing, and equality, `asdict`, copies and pickles see it filled.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING


class Deferred:
    """A base for classes with slots whose fields may wait."""

    __slots__ = ("_lengths", "_waiting")

    def defer(self, lengths: Mapping[str, int], **later: Callable[[], object]) -> None:
        """Let these fields be what the functions give when they are first asked for; `lengths` are known already."""
        for name in later:
            delattr(self, name)
        self._lengths = lengths
        self._waiting = later

    def tell_all(self) -> None:
        """Work out every field that waits, here rather than where it is read."""
        for name in list(getattr(self, "_waiting", ())):
            getattr(self, name)

    def _length(self, name: str) -> int:
        """How many items a field has, without working it out where that is known."""
        if name in getattr(self, "_waiting", ()):
            return self._lengths[name]
        field: list[object] = getattr(self, name)
        return len(field)

    # Hidden from type checkers: to them it would make every misspelt field a field.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            try:
                later = object.__getattribute__(self, "_waiting")[name]
            except (AttributeError, KeyError):
                raise AttributeError(f"{type(self).__name__!r} has no field {name!r}", name=name, obj=self) from None
            value = later()
            setattr(self, name, value)
            del self._waiting[name]
            return value
