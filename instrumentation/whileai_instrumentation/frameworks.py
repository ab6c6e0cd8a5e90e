"""Frameworks with tracing of their own, and how each is switched on; libraries that need a package, and which.

A switch is thrown when the framework is imported. Where there is none, the framework speaks as soon as a tracer
provider is set.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Framework:
    """A framework that brings its own tracing."""

    title: str
    distributions: tuple[str, ...]
    module: str = ""
    switch: Callable[[bool], None] | None = None


def _pydantic_ai(capture_content: bool) -> None:
    agent: Any = import_module("pydantic_ai").Agent
    settings: Any = import_module("pydantic_ai.models.instrumented").InstrumentationSettings
    if not getattr(agent, "_instrument_default", False):  # else the program has said how
        agent.instrument_all(settings(include_content=capture_content))


def _agent_framework(capture_content: bool) -> None:
    observability: Any = import_module("agent_framework.observability")
    observability.enable_instrumentation(enable_sensitive_data=capture_content)


FRAMEWORKS = (
    Framework("pydantic-ai", ("pydantic-ai-slim", "pydantic-ai"), "pydantic_ai", _pydantic_ai),
    Framework(
        "Microsoft Agent Framework", ("agent-framework-core",), "agent_framework.observability", _agent_framework
    ),
    Framework("Strands", ("strands-agents",)),
    Framework("Google ADK", ("google-adk",)),
)

# library -> the package that makes it visible
FRAMEWORK_PACKAGES: Mapping[str, str] = {
    "openai-agents": "openinference-instrumentation-openai-agents",
    "langchain": "openinference-instrumentation-langchain",
    "smolagents": "openinference-instrumentation-smolagents",
    "llama-index": "openinference-instrumentation-llama-index",
    "crewai": "openinference-instrumentation-crewai",
    "dspy": "openinference-instrumentation-dspy",
    "agno": "openinference-instrumentation-agno",
    "haystack-ai": "openinference-instrumentation-haystack",
    "autogen-agentchat": "openinference-instrumentation-autogen-agentchat",
    "ag2": "openinference-instrumentation-ag2",
    "beeai-framework": "openinference-instrumentation-beeai",
    "claude-agent-sdk": "openinference-instrumentation-claude-agent-sdk",
}

# Of help only where no framework above them is seen: what calls them is seen already.
MODEL_PACKAGES: Mapping[str, str] = {
    "openai": "openinference-instrumentation-openai",
    "anthropic": "openinference-instrumentation-anthropic",
    "google-genai": "openinference-instrumentation-google-genai",
    "mistralai": "openinference-instrumentation-mistralai",
    "groq": "openinference-instrumentation-groq",
    "litellm": "openinference-instrumentation-litellm",
    "ollama": "openinference-instrumentation-ollama",
    "together": "openinference-instrumentation-together",
}

# What is looked for, where the library goes by another name.
INSTALLED_AS: Mapping[str, tuple[str, ...]] = {
    "langchain": ("langchain-core", "langgraph"),
    "llama-index": ("llama-index-core",),
}
