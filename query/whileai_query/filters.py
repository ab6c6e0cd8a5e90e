"""The filter language of runs: request parameters in, SQL conditions with bound values out.

One table says what each parameter means; the list of runs, the cuts, their tasks and the live traffic all use it, so a
filter means the same everywhere. Nothing here knows about HTTP or about the database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai_dialects.value import scrub
from whileai_query.errors import BadRequest
from whileai_query.windows import read_moment
from whileai_registry import agent_key

LONGEST_VALUE = 4096

# The registry's identity of an agent, its slug without case, in SQL: `Refund Bot!` and `Refund-Bot` are `refund-bot`.
AGENT_KEY = (
    "trimBoth(substringUTF8(trimBoth(replaceRegexpAll(lowerUTF8(assumeNotNull(agent)), "
    "'[^\\\\p{L}\\\\p{N}._-]', '-'), '-._'), 1, 64), '-._')"
)


@dataclass(frozen=True, slots=True)
class Conditions:
    """SQL conditions on `runs`, joined by AND, and the values bound in them."""

    parts: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sql(self) -> str:
        """To be written behind an AND of the caller's own; empty when nothing is filtered."""
        return "".join(f" AND {part}" for part in self.parts)


@dataclass(frozen=True, slots=True)
class _Bound:
    """The values bound in a condition; `condition` overrides the table's, where a value decides how it is read."""

    values: Mapping[str, Any]
    condition: str | None = None


Reader = Callable[[str, str, int], _Bound | None]


def _text(name: str, value: str, _now: int) -> _Bound:
    return _Bound({name: value})


def _agent(name: str, value: str, _now: int) -> _Bound:
    return _Bound({name: value, f"{name}_key": agent_key(value)})


def _moment(name: str, value: str, now: int) -> _Bound | None:
    moment = read_moment(name, value, now)
    return None if moment is None else _Bound({name: moment})


def _state(name: str, value: str, now: int) -> _Bound:
    complete = one_of(name, value, ("running", "complete")) == "complete"
    return _Bound({name: now}, f"completed_at {'<=' if complete else '>'} {{{name}:UInt64}}")


def _verdict(name: str, value: str, _now: int) -> _Bound:
    chosen = one_of(name, value, ("pass", "fail", "none"))
    return _Bound({name: "" if chosen == "none" else chosen})


def _status(name: str, value: str, _now: int) -> _Bound:
    return _Bound({name: one_of(name, value, ("ok", "error"))})


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """The value in lower case. Raises `BadRequest` naming the parameter and what it may be."""
    if value.lower() not in allowed:
        raise BadRequest(f"{name}={value[:40]!r} must be {' or '.join(allowed)}")
    return value.lower()


_FOUND_IN = ("prompt", "final_text", "agent", "scenario_id")
_SEARCH = " OR ".join(f"positionCaseInsensitiveUTF8(ifNull({column}, ''), {{q:String}}) > 0" for column in _FOUND_IN)

# parameter -> how its value is read, and the condition it makes.
FILTERS: dict[str, tuple[Reader, str]] = {
    "agent": (
        _agent,
        "(agent IS NOT NULL AND "
        f"(lowerUTF8(agent) = lowerUTF8({{agent:String}}) OR {AGENT_KEY} = {{agent_key:String}}))",
    ),
    "service": (_text, "service = {service:String}"),
    "from": (_moment, "start_time_unix_nano >= {from:Int64}"),
    "to": (_moment, "start_time_unix_nano < {to:Int64}"),
    "model": (_text, "lowerUTF8(ifNull(model, '')) = lowerUTF8({model:String})"),
    "tool": (_text, "has(tools, {tool:String})"),
    "evalSet": (_text, "eval_set = {evalSet:String}"),
    "measure": (_text, "has(measures, {measure:String})"),
    "scenario": (_text, "scenario_id = {scenario:String}"),
    "verdict": (_verdict, "verdict = {verdict:String}"),
    "status": (_status, "status = {status:String}"),
    "state": (_state, ""),
    "q": (_text, f"({_SEARCH})"),
}


def read_filters(given: Mapping[str, str], now: int) -> Conditions:
    """The conditions of these parameters. An empty value filters nothing; an unknown name is a `BadRequest`."""
    parts: list[str] = []
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in FILTERS:
            raise BadRequest(f"{name[:60]!r} is no filter; the filters are {', '.join(FILTERS)}")
        if len(value) > LONGEST_VALUE:
            raise BadRequest(f"{name} has {len(value)} characters; a filter takes {LONGEST_VALUE}")
        if not value:
            continue
        if value != scrub(value):
            raise BadRequest(f"{name} holds half a surrogate pair, which no text can")
        read, condition = FILTERS[name]
        bound = read(name, value, now)
        if bound is not None:
            parts.append(bound.condition or condition)
            values |= bound.values
    return Conditions(tuple(parts), values)
