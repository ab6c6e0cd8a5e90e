"""Which dataset a batch of traces belongs to: named by the resource, one per name and UTC day of arrival."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import lru_cache

from whileai_dialects.span import read_resource

DEFAULT_DATASET = "traces"
_KEYS = ("zeroproof.dataset", "whileai.dataset")


@lru_cache(maxsize=4096)
def dataset_name(resource: bytes) -> str:
    """The dataset that raw `Resource` bytes name, else `traces`."""
    attributes = read_resource(resource)
    named = (attributes.get(key) for key in _KEYS)
    return next((name for name in named if isinstance(name, str) and name), DEFAULT_DATASET)


def day_of(arrival: int) -> str:
    """The UTC day of an arrival in nanoseconds, `YYYY-MM-DD`."""
    return datetime.fromtimestamp(arrival // 1_000_000_000, UTC).strftime("%Y-%m-%d")


def dataset_id(account: str, name: str, day: str) -> str:
    """Known before anything is written: a hash of whose, what and when."""
    digest = hashlib.sha256(f"{account}\0{name}\0{day}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"ds_{digest[:24]}"
