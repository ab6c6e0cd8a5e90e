"""The one form of a conversation that all dialects are read into: messages of parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Role = Literal["system", "user", "assistant", "tool"]
PartKind = Literal["text", "call", "result", "reasoning", "media"]

# What packages call the four roles.
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "bot": "assistant",
    "tool-call": "assistant",
    "tool_call": "assistant",
    "tool": "tool",
    "function": "tool",
    "tool-response": "tool",
    "tool_response": "tool",
    "ipython": "tool",
}


@dataclass(slots=True)
class Part:
    """A piece of a message: a text, a tool call, a tool's result, reasoning, or something that is not text."""

    kind: PartKind
    text: str = ""
    id: str = ""
    name: str = ""
    value: object = None
    failed: bool = False


@dataclass(slots=True)
class Message:
    """Who said what."""

    role: Role
    parts: list[Part] = field(default_factory=list)
    # What a package keeps about an answer beside it: the model and the tokens, in the provider's own words.
    meta: Mapping[str, object] | None = None

    @property
    def text(self) -> str:
        """The text parts, one after another."""
        return "".join(part.text for part in self.parts if part.kind == "text")


@dataclass(slots=True)
class Content:
    """What one span tells: what went in, what came out, and the system prompt beside them."""

    said: list[Message] = field(default_factory=list)
    answered: list[Message] = field(default_factory=list)
    system: str | None = None


def role_of(name: object, default: Role = "user") -> Role:
    """The role that a package's word for it means."""
    return ROLES.get(name.lower(), default) if isinstance(name, str) else default
