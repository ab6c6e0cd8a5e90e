"""Messages told one at a time: as log records, as span events, or as a JSON list of such events.

Every form comes here as (name, payload); the payload is the log's body, the event's attributes, or the list's item.
"""

from collections.abc import Iterable, Mapping

from whileai_dialects.jsontext import structured
from whileai_dialects.message import Message, Role, role_of
from whileai_dialects.shapes import read_messages

Told = tuple[str, Mapping[str, object]]

DETAILS = "gen_ai.client.inference.operation.details"
CHOICE = "gen_ai.choice"
_MESSAGES: dict[str, Role] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
# Before the per-message events there were two with a whole side of the talk each.
_SIDES = {"gen_ai.content.prompt": "gen_ai.prompt", "gen_ai.content.completion": "gen_ai.completion"}


def is_talk(name: str) -> bool:
    """Whether an event of this name tells messages."""
    return name in _MESSAGES or name == CHOICE or name in _SIDES


def read_events(events: Iterable[Told]) -> tuple[list[Message], list[Message]]:
    """What went into a call and what came out of it."""
    said: list[Message] = []
    answered: list[Message] = []
    for name, payload in events:
        if name == CHOICE:
            answered += _choice(payload)
        elif name in _MESSAGES:
            said += _message(payload, _MESSAGES[name])
        elif name in _SIDES:
            side = answered if name.endswith("completion") else said
            side += read_messages(payload.get(_SIDES[name]), "assistant" if side is answered else "user")
    return _last_turn(said), answered


def _last_turn(said: list[Message]) -> list[Message]:
    """Where the users' words are not captured, earlier turns cannot be told from the last: only that one is kept."""
    users = [index for index, message in enumerate(said) if message.role == "user"]
    if any(said[index].parts for index in users):
        return [message for message in said if message.parts]
    start = users[-1] + 1 if users else 0
    return [
        message for index, message in enumerate(said) if message.parts and (index >= start or message.role == "system")
    ]


def _message(payload: Mapping[str, object], role: Role) -> list[Message]:
    content = structured(payload.get("content"))
    told = payload.get("role")
    # The body's own role wins over the event's name: a tool's result may be told as a user message.
    role = role_of(told, role) if isinstance(told, str) else role
    whole = {**payload, "role": role, "content": content}
    # A message without words was said all the same.
    return read_messages([whole], role) or [Message(role)]


def _choice(payload: Mapping[str, object]) -> list[Message]:
    message = structured(payload.get("message"))
    if isinstance(message, dict):
        return read_messages([{"content": None, **message, "role": message.get("role", "assistant")}], "assistant")
    if message is None:
        calls = payload.get("tool_calls")
        return read_messages([{**payload, "role": "assistant"}], "assistant") if calls or payload.get("content") else []
    return read_messages([{"role": "assistant", "content": message}], "assistant")
