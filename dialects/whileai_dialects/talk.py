"""The conversation of a run: which calls belong to it, who asked what first, and what the answer was.

The main conversation is the outermost agent's. Calls of agents and tools inside it are conversations of their own,
unless they go on with what was said in the main one (a hand-off).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whileai_dialects.agents import Cast
from whileai_dialects.asks import answer_of, ask_of
from whileai_dialects.calls import ModelCall
from whileai_dialects.content import content_of
from whileai_dialects.history import History
from whileai_dialects.reading import Reading
from whileai_dialects.span import when
from whileai_dialects.steps import Entry
from whileai_dialects.thread import Item, Thread, Tokens
from whileai_dialects.tree import Tree

_ORDER = ("prompt_token_ids", "token_ids", "logprobs")
_TOKENS = frozenset(_ORDER)
_FEW = 16  # calls of a run whose inputs may be held until it is read, for those who ask again
_SPOKEN = frozenset(("user", "text"))
_FRAMES = frozenset(("agent", "workflow", "chain", "other"))


@dataclass(slots=True)
class Talk:
    """What was said in a run."""

    main: Thread
    subs: list[Thread]
    system: str | None
    prompt: str | None


def read_talk(
    tree: Tree,
    readings: Mapping[str, Reading],
    calls: Sequence[ModelCall],
    cast: Cast,
    outer: Sequence[Reading],
) -> Talk:
    """The conversation that the model calls tell, else what the frames around them tell."""
    main, subs = _threads(tree, readings, calls, cast)
    if not main.items:
        _from_frames(main, tree, readings)
    system = main.system or next((told for reading in outer if (told := content_of(reading).system)), None)
    asked = next((item.part.text for item in main.items if item.kind == "user" and item.part.text.strip()), None)
    prompt = _ask(outer, asked)
    if prompt is None:
        prompt = _ask([readings[span.span_id] for span in tree.downward], None)
    return Talk(main, subs, system, prompt)


def tokens_of(call: ModelCall) -> Tokens:
    """Token ids and log probabilities of a call, lossless, where the span carries them."""
    tokens: Tokens = {}
    for reading in call.readings:
        if not reading.found.keys().isdisjoint(_TOKENS):
            break
    else:
        return tokens
    for fact in _ORDER:
        for reading in call.readings:
            value = reading.value(fact)
            if isinstance(value, list):
                tokens[fact] = value
                break
    return tokens


def _threads(
    tree: Tree, readings: Mapping[str, Reading], calls: Sequence[ModelCall], cast: Cast
) -> tuple[Thread, list[Thread]]:
    main = Thread()
    subs: dict[str, Thread] = {}
    history = History()
    owners = _owners(tree, readings, cast)
    for call in calls:
        first = call.readings[0]
        if first.kind == "embedding":
            continue
        owner, inner = owners[first.span.span_id]
        resumed = not inner and history.resume(call)
        content = call.content
        thread = main
        if inner and main.items and not main.knows(content.said):
            thread = subs.setdefault(owner, Thread())
        thread.system = thread.system or content.system
        # Both at the call's start: an answer that streams sets its tools off before the call has ended.
        thread.hear(content.said, first.time, owner, resumed)
        thread.say(content.answered, first.time, owner, tokens_of(call))
        if len(calls) > _FEW:
            call.forget()
    return main, list(subs.values())


def _owners(tree: Tree, readings: Mapping[str, Reading], cast: Cast) -> dict[str, tuple[str, bool]]:
    """For each span the invocation it belongs to, and whether that is inside the main agent's own."""
    main = cast.reading.span.span_id if cast.reading is not None else ""
    below: dict[str, tuple[str, bool]] = {}  # what a span's children belong to
    within: set[str] = {main}
    owners: dict[str, tuple[str, bool]] = {}
    for span in tree.downward:
        above = tree.parent.get(span.span_id, "")
        owner = below.get(above, (span.span_id, False))
        owners[span.span_id] = owner
        reading = readings[span.span_id]
        if above in within:
            within.add(span.span_id)
        if reading.kind in ("agent", "tool") or span.span_id == main:
            another = reading.kind == "tool" or (reading.text("agent") or cast.main) != cast.main
            inside = span.span_id in within and span.span_id != main
            below[span.span_id] = (span.span_id, owner[1] or (inside and another))
        else:
            below[span.span_id] = owner
    return owners


def _from_frames(main: Thread, tree: Tree, readings: Mapping[str, Reading]) -> None:
    """Without any talk on model calls, the outermost span that tells some tells all of it."""
    for span in tree.downward:
        reading = readings[span.span_id]
        if reading.kind in _FRAMES:
            content = content_of(reading)
            if content.said or content.answered:
                main.system = main.system or content.system
                main.hear(content.said, when(span)[0], span.span_id)
                # A frame's output may be the whole conversation again, with the answer at its end.
                main.hear(content.answered, max(when(span)), span.span_id)
                return


def _ask(outer: Sequence[Reading], asked: str | None) -> str | None:
    """The first user turn, in the caller's own words where a template was put around them."""
    for reading in outer:
        if reading.kind in ("tool", "embedding"):
            continue
        said = [message.text for message in content_of(reading).said if message.role == "user" and message.text.strip()]
        told = said[0] if said else ask_of(reading)
        if told and (asked is None or told.strip() in asked):
            return told
    return asked


def final_of(entries: Sequence[Entry], outer: Sequence[Reading], failed: bool) -> str | None:
    """The last assistant text of the outermost span that has one, else the text that ends the conversation."""
    last: Item | None = None
    for entry in reversed(entries):
        if entry.main and (entry.use is not None or (entry.item is not None and entry.item.kind in _SPOKEN)):
            last = entry.item if entry.use is None else None
            break
    ending = last.part.text if last is not None and last.kind == "text" and last.part.text.strip() else None
    if failed:
        return ending
    for reading in outer:
        if reading.kind in _FRAMES:
            told = answer_of(reading, content_of(reading))
            if told and (ending is None or told.strip() in ending):
                return told
    return ending
