"""The turns of a run as the page tells them: who speaks, what was called, where the whole of a long text is. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_query.pages.text import plain

STEPS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn. `place` addresses its texts for `text_at`."""

    kind: str
    place: str
    text: Any = None
    tool: str = ""
    arguments: Any = None
    result: Any = None
    error: Any = None
    call_id: str = ""


def turns_of(view: Mapping[str, Any]) -> list[Turn]:
    """System, prompt, steps, final text; each once."""
    return list(_turns(view, list(view["steps"])))


def _turns(view: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    if view["system"]:
        yield Turn("system", "system", view["system"])
    if view["prompt"] is not None and not (steps and steps[0].get("user") == view["prompt"]):
        yield Turn("user", "prompt", view["prompt"])
    for number, step in enumerate(steps):
        yield _turn(step, f"step.{number}")
    said = steps[-1].get("text") if steps else None
    if view["finalText"] is not None and said != view["finalText"]:
        yield Turn("assistant", "final", view["finalText"])


def _turn(step: Mapping[str, Any], place: str) -> Turn:
    if "tool" in step:
        return Turn(
            "tool",
            place,
            tool=str(step["tool"]),
            arguments=step.get("arguments"),
            result=step.get("result"),
            error=step.get("error"),
            call_id=str(step.get("callId") or ""),
        )
    if "user" in step:
        return Turn("user", place, step["user"])
    return Turn("assistant", place, step.get("text", ""))


def text_at(view: Mapping[str, Any], place: str) -> str | None:
    """A whole text: `system`, `prompt`, `final`, `step.3`, `step.3.arguments`, `step.3.result`."""
    named = {"system": "system", "prompt": "prompt", "final": "finalText"}.get(place)
    if named is not None:
        return None if view[named] is None else str(view[named])
    parts = place.split(".")
    numbered = len(parts) > 1 and parts[0] == "step" and parts[1].isdecimal() and len(parts[1]) < 10
    number = int(parts[1]) if numbered else -1
    if not 0 <= number < len(view["steps"]):
        return None
    step = view["steps"][number]
    value = step.get(parts[2]) if len(parts) > 2 else step.get("user", step.get("text"))
    return None if value is None else plain(value)
