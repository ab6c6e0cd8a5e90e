"""A row as the chat a trainer reads: OpenAI messages, each tool call paired with its answer, arguments as text."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

THINKING = re.compile(r"<think>.*?(?:</think>|\Z)\s*", re.DOTALL)
LATE_THINKING = re.compile(
    r"\A.*?</think>\s*", re.DOTALL
)  # templates that open the block themselves leave only its end

Message = dict[str, Any]


def conversation(
    row: Mapping[str, Any], *, system_prompt: str | None = None, strip_think: bool = True
) -> list[Message]:
    """The messages of a row, from `messages` when it has them, else from prompt, steps and final text."""
    raw = row.get("messages") or _from_steps(row)
    messages = _paired([_message(message) for message in raw])
    if strip_think:
        for message in messages:
            if message["role"] == "assistant":
                message["content"] = without_thinking(message["content"])
    if system_prompt and not any(message["role"] == "system" for message in messages):
        messages.insert(0, {"role": "system", "content": system_prompt})
    return messages


def without_thinking(text: str) -> str:
    """The text without its `<think>` blocks.

    >>> without_thinking("<think>hm</think>It left the depot.")
    'It left the depot.'
    """
    return LATE_THINKING.sub("", THINKING.sub("", text)) if "think>" in text else text


def text_of(content: Any) -> str:
    """Message content as text: parts are joined, objects become JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        said = [part.get("text", part.get("content")) for part in content]
        if all(isinstance(text, str) for text in said):
            return "".join(str(text) for text in said)
    return json.dumps(content, ensure_ascii=False, default=str)


def arguments_text(arguments: Any) -> str:
    """A call's arguments as the JSON text the OpenAI wire carries; text stays as it is, whatever is in it."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False, default=str)


def with_argument_objects(message: Mapping[str, Any]) -> Message:
    """The message with its calls' arguments as objects, as chat templates and stored rows have them."""
    if not message.get("tool_calls"):
        return dict(message)
    return {**message, "tool_calls": [_with_object(call) for call in message["tool_calls"]]}


def _with_object(call: Mapping[str, Any]) -> dict[str, Any]:
    function = dict(call["function"])
    if isinstance(function.get("arguments"), str):
        try:
            value = json.loads(function["arguments"] or "{}")
        except ValueError:
            value = None
        # Text that is no object stays text: the round-trip report names the row, nothing is made up in its place.
        function["arguments"] = value if isinstance(value, dict) else function["arguments"]
    return {**call, "function": function}


def _message(message: Mapping[str, Any]) -> Message:
    made: Message = {"role": str(message.get("role") or "user"), "content": text_of(message.get("content"))}
    calls = [_call(call) for call in message.get("tool_calls") or ()]
    if calls:
        made["tool_calls"] = calls
    made.update({key: message[key] for key in ("name", "tool_call_id") if message.get(key)})
    return made


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function") or call
    made = {"name": str(function.get("name") or ""), "arguments": arguments_text(function.get("arguments"))}
    return {"id": call.get("id"), "type": "function", "function": made}


def _paired(messages: Sequence[Message]) -> list[Message]:
    """Give every call an id and every tool message the id of the call it answers."""
    open_calls: list[dict[str, Any]] = []
    count = 0
    for message in messages:
        for call in message.get("tool_calls", ()):
            call["id"] = call["id"] or f"call_{count:04d}"
            count += 1
            open_calls.append(call)
        if message["role"] == "tool":
            answered = _answered(message, open_calls)
            if answered is not None:
                open_calls.remove(answered)
                message.setdefault("tool_call_id", answered["id"])
    return list(messages)


def _answered(message: Message, open_calls: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    waiting = list(open_calls)
    if "tool_call_id" in message:
        return next((call for call in waiting if call["id"] == message["tool_call_id"]), None)
    named = (call for call in waiting if call["function"]["name"] == message.get("name"))
    return next(named, waiting[0] if waiting else None)


def _from_steps(row: Mapping[str, Any]) -> list[Message]:
    messages: list[Message] = [{"role": "user", "content": row.get("prompt") or ""}]
    for step in row.get("steps") or row.get("tool_trace") or ():
        if "user" in step:
            messages.append({"role": "user", "content": step["user"]})
        elif "tool" in step:
            arguments = step.get("arguments", step.get("input"))
            result = step.get("result", step.get("output"))
            messages.append({"role": "assistant", "tool_calls": [{"name": step["tool"], "arguments": arguments}]})
            messages.append({"role": "tool", "name": step["tool"], "content": result})
        elif step.get("text"):
            messages.append({"role": "assistant", "content": step["text"]})
    final = row.get("final_text")
    if final and not (messages[-1]["role"] == "assistant" and messages[-1].get("content") == final):
        messages.append({"role": "assistant", "content": final})
    return messages
