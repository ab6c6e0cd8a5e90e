"""Messages, in every shape that a package writes them, read by one tolerant reader.

A shape is recognised by its own keys, never by the package it came from, so that the next version and the next
framework are read as well. What is no message is left out; nothing raises.
"""

from collections.abc import Iterator

from whileai_dialects.jsontext import parse_container, unquoted
from whileai_dialects.message import ROLES, Message, Part, Role, role_of
from whileai_dialects.parts import Block, block_parts, call_part, content_parts, result_part, text_value
from whileai_dialects.pyrepr import parse_repr

# LangChain's class names, as they are in serialised constructors.
_CLASSES: dict[str, Role] = {
    "SystemMessage": "system",
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
    "SystemMessageChunk": "system",
    "HumanMessageChunk": "user",
    "ToolMessageChunk": "tool",
}
_LANGCHAIN_TYPES: dict[str, Role] = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
_LANGCHAIN_TYPES |= _CLASSES
_ITEM_ROLES: dict[str, Role] = {
    "function_call": "assistant",
    "custom_tool_call": "assistant",
    "reasoning": "assistant",
    "function_call_output": "tool",
    "custom_tool_call_output": "tool",
}
# Wrappers around messages, most telling first. Walking stops at the first that holds any.
_WRAPPERS = (
    "messages",
    "contents",
    "generations",
    "choices",
    "update",
    "inputs",
    "outputs",
    "input",
    "output",
    "message",
    "content",
    "kwargs",
    "data",
    "response",
    "result",
    "new_messages",
    "replies",
    "tool_messages",
    "chat_history",
)
_REPRS = ("{'", "Response")  # how the reprs of answers begin
_DEPTH = 12  # wrappers in wrappers; deeper is no conversation


def read_messages(value: object, role: Role = "user") -> list[Message]:
    """The messages that a value tells; a bare text is one message of `role`."""
    if isinstance(value, str):
        parsed = parse_container(value) or (parse_repr(value) if value[:2] in ("[{", "{'") else None)
        if parsed is None:
            text = unquoted(value)
            return [Message(role, [Part("text", text)])] if text else []
        value = parsed
    if isinstance(value, list):
        plain = canonical_messages(value)
        if plain is not None:
            return plain
    return list(_walk(value, role, 0))


def text_messages(items: list[object]) -> list[Message] | None:
    """Messages of texts and nothing else, in the form that the conventions fix; None when anything else is told."""
    messages: list[Message] = []
    for item in items:
        if not isinstance(item, dict) or "content" in item or "tool_calls" in item:
            return None
        told, parts = item.get("role"), item.get("parts")
        if not isinstance(told, str) or not isinstance(parts, list):
            return None
        role = ROLES.get(told)
        if role is None or role == "tool":
            return None
        read: list[Part] = []
        for part in parts:
            if not isinstance(part, dict) or part.get("type") != "text":
                return None
            text = part.get("content")
            if not isinstance(text, str) or text.startswith(_REPRS):
                return None
            read.append(Part("text", text))
        if read:
            messages.append(Message(role, read))
    return messages


def canonical_messages(items: list[object]) -> list[Message] | None:
    """The messages of a list in the form that the conventions fix; None when any item is in another form."""
    messages: list[Message] = []
    for item in items:
        message = _canonical(item) if isinstance(item, dict) else None
        if message is None:
            return None
        if message.parts:
            messages.append(message)
    return messages


def _walk(value: object, role: Role, depth: int) -> Iterator[Message]:
    if depth > _DEPTH:
        return
    if isinstance(value, str):
        parsed = parse_container(value) or parse_repr(value)
        if parsed:
            yield from _walk(parsed, role, depth + 1)
    elif isinstance(value, list):
        yield from _list(value, role, depth)
    elif isinstance(value, dict):
        yield from _mapping(value, role, depth)


def _list(items: list[object], role: Role, depth: int) -> Iterator[Message]:
    if len(items) == 2 and isinstance(items[0], str) and isinstance(items[1], str):
        pair_role = role_of(items[0], "user")
        if items[0].lower() in _PAIR_ROLES:
            yield Message(pair_role, [Part("text", items[1])])
            return
    if items and all(isinstance(item, dict) and _is_block(item) for item in items):
        parts = [part for item in items if isinstance(item, dict) for part in block_parts(item)]
        if parts:
            yield Message(_role_by_parts(parts, role), parts)
        return
    for item in items:
        yield from _walk(item, role, depth + 1)


_PAIR_ROLES = frozenset({"system", "user", "human", "assistant", "ai", "tool", "developer"})


def _is_block(item: Block) -> bool:
    """Whether a mapping is a piece of a message rather than a message."""
    if "role" in item or "message" in item or "messages" in item:
        return False
    kind = item.get("type")
    if isinstance(kind, str) and kind in _ITEM_ROLES:
        return False
    if isinstance(kind, str) and kind in ("text", "tool_use", "tool_result", "tool_call", "tool_call_response"):
        return "data" not in item and "args" not in item
    return bool(item.keys() & {"toolUse", "toolResult"}) or item.keys() <= {"text", "cachePoint", "reasoningContent"}


def _role_by_parts(parts: list[Part], role: Role) -> Role:
    return "tool" if all(part.kind == "result" for part in parts) else role


def _canonical(value: Block) -> Message | None:
    """A message in the form that the conventions fix, read without looking for any other; else None."""
    told, parts = value.get("role"), value.get("parts")
    role = ROLES.get(told) if isinstance(told, str) else None
    if role is None or not isinstance(parts, list) or "content" in value or "tool_calls" in value:
        return None
    read: list[Part] = []
    results = 0
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and isinstance(part.get("content"), str) and not part["content"].startswith(_REPRS):
            read.append(Part("text", part["content"]))
        elif kind == "tool_call":
            read.append(call_part(part))
        elif kind == "tool_call_response":
            read.append(result_part(part))
            results += 1
        else:
            return None
    if results == len(read):
        return Message("tool" if results else role, read)
    return Message(role, read) if role != "tool" else None


def _mapping(value: Block, role: Role, depth: int) -> Iterator[Message]:
    canonical = _canonical(value)
    if canonical is not None:
        if canonical.parts:
            yield canonical
        return
    own = _own_message(value, role)
    if own is not None:
        if own.parts:
            yield own
        return
    yield from _instructions(value)
    prompt = value.get("prompt")
    if isinstance(prompt, str) and prompt and "messages" not in value:
        yield Message("user", [Part("text", prompt)])
    elif isinstance(prompt, list):
        yield from _walk(prompt, "user", depth + 1)
    for key in _WRAPPERS:
        inner = value.get(key)
        if inner is None or isinstance(inner, str):
            continue
        found = list(_walk(inner, role, depth + 1))
        if found:
            yield from found
            return


def _instructions(value: Block) -> Iterator[Message]:
    """The system prompt that a request tells beside its messages."""
    config = value.get("config")
    for holder in (value, config) if isinstance(config, dict) else (value,):
        for key in ("system", "system_instruction", "systemInstruction", "instructions", "system_prompt"):
            told = holder.get(key)
            if isinstance(told, dict):
                told = told.get("parts", told)
            parts = content_parts(told) if isinstance(told, str | list | dict) else []
            if parts and all(part.kind == "text" for part in parts):
                yield Message("system", parts)
                return


def _own_message(value: Block, role: Role) -> Message | None:
    """The message that a mapping is itself, or None."""
    # LangChain, serialised: {"lc": 1, "type": "constructor", "id": [..., "AIMessage"], "kwargs": {...}}
    path = value.get("id")
    if value.get("type") == "constructor" and isinstance(path, list) and path and isinstance(path[-1], str):
        kwargs = value.get("kwargs")
        known = _CLASSES.get(path[-1])
        return _message(kwargs, known) if known and isinstance(kwargs, dict) else None
    kind = value.get("type")
    if isinstance(kind, str):
        data = value.get("data")
        if kind in _LANGCHAIN_TYPES and isinstance(data, dict):
            return _message(data, _LANGCHAIN_TYPES[kind])
        if kind in _LANGCHAIN_TYPES and "content" in value and "role" not in value:
            return _message(value, _LANGCHAIN_TYPES[kind])
        if kind in _ITEM_ROLES:
            return Message(_ITEM_ROLES[kind], block_parts(value))
    told = value.get("role")
    if isinstance(told, str) and value.keys() & {"content", "parts", "contents", "tool_calls", "function_call", "text"}:
        return _message(value, role_of(told, "assistant" if role == "assistant" else "user"))
    if isinstance(told, str) and isinstance(value.get("blocks"), list):  # LlamaIndex
        return _message({**value, "content": value["blocks"]}, role_of(told, role))
    if told is None and isinstance(value.get("tool_calls"), list) and role == "assistant":
        return _message(value, "assistant")
    if told is None and isinstance(value.get("parts"), list):
        return _message(value, role)
    return None


def _message(value: Block, role: Role) -> Message:
    content: object = value.get("content")
    if content is None or content in ("", []):
        content = value.get("parts", value.get("contents", value.get("text")))
    if role == "tool":
        return _tool_message(value, content)
    parts: list[Part] = []
    thought = value.get("reasoning_content", value.get("reasoning"))
    if isinstance(thought, str) and thought:
        parts.append(Part("reasoning", thought))
    parts += content_parts(content)
    if role == "assistant":
        parts = [part for told in parts for part in _out_of_repr(told)]
    calls = value.get("tool_calls", value.get("toolCalls")) or _more(value).get("tool_calls")
    if isinstance(calls, str):
        calls = parse_container(calls)
    told = {part.id for part in parts if part.kind == "call" and part.id}
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            inner = call.get("tool_call")
            part = call_part(inner if isinstance(inner, dict) else call)
            # Anthropic through LangChain tells a call in the content and in tool_calls.
            if not part.id or part.id not in told:
                parts.append(part)
    function = value.get("function_call")
    if isinstance(function, dict) and function.get("name"):
        parts.append(call_part(function))
    if parts and all(part.kind == "result" for part in parts):
        role = "tool"
    return Message(role, parts, _meta(value) if role == "assistant" else None)


def _meta(value: Block) -> dict[str, object]:
    """The model and the tokens that Haystack and LangChain keep on an answer."""
    told: dict[str, object] = {}
    for key in ("meta", "response_metadata"):
        inner = value.get(key)
        if isinstance(inner, dict):
            told |= {"model": inner.get("model") or inner.get("model_name")}
            told |= {"usage": inner.get("usage") or inner.get("token_usage")}
    return {key: item for key, item in told.items() if item}


def _more(value: Block) -> Block:
    """What LangChain and LlamaIndex keep beside a message's own keys."""
    more = value.get("additional_kwargs")
    return more if isinstance(more, dict) else {}


def _out_of_repr(part: Part) -> list[Part]:
    """What an answer was, where a package wrote the Python repr of it as its text."""
    text = part.text
    if part.kind != "text" or not text.startswith(_REPRS):
        return [part]
    shown = parse_repr(text)
    if not isinstance(shown, dict) or not shown.keys() & {"type", "role"}:
        return [part]
    message = _own_message(shown, "assistant")
    read = message.parts if message is not None else block_parts(shown)
    return [part] if any(inner.kind == "media" for inner in read) else read


def _tool_message(value: Block, content: object) -> Message:
    if isinstance(content, dict) and content.get("type") == "function" and "function" in content:
        return Message("tool")  # Langfuse puts the tools on offer among the messages
    parts = content_parts(content) if isinstance(content, list | dict) else []
    if any(part.kind == "result" for part in parts):
        return Message("tool", [part for part in parts if part.kind == "result"])
    more = _more(value)
    call_id = value.get("tool_call_id", value.get("toolCallId", more.get("tool_call_id", value.get("id"))))
    name = value.get("name") or more.get("name")
    failed = value.get("status") in ("error", "failed") or value.get("is_error") is True
    result = Part(
        "result",
        text=text_value(content),
        id=call_id if isinstance(call_id, str) else "",
        name=name if isinstance(name, str) else "",
        value=content,
        failed=failed,
    )
    return Message("tool", [result])
