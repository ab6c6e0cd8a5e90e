"""The grammar of `from` and `to`: `all`, a time back from now such as `90s`, `15m`, `24h`, `7d`, or an ISO time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from whileai_query.errors import BadRequest

NS = 1_000_000_000
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_BACK = re.compile(r"([0-9]{1,9})([smhd])")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_moment(parameter: str, text: str, now: int) -> int | None:
    """Nanoseconds since 1970; None for `all`, which is no bound. Raises `BadRequest` naming the parameter."""
    text = text.strip()
    if text.lower() == "all":
        return None
    back = _span(text)
    if back is not None:
        return max(0, now - back)
    try:
        # A plus that was not escaped in the query string arrives as a space.
        moment = datetime.fromisoformat(re.sub(r"(?<=:\d\d) (?=\d\d:?\d\d$)", "+", text))
    except ValueError:
        raise BadRequest(
            f"{parameter}={text[:40]!r} is no time: say all, a time back such as 90s, 15m, 24h or 7d, or an ISO time"
        ) from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return min(max(0, (moment - _EPOCH) // timedelta(microseconds=1) * 1000), 2**63 - 1)


def read_span(parameter: str, text: str) -> int:
    """A length of time such as `1h` in nanoseconds. Raises `BadRequest` naming the parameter."""
    span = _span(text.strip())
    if not span:
        raise BadRequest(f"{parameter}={text[:40]!r} is no length of time: say 90s, 15m, 24h or 7d")
    return span


def _span(text: str) -> int | None:
    found = _BACK.fullmatch(text.lower())
    return int(found[1]) * _SECONDS[found[2]] * NS if found else None
