"""The vendor of a model, by one name whoever writes it; a framework's own name is no vendor."""

from functools import lru_cache

# What frameworks put where the vendor belongs.
_FRAMEWORKS = frozenset(
    {
        "agno",
        "autogen",
        "claude_agent_sdk",
        "crewai",
        "custom",
        "dspy",
        "gcp.vertex.agent",
        "haystack",
        "inmemoryvectorstore",
        "langchain",
        "langgraph",
        "llama_index",
        "llamaindex",
        "microsoft.agent_framework",
        "openai-agents",
        "openai_agents",
        "openailike",
        "pydantic_ai",
        "pydantic-ai",
        "semantic_kernel",
        "smolagents",
        "strands",
        "strands-agents",
        "unknown",
        "vercel",
    }
)
# The Vercel AI SDK names the part of the API after the vendor.
_SURFACES = ("chat", "responses", "completion", "messages", "embedding", "embeddings", "image", "generative-ai")


@lru_cache(maxsize=4096)
def vendor_of(name: str | None) -> str | None:
    """The vendor that a provider's name means, lower case; None for a framework."""
    if not name:
        return None
    vendor = name.strip().lower()
    head, dot, surface = vendor.rpartition(".")
    if dot and surface in _SURFACES:
        vendor = head
    return None if not vendor or vendor in _FRAMEWORKS else vendor
