"""The talk that one span tells: what went in, what came out, and the system prompt."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from whileai_dialects.attributes import Attributes
from whileai_dialects.events import DETAILS, is_talk, read_events
from whileai_dialects.flatten import trees
from whileai_dialects.jsontext import is_exact, parse_container, parse_raw_container, structured, unquoted
from whileai_dialects.message import Content, Message, Part, Role
from whileai_dialects.parts import call_part, content_parts
from whileai_dialects.reading import Reading
from whileai_dialects.shapes import canonical_messages, read_messages, text_messages
from whileai_dialects.value import decode_value

# How Claude tells what is new in its context.
_BLOCKS = re.compile(r"\n\n---\n\n(?=\[)")
_WORD_BYTES = 128  # why an answer ended is one of a few words
_BLOCK = re.compile(r"^\[(?:USER PROMPT|USER|TOOL RESULT: (?P<id>[^\]\n]+))\]\n")
_VERCEL = frozenset(("answered_text", "answered_calls", "answered_object", "answered_reasoning"))
# The conventions' own keys, which stand first in the table.
_FIRST = {"said": "gen_ai.input.messages", "answered": "gen_ai.output.messages"}
_SYSTEM = frozenset(("system", "parameters"))
_TALKING = _VERCEL | _SYSTEM | {"said", "answered"}
# Sources of plain text: JSON that is no conversation is what was said.
_VERBATIM = frozenset({"gen_ai.prompt", "gen_ai.completion", "langfuse.observation.output"})


def content_of(reading: Reading) -> Content:
    """The content of a span, from the first source of each side that tells anything."""
    if reading.content is None:
        reading.content = _read(reading)
    return reading.content


def _read(reading: Reading) -> Content:
    details: list[Attributes] = []
    asked: list[Message] = []
    answers: list[Message] = []
    found = reading.found.keys()
    if reading.silent:
        if found.isdisjoint(_TALKING):
            return Content(reading.said or [])
    else:
        details = [*(record.attributes for record in reading.details()), *_detail_events(reading)]
        told = [event for event in reading.told() if is_talk(event[0])]
        if told:
            asked, answers = read_events(told)
    said = reading.said
    if said is None:
        said = _side(reading, details, asked, "said", "user")
    answered = [] if found.isdisjoint(_VERCEL) else _vercel_answer(reading)
    answered = answered or _side(reading, details, answers, "answered", "assistant")
    system = None if not details and found.isdisjoint(_SYSTEM) else _system(reading, details)
    return Content(said, answered, system)


def _side(reading: Reading, details: Sequence[Attributes], told: list[Message], fact: str, role: Role) -> list[Message]:
    """The messages of one side, from the best source that tells any; a source that lost the calls gives way."""
    keys = reading.found.get(fact, ())
    if not keys and not told and not details:
        return []
    best: list[Message] = []
    if keys and keys[0] == _FIRST[fact]:
        best = _messages(reading.attributes, keys[0], role)
        if best and _whole(best):
            return best
    for found in _sources(reading, details, told, fact, role):
        if found and _whole(found):
            return found
        best = best or found
    return best


def _sources(
    reading: Reading, details: Sequence[Attributes], told: list[Message], fact: str, role: Role
) -> Iterator[list[Message]]:
    """The sources behind the first, best first."""
    first = _FIRST[fact]
    keys = reading.keys(fact)
    for attributes in details:
        if first in attributes:
            yield _messages(attributes, first, role)
    yield told
    for key in keys:
        if key != first:
            yield _messages(reading.attributes, key, role)
    for key in keys:
        text = reading.attributes.get(key) if reading.kind == "llm" and key in _VERBATIM else None
        if isinstance(text, str):
            yield [Message(role, [Part("text", text)])]


def _whole(messages: Sequence[Message]) -> bool:
    """Whether each result that names its call has it before it."""
    asked: set[str] = set()
    for message in messages:
        for part in message.parts:
            if part.kind == "call":
                asked.add(part.id)
            elif part.kind == "result" and part.id and part.id not in asked:
                return False
    return True


def _context(text: str) -> list[Message]:
    """What is new in a Claude call's context: blocks that each begin with a line saying what they are."""
    messages: list[Message] = []
    for block in _BLOCKS.split(text):
        match = _BLOCK.match(block)
        told = block if match is None else block[match.end() :]
        if match is not None and match["id"]:
            messages.append(Message("tool", [Part("result", text=told, id=match["id"], value=told)]))
        else:
            messages.append(Message("user", [Part("text", told)]))
    return messages


def _messages(attributes: Attributes, key: str, role: Role) -> list[Message]:
    raw = attributes.raw.get(key)
    value: object = parse_raw_container(raw) if raw and key != "new_context" else None
    if isinstance(value, list):
        texts = text_messages(value)
        if texts is not None:
            return texts
    told = value if value is not None and is_exact(value) else attributes.get(key)
    if key == "new_context":
        return _context(told) if isinstance(told, str) else []
    if key.endswith("."):
        items = trees(attributes, (key,)).get(key, [])
        return [message for item in items for message in read_messages([_indexed(item, role)], role)]
    value = structured(told)
    if isinstance(value, list):
        plain = canonical_messages(value)
        if plain is not None:
            return plain
        value = [{"role": role, **item} if _roleless(item) else item for item in value]
    return read_messages(value, role)


def _roleless(item: object) -> bool:
    """Whether a message of a list leaves its role out."""
    return (
        isinstance(item, dict) and "role" not in item and "type" not in item and ("parts" in item or "content" in item)
    )


def asks_for_tools(reading: Reading) -> bool:
    """Whether the answer ended to let tools run."""
    for key in reading.found.get("finish", ()):
        raw = reading.attributes.raw[key]
        if _tells_tools(raw) if len(raw) <= _WORD_BYTES else "tool" in str(reading.attributes[key]):
            return True
    return False


@lru_cache(maxsize=1024)
def _tells_tools(raw: bytes) -> bool:
    return "tool" in str(decode_value(raw))


def asked_calls(reading: Reading) -> Message | None:
    """The tool calls of an answer from whichever source tells them, where the best source has only the text."""
    for key in reading.keys("answered"):
        messages = _messages(reading.attributes, key, "assistant")
        calls = [part for message in messages for part in message.parts if part.kind == "call"]
        if calls:
            return Message("assistant", calls)
    return None


def _indexed(item: object, role: Role) -> object:
    """One message of a flattened list: the role may be missing, blocks may be JSON, empty may be a pair of quotes."""
    if not isinstance(item, dict) or isinstance(item.get("message"), dict):
        return item
    content = item.get("content")
    if content == '""':
        content = ""
    elif isinstance(content, str) and item.get("role") != "tool" and content.startswith('[{"'):
        blocks = parse_container(content)
        if isinstance(blocks, list) and all(isinstance(block, dict) and "type" in block for block in blocks):
            content = blocks
    return {"role": role, **item, "content": content}


def _vercel_answer(reading: Reading) -> list[Message]:
    parts: list[Part] = []
    thought, text = reading.value("answered_reasoning"), reading.value("answered_text")
    if isinstance(thought, str):
        parts.append(Part("reasoning", thought))
    if isinstance(text, str):
        parts.append(Part("text", text))
    elif isinstance(found := reading.value("answered_object"), str):
        parts.append(Part("text", found))
    calls = structured(reading.value("answered_calls"))
    parts += [call_part(call) for call in (calls if isinstance(calls, list) else ()) if isinstance(call, dict)]
    return [Message("assistant", parts)] if parts else []


def _detail_events(reading: Reading) -> list[Attributes]:
    return [event.attributes for event in reading.span.events if event.name == DETAILS]


def _system(reading: Reading, details: Sequence[Attributes]) -> str | None:
    for attributes in details:
        told = attributes.get("gen_ai.system_instructions")
        if told and "gen_ai.system_instructions" not in reading.attributes:
            return instructions_text(told)
    for key in reading.found.get("system", ()):
        text = instructions_text(reading.attributes[key])
        if text:
            return text
    parameters = structured(reading.value("parameters"))
    if isinstance(parameters, dict) and isinstance(parameters.get("instructions"), str):
        return str(parameters["instructions"]) or None
    return None


def instructions_text(value: object) -> str | None:
    """A system prompt told as text, as parts, or as a JSON text of parts."""
    value = structured(value)
    if isinstance(value, str):
        return unquoted(value) or None
    texts = (
        [part.text for part in content_parts(value) if part.kind == "text"] if isinstance(value, list | dict) else []
    )
    return "\n".join(texts) or None
