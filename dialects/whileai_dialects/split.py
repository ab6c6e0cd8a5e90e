"""The pass rule and the holdout rule: the two decisions that every machine must take alike."""

import hashlib

from whileai_dialects.run import Verdict

PASS_AT = 1.0
_SPAN = 16**8 - 1  # the largest number that eight hex digits tell


def pass_rule(value: float | None, pass_at: float | None = None) -> Verdict | None:
    """The verdict of a score: a pass at or above the bar; None when nothing was measured."""
    if value is None:
        return None
    return "pass" if value >= (PASS_AT if pass_at is None else pass_at) else "fail"


def holdout_bucket(key: str) -> float:
    """Where a task lies between 0 and 1, by its key alone: the same on every machine, every time."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    return int(digest[:8], 16) / _SPAN


def is_holdout(key: str, fraction: float) -> bool:
    """Whether the task of this key belongs to a holdout of this fraction."""
    return holdout_bucket(key) < fraction
