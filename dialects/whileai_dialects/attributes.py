"""Attributes that are decoded when they are asked for, and only once."""

from collections.abc import Iterator, Mapping
from typing import Any

from whileai_dialects.value import Value, decode_value, encode_value


class Attributes(Mapping[str, Value]):
    """A view over raw AnyValue bytes by key."""

    __slots__ = ("_seen", "raw")

    def __init__(self, raw: Mapping[str, bytes]) -> None:
        self.raw = raw
        self._seen: dict[str, Value] = {}

    @classmethod
    def of(cls, values: Mapping[str, object]) -> "Attributes":
        """Attributes from plain Python values."""
        return cls({key: encode_value(value) for key, value in values.items()})

    def __getitem__(self, key: str) -> Value:
        seen = self._seen
        if key in seen:
            return seen[key]
        value = seen[key] = decode_value(self.raw[key])
        return value

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, else the default; most keys that are asked for are not there."""
        return self[key] if key in self.raw else default

    def __contains__(self, key: object) -> bool:
        return key in self.raw

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)

    def __repr__(self) -> str:
        return f"Attributes({dict(self)!r})"


_NONE = Attributes({})


def no_attributes() -> Attributes:
    """The empty attributes, shared."""
    return _NONE
