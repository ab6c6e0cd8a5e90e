"""Whether a line of an uploaded file is a row, and what is wrong when it is not. Pure.

Any non-empty JSON object is a row. One that is stamped with schema version 1 must have the shape it claims: a run
(prompt, steps, final_text), a training row (messages) or a preference row (prompt, chosen, rejected).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

_Check = tuple[str, Callable[[Any], bool]]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_prompt(value: Any) -> bool:
    return isinstance(value, str | list)


def _is_completion(value: Any) -> bool:
    return isinstance(value, str | list | dict)


def _are_steps(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(step, dict) and any(key in step for key in ("user", "tool", "text")) for step in value
    )


def _are_messages(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(message, dict) and isinstance(message.get("role"), str) for message in value
    )


# shape -> the fields it must have; a row claims the first shape of which it has the telling field.
_SHAPES: tuple[tuple[str, tuple[_Check, ...]], ...] = (
    ("chosen", (("prompt", _is_prompt), ("chosen", _is_completion), ("rejected", _is_completion))),
    ("steps", (("prompt", _is_text), ("steps", _are_steps), ("final_text", _is_text))),
    ("messages", (("messages", _are_messages),)),
    ("", (("prompt", _is_text), ("steps", _are_steps), ("final_text", _is_text))),
)


def problem_of(line: bytes) -> str | None:
    """Why this line is no row; None when it is one."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return f"not JSON: {error.msg}"
    if not isinstance(row, dict) or not row:
        return "not a JSON object with at least one field"
    return _version_one(row) if row.get("schema_version") in ("1", 1) else None


def _version_one(row: Mapping[str, Any]) -> str | None:
    checks = next(checks for telling, checks in _SHAPES if not telling or telling in row)
    for field, fits in checks:
        if field not in row:
            return f"schema version 1, and {field} is missing"
        if not fits(row[field]):
            return f"schema version 1, and {field} has the wrong shape"
    if "reward" in row and row["reward"] is not None and not _is_number(row["reward"]):
        return "schema version 1, and reward is neither a number nor null"
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
