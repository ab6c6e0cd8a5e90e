"""The body of `POST /v1/scores`, item by item: what is a measurement, and what is refused with a reason.

Pure. One bad item never costs its neighbours; only a body that is no request at all is refused as a whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai_dialects.value import scrub
from whileai_ingest import ScoreRow
from whileai_query.errors import BadRequest
from whileai_query.trace_ids import well_formed

MOST_ITEMS = 100_000
LONGEST_NAME = 200
LONGEST_LABEL = 1_000
LARGEST_EXTRA = 16 << 10
DEEPEST_EXTRA = 50
DEFAULT_NAME = "score"

_MEASUREMENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "traceId": {"type": "string", "description": "32 hex digits, or the first 16 of them"},
        "name": {"type": "string", "maxLength": LONGEST_NAME, "default": DEFAULT_NAME},
        "value": {"type": ["number", "boolean"]},
        "label": {"type": "string", "maxLength": LONGEST_LABEL},
        "passAt": {"type": "number"},
    },
}
# As the API's document shows it.
SCORES_SCHEMA: dict[str, Any] = {
    **_MEASUREMENT,
    "properties": {**_MEASUREMENT["properties"], "scores": {"type": "array", "items": _MEASUREMENT}},
}

_OWN_FIELDS = frozenset({"traceId", "trace_id", "name", "value", "label", "pass_at", "passAt"})


class _Refused(ValueError):
    """Why one item is not a measurement."""


@dataclass(slots=True)
class Items:
    """What one request asks to record (each with its place in the request), and what it asks in vain."""

    scores: list[tuple[int, ScoreRow]] = field(default_factory=list)
    rejected: list[dict[str, Any]] = field(default_factory=list)


def read_items(body: bytes) -> Items:
    """The measurements of a single or a batch request. Raises `BadRequest` when the body is neither."""
    try:
        document = json.loads(body)  # takes NaN and Infinity, so that they can be refused by name
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is not JSON: {str(error)[:120]}") from None
    if not isinstance(document, dict):
        raise BadRequest("the body must be an object: {traceId, name, value}, or {scores: [...]}")
    batch = document.get("scores")
    if batch is None:
        return _collect([document], {})
    if not isinstance(batch, list):
        raise BadRequest("scores must be a list of measurements")
    if len(batch) > MOST_ITEMS:
        raise BadRequest(f"scores has {len(batch)} items; send at most {MOST_ITEMS} at once")
    return _collect(batch, {"traceId": document["traceId"]} if document.get("traceId") is not None else {})


def _collect(batch: list[Any], shared: Mapping[str, Any]) -> Items:
    items = Items()
    for index, item in enumerate(batch):
        given = {**shared, **item} if isinstance(item, dict) else {}
        try:
            if not isinstance(item, dict):
                raise _Refused("a measurement must be an object with traceId and value")
            items.scores.append((index, _score(given)))
        except _Refused as refusal:
            items.rejected.append(rejection(index, given, str(refusal)))
    return items


def rejection(index: int, given: Mapping[str, Any], error: str) -> dict[str, Any]:
    """One refused item as the answer shows it."""
    shown = {name: given[name][:80] for name in ("traceId", "name") if isinstance(given.get(name), str)}
    return {"index": index, **shown, "error": error}


def _score(given: Mapping[str, Any]) -> ScoreRow:
    value = _number("value", given.get("value"))
    label = _text("label", given.get("label"), LONGEST_LABEL)
    if value is None and not label:
        raise _Refused("a measurement needs a value, or a label when it is a word")
    return ScoreRow(
        trace_id=_trace_id(given.get("traceId", given.get("trace_id"))),
        name=_text("name", given.get("name"), LONGEST_NAME) or DEFAULT_NAME,
        value=value,
        label=label,
        pass_at=_number("pass_at", given.get("pass_at", given.get("passAt"))),
        extra=_extra({name: value for name, value in given.items() if name not in _OWN_FIELDS}),
    )


def _trace_id(given: Any) -> str:
    if given is None:
        raise _Refused("which run? give its traceId")
    trace_id = well_formed(given) if isinstance(given, str) else None
    if trace_id is None:
        raise _Refused(
            f"traceId {str(given)[:60]!r} is impossible: it has 32 hex digits (or the first 16), not all zero"
        )
    return trace_id


def _number(name: str, given: Any) -> float | None:
    if given is None:
        return None
    if not isinstance(given, bool | int | float):
        raise _Refused(f"{name} must be a number, not {_kind(given)}")
    try:
        number = float(given)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _Refused(f"{name} must be a finite number, not {'NaN' if math.isnan(number) else 'an infinity'}")
    return number


def _text(name: str, given: Any, longest: int) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise _Refused(f"{name} must be text, not {_kind(given)}")
    if len(given) > longest:
        raise _Refused(f"{name} has {len(given)} characters; {longest} are taken")
    return scrub(given)


def _extra(given: dict[str, Any]) -> dict[str, Any]:
    """The sender's own fields, as they can be stored and shown again."""
    if not given:
        return {}
    if not _shallow(given):
        raise _Refused(f"{', '.join(given)[:80]}: nested more than {DEEPEST_EXTRA} deep, which is not kept")
    try:
        text = json.dumps(given, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise _Refused(f"{', '.join(given)[:80]}: only finite numbers can be kept") from None
    if len(text) > LARGEST_EXTRA:
        raise _Refused(f"the fields besides the value have {len(text)} characters; {LARGEST_EXTRA} are taken")
    kept: dict[str, Any] = json.loads(scrub(text))
    return kept


def _shallow(given: Any) -> bool:
    """Whether it can be written again: an encoder's stack ends sooner than a reader's."""
    level = [given]
    for _ in range(DEEPEST_EXTRA):
        level = [
            child
            for one in level
            for child in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
        ]
        if not level:
            return True
    return False


def _kind(given: Any) -> str:
    return {str: "text", list: "a list", dict: "an object", bool: "a truth value"}.get(type(given), "that")
