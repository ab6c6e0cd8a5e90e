"""One conversation, put together from calls that each tell all of it so far.

A call's input repeats the history; only what is new in it counts. What is new is found by counting, part by part, so
that a history that was trimmed, reordered or told in other words still adds each turn once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from whileai_dialects.jsontext import write_json
from whileai_dialects.message import Message, Part, Role

_Texts = Literal["user", "text", "result"]
ItemKind = Literal["user", "text", "call", "result", "reasoning", "media"]
Key = tuple[str, ...]
# What a text is in a message of each role.
_TEXTS: dict[Role, _Texts] = {"user": "user", "assistant": "text", "system": "text", "tool": "result"}
Tokens = dict[str, object]  # token ids and log probabilities of one answer, as the span told them


@dataclass(slots=True)
class Item:
    """One thing that was said. Assistant items of one `turn` are one message."""

    kind: ItemKind
    part: Part
    time: int
    turn: int


@dataclass(slots=True)
class Thread:
    """A conversation as it grows."""

    system: str | None = None
    items: list[Item] = field(default_factory=list)
    tokens: dict[int, Tokens] = field(default_factory=dict)
    _known: dict[Key, int] = field(default_factory=dict)
    _turn: int = 0
    _heard: dict[Key, int] = field(default_factory=dict)
    _heard_asks: int = 0
    _asks: dict[str, int] = field(default_factory=dict)

    def hear(self, messages: Iterable[Message], time: int, owner: str, resumed: bool = False) -> None:
        """Take what is new in a call's input. `owner` is the agent's invocation that the call belongs to.

        `resumed`: the messages go on from the ones heard last.
        """
        known = self._known
        seen, asks = (self._heard, self._heard_asks) if resumed else ({}, 0)
        asked_before = self._asks.get(owner, 0)
        for message in messages:
            if message.role == "system":
                self.system = self.system or message.text or None
                continue
            texts = _TEXTS[message.role]
            for part in message.parts:
                kind: ItemKind = texts if part.kind == "text" else part.kind
                keys = _keys(kind, part)
                # By id where there is one, else by content: a history may have lost the ids or made new ones.
                again = False
                for key in keys:
                    count = seen[key] = seen.get(key, 0) + 1
                    if count <= known.get(key, 0):
                        again = True
                asks += kind == "user"
                if again:
                    continue
                if kind == "user" and asks <= asked_before:
                    # The same invocation tells its first turns in other words (a template, a growing scratchpad).
                    for key in keys:
                        known[key] = known.get(key, 0) + 1
                    continue
                self._add(kind, part, time, keys)
        self._asks[owner] = max(asked_before, asks)
        self._heard, self._heard_asks = seen, asks

    def say(self, messages: Sequence[Message], time: int, owner: str, tokens: Tokens | None = None) -> None:
        """Take what a call answered: always new, but for a tool call whose id is known."""
        for message in messages:
            if message.role == "user":
                # No answer, but the whole conversation told again.
                self.hear(messages, time, owner)
                return
        self._turn += 1
        if tokens:
            self.tokens[self._turn] = tokens
        for message in messages:
            if message.role == "system":
                self.system = self.system or message.text or None
                continue
            texts = _TEXTS[message.role]
            for part in message.parts:
                kind: ItemKind = texts if part.kind == "text" else part.kind
                keys = _keys(kind, part)
                if part.kind == "call" and part.id and self._known.get(keys[0]):
                    continue
                self._add(kind, part, time, keys)

    def knows(self, messages: Iterable[Message]) -> bool:
        """Whether the first user turn of these messages was said here already."""
        for message in messages:
            for part in message.parts:
                if part.kind == "text" and message.role == "user":
                    return any(key in self._known for key in _keys("user", part))
        return False

    def _add(self, kind: ItemKind, part: Part, time: int, keys: list[Key]) -> None:
        if kind in ("user", "result"):
            self._turn += 1
        self.items.append(Item(kind, part, time, self._turn))
        for key in keys:
            self._known[key] = self._known.get(key, 0) + 1


def _keys(kind: ItemKind, part: Part) -> list[Key]:
    """What an item is known by, the surest first."""
    if kind == "user" or kind == "text":
        return [(kind, part.text.strip())]
    if kind == "call":
        told: Key = ("call", part.name, write_json(part.value) if not isinstance(part.value, str) else part.value)
        return [("call id", part.id), told] if part.id else [told]
    if kind == "result":
        return [("result id", part.id)] if part.id else [("result", part.text.strip())]
    if kind == "media":
        return [("media", write_json(part.value))]
    return [(kind, part.text.strip())]
