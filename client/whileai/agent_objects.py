"""What can be read off an agent object of a framework: its name, its model, its instructions, its tools.

By attribute names alone, so no framework is imported: OpenAI Agents, Pydantic AI, LangGraph, the Claude Agent SDK and
others that name the same things alike.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_NAMES = ("name", "agent_name")
_MODELS = ("model", "model_name", "model_id")
_INSTRUCTIONS = ("instructions", "system_prompt", "prompt", "system_message")
_TOOLS = ("tools", "_function_toolset", "allowed_tools", "tool_list")


@dataclass(frozen=True)
class Read:
    name: str | None
    model: str | None
    instructions: str | None
    tools: list[str]


def read_agent(agent: Any) -> Read:
    """What there is of it; a callable prompt, which has no text, counts as none."""
    model = _first(agent, _MODELS)
    return Read(
        name=_text(_first(agent, _NAMES)),
        model=_text(model) or _text(_first(model, _MODELS)),
        instructions=_text(_first(agent, _INSTRUCTIONS)),
        tools=_tool_names(_first(agent, _TOOLS)),
    )


def _first(thing: Any, names: Iterable[str]) -> Any:
    return next((value for name in names if (value := getattr(thing, name, None)) not in (None, "")), None)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _tool_names(found: Any) -> list[str]:
    held = getattr(found, "tools", found)
    if isinstance(held, Mapping):
        return sorted(str(name) for name in held)
    if not isinstance(held, Iterable) or isinstance(held, str):
        return []
    return [name for tool in held if (name := _tool_name(tool))]


def _tool_name(tool: Any) -> str | None:
    if isinstance(tool, Mapping):
        function = tool.get("function")
        return _text(tool.get("name")) or (_text(function.get("name")) if isinstance(function, Mapping) else None)
    return _text(tool) or _text(getattr(tool, "name", None)) or _text(getattr(tool, "__name__", None))
