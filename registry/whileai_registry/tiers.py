"""What an account may use, by tier. A limit of None is no limit. Decides nothing by itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

Tier = Literal["trial", "standard"]


@dataclass(frozen=True)
class Limits:
    daily_input_tokens: int | None
    daily_output_tokens: int | None
    storage_bytes: int | None
    datasets: int | None
    keys: int
    lifetime: timedelta | None


LIMITS: dict[Tier, Limits] = {
    "trial": Limits(
        daily_input_tokens=25_000,
        daily_output_tokens=50_000,
        storage_bytes=100 * 1024 * 1024,
        datasets=10,
        keys=5,
        lifetime=timedelta(days=14),
    ),
    "standard": Limits(
        daily_input_tokens=None,
        daily_output_tokens=None,
        storage_bytes=None,
        datasets=None,
        keys=100,
        lifetime=None,
    ),
}
