"""The contents of a message, in every shape that a provider or framework gives them, as parts.

OpenAI chat and Responses, Anthropic and Bedrock blocks, gen_ai parts, Vercel's ModelMessage, Gemini's contents,
LangChain's tool calls. What is of no known shape is kept as media, verbatim.
"""

from collections.abc import Callable

from whileai_dialects.jsontext import parse_container, parse_literal, write_json
from whileai_dialects.message import Part

Block = dict[str, object]


def arguments_of(value: object) -> object:
    """Tool arguments as the object they were; a text that is no object stays the text."""
    for _ in range(2):  # some packages encode twice
        if not isinstance(value, str):
            break
        parsed: object = parse_container(value)
        if parsed is None and value[:1] == '"':
            parsed = parse_container(_inner(value))
        if parsed is None:
            return value
        value = parsed
    return value


def _inner(quoted: str) -> str:
    parsed = parse_container(f"[{quoted}]")
    return parsed[0] if isinstance(parsed, list) and parsed and isinstance(parsed[0], str) else ""


def literal_arguments(value: object) -> object:
    """Like `arguments_of`, and takes the Python repr of a dict for the dict."""
    found = arguments_of(value)
    if isinstance(found, str):
        literal = parse_literal(found)
        return found if literal is None else literal
    return found


def text_value(value: object) -> str:
    """A result or content as the text that a model was given."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [_block_text(item) for item in value]
        known = [text for text in texts if text is not None]
        if value and len(known) == len(value):
            return "".join(known)
    if isinstance(value, dict):
        text = _block_text(value)
        if text is not None:
            return text
    return write_json(value)


def _block_text(block: object) -> str | None:
    """The text of a block that is nothing but text."""
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return None
    if _word(block, "type") in _TEXT_TYPES or block.keys() <= {
        "text",
        "type",
        "annotations",
        "citations",
        "logprobs",
        "id",
    }:
        for key in ("text", "content", "value"):
            text = block.get(key)
            if isinstance(text, str):
                return text
    return None


def content_parts(content: object) -> list[Part]:
    """The parts of a message's content: a text, one block, or a list of blocks."""
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [Part("text", content)]
    if isinstance(content, dict):
        return block_parts(content)
    if isinstance(content, list):
        return [part for block in content for part in content_parts(block)]
    return [Part("text", str(content))]


def block_parts(block: Block) -> list[Part]:
    """The parts of one content block."""
    kind = block.get("type", block.get("block_type", block.get("kind")))
    if isinstance(kind, str):
        # Images, files and whatever comes next carry data under the same keys as texts do.
        return _BY_TYPE.get(kind, _media)(block)
    for key, read_keyed in _BY_KEY.items():
        inner = block.get(key)
        if isinstance(inner, dict):
            return read_keyed(inner)
    for key in ("text", "content"):
        text = block.get(key)
        if isinstance(text, str):
            # Gemini marks its thoughts on the text itself.
            return [Part("reasoning" if block.get("thought") is True else "text", text)]
    inner = block.get("message_content")
    if isinstance(inner, dict):
        return block_parts(inner)
    return _media(block) if block else []


def call_part(block: Block) -> Part:
    """A tool call, whatever its keys are called."""
    function = block.get("function")
    inner: Block = function if isinstance(function, dict) else block
    return Part(
        "call",
        id=_text(block, "id", "call_id", "toolCallId", "tool_call_id", "toolUseId", "tool_use_id"),
        name=_text(inner, "name", "toolName", "tool_name") or _text(block, "name"),
        value=arguments_of(_first(inner, "arguments", "args", "input", "parameters", "tool_kwargs", "partial_json")),
    )


def result_part(block: Block) -> Part:
    """A tool's result, whatever its keys are called."""
    value = _first(block, "response", "result", "output", "content")
    failed = any(block.get(key) is True for key in ("is_error", "isError", "error")) or _word(block, "status") in FAILED
    if isinstance(value, dict) and value.keys() <= {"type", "value", "providerOptions"} and "value" in value:
        # Vercel tells what kind of result it is beside the result.
        failed = failed or str(value.get("type", "")).startswith("error")
        value = value["value"]
    origin = block.get("origin")
    call: Block = origin if isinstance(origin, dict) else block  # Haystack repeats the call inside the result
    return Part(
        "result",
        text=text_value(value),
        id=_text(call, "id", "call_id", "toolCallId", "tool_call_id", "toolUseId", "tool_use_id"),
        name=_text(call, "name", "toolName", "tool_name"),
        value=value,
        failed=failed,
    )


def _responses_call(block: Block) -> list[Part]:
    # The Responses API has an item id beside the call id; results refer to the call id.
    part = call_part(block)
    part.id = _text(block, "call_id", "id")
    return [part]


def _responses_result(block: Block) -> list[Part]:
    part = result_part(block)
    part.id = _text(block, "call_id", "id")
    return [part]


def _text_block(block: Block) -> list[Part]:
    text = _first(block, "text", "content", "value")
    if isinstance(text, dict):
        text = _first(text, "value", "text")
    return [Part("text", text_value(text))]


def _reasoning(block: Block) -> list[Part]:
    told = _first(block, "content", "text", "thinking", "reasoning", "summary")
    return [Part("reasoning", text_value(told), value=dict(block))]


def _nested_message(block: Block) -> list[Part]:
    return content_parts(block.get("content"))


def _media(block: Block) -> list[Part]:
    return [Part("media", value=dict(block))]


def _call(block: Block) -> list[Part]:
    return [call_part(block)]


def _result(block: Block) -> list[Part]:
    return [result_part(block)]


def _word(block: Block, key: str) -> str:
    """A word under a key; anything that is no text is no word."""
    value = block.get(key)
    return value if isinstance(value, str) else ""


def _first(block: Block, *keys: str) -> object:
    for key in keys:
        value = block.get(key)
        if value is not None:
            return value
    return None


def _text(block: Block, *keys: str) -> str:
    for key in keys:
        value = block.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


FAILED = frozenset({"error", "failed", "failure"})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
_Read = Callable[[Block], list[Part]]
_BY_TYPE: dict[str, _Read] = {
    **dict.fromkeys(_TEXT_TYPES, _text_block),
    **dict.fromkeys(("reasoning", "thinking", "redacted_thinking"), _reasoning),
    **dict.fromkeys(("tool_call", "tool_use", "tool-call", "server_tool_use", "mcp_tool_use"), _call),
    **dict.fromkeys(("tool_call_response", "tool_result", "tool-result", "mcp_tool_result"), _result),
    "function_call": _responses_call,
    "custom_tool_call": _responses_call,
    "function_call_output": _responses_result,
    "custom_tool_call_output": _responses_result,
    "message": _nested_message,
}
_BY_KEY: dict[str, _Read] = {
    "toolUse": _call,
    "toolResult": _result,
    "function_call": _call,
    "functionCall": _call,
    "function_response": _result,
    "functionResponse": _result,
    "tool_call": _call,
    "tool_call_result": _result,
    "reasoningContent": _reasoning,
}
