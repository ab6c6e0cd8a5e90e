"""The main conversation of a run in OpenAI's chat form, each tool call with an id and its result right behind it."""

from collections.abc import Mapping, Sequence

from whileai_dialects.steps import Entry, Use
from whileai_dialects.thread import Tokens

ChatMessage = dict[str, object]


def chat_of(system: str | None, entries: Sequence[Entry], tokens: Mapping[int, Tokens]) -> list[ChatMessage]:
    """System, user, assistant and tool messages, in order; `tokens` are those of a turn, when its span told them."""
    chat: list[ChatMessage] = [{"role": "system", "content": system}] if system else []
    turn: list[Entry] = []
    for entry in entries:
        if not entry.main:
            continue
        if turn and _turn(turn[-1]) != _turn(entry):
            _close(chat, turn, tokens)
            turn = []
        if entry.item is not None and entry.item.kind == "user":
            chat.append({"role": "user", "content": entry.item.part.text})
        elif entry.item is not None and entry.item.kind == "media":
            continue
        else:
            turn.append(entry)
    _close(chat, turn, tokens)
    return chat


def _turn(entry: Entry) -> tuple[str, int]:
    if entry.item is None:
        return ("run", id(entry))
    return ("user" if entry.item.kind == "user" else "assistant", entry.item.turn)


def _close(chat: list[ChatMessage], turn: Sequence[Entry], tokens: Mapping[int, Tokens]) -> None:
    """Write one assistant message and the results of what it asked for."""
    texts = [entry.item.part.text for entry in turn if entry.item is not None and entry.item.kind == "text"]
    thoughts = [entry.item.part.text for entry in turn if entry.item is not None and entry.item.kind == "reasoning"]
    uses = [entry.use for entry in turn if entry.use is not None]
    if not texts and not uses:
        return
    message: ChatMessage = {"role": "assistant", "content": "".join(texts)}
    if any(thoughts):
        message["reasoning_content"] = "".join(thoughts)
    ids = [use.id or f"call_{len(chat)}_{index}" for index, use in enumerate(uses)]
    if uses:
        message["tool_calls"] = [_call(use, call_id) for use, call_id in zip(uses, ids, strict=True)]
    if turn[0].item is not None:
        message.update(tokens.get(turn[0].item.turn, {}))
    chat.append(message)
    for use, call_id in zip(uses, ids, strict=True):
        text = use.result_text
        if text is not None:
            chat.append({"role": "tool", "tool_call_id": call_id, "name": use.name, "content": text})


def _call(use: Use, call_id: str) -> ChatMessage:
    arguments = use.arguments
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": use.name, "arguments": {} if arguments is None else arguments},
    }
