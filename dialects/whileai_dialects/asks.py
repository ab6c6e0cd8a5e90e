"""What an agent or workflow was asked and what it answered, where that is told beside or instead of messages."""

import re
from collections.abc import Sequence

from whileai_dialects.jsontext import parse_container, structured, unquoted
from whileai_dialects.message import Content
from whileai_dialects.parts import text_value
from whileai_dialects.reading import Reading

# A Python repr at the place of a text: some packages write str() of an object.
_REPR = re.compile(r"^[A-Za-z_][\w.]*\(.*[=(]|^<[\w.]+ ?.*>$", re.DOTALL)
# Keys under which an input tells the user's ask, and an output the answer, when they are no messages.
_ASKS = (
    "task",
    "question",
    "query",
    "prompt",
    "user_input",
    "user_prompt",
    "user_msg",
    "user_message",
    "input",
    "inputs",
    "message",
    "text",
    "content",
    "request",
    "goal",
    "description",
)
_ANSWERS = ("answer", "final_answer", "final_output", "output", "response", "result", "raw", "text", "content", "reply")
_LABELS = frozenset({"name", "id", "type", "role", "model"})
_DEPTH = 6


def ask_of(reading: Reading) -> str | None:
    """What an agent or workflow was asked, when its input is no list of messages."""
    for key in reading.keys("task"):
        task = structured(reading.attributes[key])
        first = task[0] if isinstance(task, list) and task else task
        told = first if isinstance(first, str) else _named_text(first, ("description",), 0)
        if told:
            return told
    for key in reading.keys("said"):
        if key.endswith("."):
            continue
        value = structured(reading.attributes[key])
        if isinstance(value, str):
            text = unquoted(value).strip()
            return None if not text or _REPR.match(text) else text
        found = _named_text(value, _ASKS, 0)
        if found:
            return found
    return None


def answer_of(reading: Reading, content: Content) -> str | None:
    """The answer an agent or workflow gave: its last message, or the text that its output is."""
    for message in reversed(content.answered):
        if message.role == "assistant" and not any(part.kind == "call" for part in message.parts):
            return None if _REPR.match(message.text) else message.text or None
    if content.answered:
        return None
    for key in reading.keys("answered"):
        if key.endswith("."):
            continue
        value = structured(reading.attributes[key])
        if key == "final_result" and not isinstance(value, str):
            return text_value(reading.attributes[key])
        found = _named_text(value, _ANSWERS, 0)
        if found:
            return found
    return None


def _named_text(value: object, names: Sequence[str], depth: int) -> str | None:
    """The text under the first known name, through wrappers such as {"args": [...], "kwargs": {...}}."""
    if depth > _DEPTH or not isinstance(value, dict):
        return None
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found.strip():
            parsed = parse_container(found)
            if parsed is None:
                return found
            inner = _named_text(parsed, names, depth + 1)
            if inner:
                return inner
    arguments = value.get("args")
    if isinstance(arguments, list) and arguments and isinstance(arguments[0], str) and arguments[0].strip():
        return arguments[0]
    for inner in value.values():
        found = _named_text(inner, names, depth + 1) if isinstance(inner, dict) else None
        if found:
            return found
    # One text and nothing else is the text that was meant.
    if len(value) == 1:
        key, item = next(iter(value.items()))
        if key not in _LABELS and isinstance(item, str) and item.strip():
            return item
    return None
