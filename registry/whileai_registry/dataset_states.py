"""The life of a dataset and the words that describe one, as tables. Decides; stores nothing."""

from __future__ import annotations

from typing import Literal, get_args

from whileai_registry.errors import InvalidInput, NotAllowed

Status = Literal["uploading", "importing", "ready", "failed"]
Event = Literal["finalize", "fail", "retry_import"]

Purpose = Literal["train", "holdout", "eval"]
Mode = Literal["explore", "sft", "rl", "adaptive"]
PURPOSES: tuple[str, ...] = get_args(Purpose)
MODES: tuple[str, ...] = get_args(Mode)

# A failed upload may be sent and finalized again; a ready set never changes its rows, so a second finalize is a no-op.
TRANSITIONS: dict[tuple[Status, Event], Status] = {
    ("uploading", "finalize"): "ready",
    ("uploading", "fail"): "failed",
    ("importing", "finalize"): "ready",
    ("importing", "fail"): "failed",
    ("failed", "finalize"): "ready",
    ("failed", "fail"): "failed",
    ("failed", "retry_import"): "importing",
    ("ready", "finalize"): "ready",
}


def after(dataset_id: str, status: Status, event: Event) -> Status:
    try:
        return TRANSITIONS[status, event]
    except KeyError:
        raise NotAllowed(f"dataset {dataset_id} is {status}; {event} is not possible now") from None


def one_of(parameter: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise InvalidInput(f"{parameter} must be one of {', '.join(allowed)}, not {value[:40]!r}")
    return value
