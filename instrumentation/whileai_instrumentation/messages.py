"""What went into a plain function and what came out, as the messages of an agent's run."""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def input_messages(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """The user's side: the one text that was given, else the arguments by name; messages stay what they are."""
    named = _named(function, args, kwargs)
    if not named:
        return None
    given = list(named.values())
    if len(given) == 1 and _are_messages(given[0]):
        return _json([_message(message) for message in given[0]])
    texts = [value for value in given if isinstance(value, str)]
    text = texts[0] if len(texts) == 1 else text_of(given[0] if len(given) == 1 else named)
    return _json([{"role": "user", "parts": [{"type": "text", "content": text}]}])


def output_messages(result: Any) -> str | None:
    """The agent's side; nothing when the function gave nothing back."""
    if result is None:
        return None
    return _json([{"role": "assistant", "parts": [{"type": "text", "content": text_of(result)}]}])


def joined(items: Sequence[Any]) -> Any:
    """What a generator gave, as one answer: its texts together, else the last thing."""
    if items and all(isinstance(item, str) for item in items):
        return "".join(items)
    return items[-1] if items else None


def text_of(value: Any) -> str:
    """A value as text: text as it is, anything else as JSON where that is possible."""
    if isinstance(value, str):
        return value
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    """Models and data classes as their fields, anything else as it prints itself."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if hasattr(value, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    return str(value)


def _named(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        bound = {str(at): value for at, value in enumerate(args)} | dict(kwargs)
    return {name: value for name, value in bound.items() if name not in ("self", "cls")}


def _are_messages(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(message, dict) and isinstance(message.get("role"), str) for message in value)
    )


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    if "parts" in message:
        return dict(message)
    return {"role": message["role"], "parts": [{"type": "text", "content": text_of(message.get("content") or "")}]}
