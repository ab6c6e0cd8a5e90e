"""The agents of the account. One exists the moment a push names it or a trace carries its name."""

from typing import Any

from whileai import service


def agents(*, api_key: str | None = None) -> list[dict[str, Any]]:
    """Every agent, with its traces, its sets by purpose and its public cards counted."""
    found: list[dict[str, Any]] = service.api("GET", "/agents", api_key=api_key).get("agents") or []
    return found


def register_agent(
    name: str,
    *,
    description: str | None = None,
    tools: list[Any] | None = None,
    system_prompt: str | None = None,
    api_key: str | None = None,
) -> dict[str, Any]:
    """Create the agent, or add to what is known of it; what is not given stays as it was."""
    body = {"name": name, **service.given(description=description, tools=tools, system_prompt=system_prompt)}
    return service.api("POST", "/agents", api_key=api_key, json=body, idempotent=True)
