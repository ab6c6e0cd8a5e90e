"""The distinct model calls of a run: a call that two instrumentations tell, or that a wrapper repeats, is one call.

Tokens, cost, and the conversation all go by this list, so a call that is counted once is read once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whileai_dialects.content import asked_calls, asks_for_tools, content_of
from whileai_dialects.message import Content, Message
from whileai_dialects.reading import Reading
from whileai_dialects.run import Usage
from whileai_dialects.span import ERROR, when
from whileai_dialects.tree import Tree

_TELLING = frozenset(("input_tokens", "output_tokens", "usage", "answered", "answered_text", "answered_calls"))
_CALLS = frozenset(("llm", "embedding"))
# A model call never spans these: below them another call begins.
_WALLS = frozenset(("agent", "tool", "workflow"))


@dataclass(slots=True)
class ModelCall:
    """One call of a model and everything that tells of it, the most telling first."""

    readings: list[Reading]
    # What stands for several calls and tells what they have in common, such as the model.
    around: Sequence[Reading] = ()
    # Whether its own facts make it a call, not a frame or a preparation.
    tells: bool = False
    usage: Usage | None = None
    _content: Content | None = None

    def __post_init__(self) -> None:
        for reading in self.readings:
            if not reading.found.keys().isdisjoint(_TELLING):
                self.tells = True

    @property
    def first(self) -> Reading:
        """The reading whose span stands for the call."""
        return self.readings[0]

    @property
    def content(self) -> Content:
        """What went in and came out, each from the first copy that tells it."""
        if self._content is None:
            self._content = _merged(self.readings)
        return self._content

    def forget(self) -> None:
        """Let go of the input, which is by far the most of a long run; the answer stays."""
        self.content.said = []
        for reading in self.readings:
            reading.content = None

    def text(self, fact: str) -> str | None:
        """A fact as text, from the first copy that tells it."""
        for reading in self.readings:
            text = reading.text(fact)
            if text:
                return text
        for reading in self.around:
            text = reading.text(fact)
            if text:
                return text
        return None

    def id(self, fact: str) -> str | None:
        """A fact that hardly ever comes again, from the first copy that tells it."""
        for readings in (self.readings, self.around):
            for reading in readings:
                told = reading.id(fact)
                if told:
                    return told
        return None

    def number(self, fact: str) -> float | None:
        """A fact as a number, from the first copy that tells it."""
        for reading in self.readings:
            if fact in reading.found:
                value = reading.number(fact)
                if value is not None:
                    return value
        return None

    def count(self, fact: str) -> int | None:
        """A fact as a count, from the first copy that tells it."""
        for reading in self.readings:
            if fact in reading.found:
                value = reading.count(fact)
                if value is not None:
                    return value
        return None

    @property
    def failed(self) -> bool:
        """Whether the call ended in an error and nothing came back."""
        return any(is_failed(reading) for reading in self.readings) and not self.content.answered


def _merged(readings: Sequence[Reading]) -> Content:
    content = content_of(readings[0])
    asking = asks_for_tools(readings[0])
    if len(readings) == 1 and not asking:
        return content
    merged = Content(content.said, content.answered, content.system)
    for reading in readings[1:]:
        content = content_of(reading)
        merged.said = merged.said or content.said
        merged.answered = merged.answered or content.answered
        merged.system = merged.system or content.system
        asking = asking or asks_for_tools(reading)
    if asking:
        merged.answered = _with_calls(merged.answered, readings)
    return merged


def _with_calls(answered: list[Message], readings: Sequence[Reading]) -> list[Message]:
    """An answer that asked for tools, with the calls from another source where its own has none, or none with ids."""
    own = [part for message in answered for part in message.parts if part.kind == "call"]
    if any(part.id for part in own):
        return answered
    told = [asked for reading in readings if (asked := asked_calls(reading))]
    best = next((asked for asked in told if asked.parts[0].id), None if own else next(iter(told), None))
    if best is None:
        return answered
    kept = [Message(message.role, [part for part in message.parts if part.kind != "call"]) for message in answered]
    return [*(message for message in kept if message.parts), best]


def is_failed(reading: Reading) -> bool:
    """Whether a span says that it ended in an error."""
    if reading.span.status_code == ERROR:
        return True
    raw = reading.attributes.raw
    if "error.type" in raw:
        return True
    success = reading.attributes["success"] if "success" in raw else None
    return success is False or success == "false"


def model_calls(tree: Tree, readings: Mapping[str, Reading]) -> list[ModelCall]:
    """The model calls in order of their start."""
    groups: dict[str, ModelCall] = {}
    # Agents' spans stand for calls only where no span of a call's own does.
    plain = "llm" in [reading.kind for reading in readings.values()]
    # The call that a span stands inside of, '' for none; parents come before children.
    around: dict[str, str] = {}
    inside: dict[str, list[str]] = {}
    parent = tree.parent
    for span in tree.downward:
        span_id = span.span_id
        reading = readings[span_id]
        kind = reading.kind
        outer = around.get(parent[span_id], "") if span_id in parent else ""
        if kind in _CALLS or (reading.calls and not plain):
            groups[span_id] = ModelCall([reading])
            if outer:
                inside.setdefault(outer, []).append(span_id)
            outer = span_id
        if outer and kind not in _WALLS:
            around[span_id] = outer
    if inside:
        _fold_nested(groups, inside)
    ordered = sorted(groups.values(), key=lambda call: when(call.readings[0].span))
    if [reading for reading in readings.values() if reading.logs]:
        ordered = [call for group in ordered for call in _by_records(group)]
    return _drop_copies(tree, ordered) if len(ordered) > 1 else ordered


def _fold_nested(groups: dict[str, ModelCall], inside: dict[str, list[str]]) -> None:
    """A call around one call is the same call; a call around several is only a wrapper."""
    for outer in reversed(inside):  # innermost first
        inner = [groups[span_id] for span_id in inside[outer] if span_id in groups]
        telling = [call for call in inner if call.tells]
        if len(telling) > 1:
            del groups[outer]
            continue
        for span_id in inside[outer]:
            groups.pop(span_id, None)
        head = groups[outer]
        if len(inner) == 1:
            # Grow the longer list, so that a deep nest costs what it holds.
            inner[0].readings.insert(0, head.first)
            inner[0].tells = inner[0].tells or head.tells
            groups[outer] = inner[0]
        else:
            for call in inner:
                head.readings += call.readings
                head.tells = head.tells or call.tells


def _by_records(call: ModelCall) -> list[ModelCall]:
    """A span that several whole-call records belong to stands for several calls: the records tell each."""
    for reading in call.readings:
        if reading.logs:
            break
    else:
        return [call]
    records = [Reading(reading.span, (), record) for reading in call.readings for record in reading.details()]
    if len(records) > 1:
        return [ModelCall([record], around=call.readings) for record in records]
    call.readings += records
    return [call]


def _drop_copies(tree: Tree, calls: Sequence[ModelCall]) -> list[ModelCall]:
    answers = [told for call in calls if (told := call.id("response_id"))]
    if len(set(answers)) == len(answers) and len({call.readings[0].span.scope_name for call in calls}) == 1:
        return list(calls)
    kept: list[ModelCall] = []
    by_response: dict[str, ModelCall] = {}
    by_parent: dict[str, list[ModelCall]] = {}
    for call in calls:
        span = call.readings[0].span
        response = call.id("response_id")
        known = by_response.get(response) if response else None
        siblings = by_parent.setdefault(tree.parent.get(span.span_id, ""), [])
        if known is None or not _same_moment(known, call):
            for other in siblings:
                if other.readings[0].span.scope_name != span.scope_name and _twins(other, call):
                    known = other
                    break
            else:
                known = None
        if known is not None:
            known.readings += call.readings
            continue
        kept.append(call)
        if response:
            by_response[response] = call
        siblings.append(call)
        # Copies overlap in time, so only the latest neighbours can be meant.
        del siblings[:-8]
    return kept


def _same_moment(one: ModelCall, other: ModelCall) -> bool:
    """A response id that comes again at another time is a cached answer: a call of its own."""
    return one.first.span.scope_name != other.first.span.scope_name or _overlap(one, other)


def _twins(one: ModelCall, other: ModelCall) -> bool:
    """Whether two instrumentations tell the same call side by side."""
    return (
        one.first.kind == other.first.kind
        and not (one.text("response_id") and other.text("response_id"))
        and _overlap(one, other)
        and _alike(one.text("model"), other.text("model"))
    )


def _overlap(one: ModelCall, other: ModelCall) -> bool:
    a, b = one.first.span, other.first.span
    return max(a.start, b.start) < min(a.end, b.end)


def _alike(one: str | None, other: str | None) -> bool:
    if not one or not other:
        return True
    one, other = one.rpartition("/")[2], other.rpartition("/")[2]
    return one.startswith(other) or other.startswith(one)
