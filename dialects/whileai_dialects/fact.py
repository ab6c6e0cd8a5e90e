"""A row of the table of dialects: a fact, and the attribute keys that tell it in each flavour."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "count", "number", "content"]


@dataclass(frozen=True, slots=True)
class Source:
    """One attribute key that tells a fact, and the flavours that use it."""

    key: str
    flavour: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about a span: what it means, and where it is told, best source first."""

    name: str
    meaning: str
    kind: Kind
    sources: tuple[Source, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The attribute keys, best first."""
        return tuple(source.key for source in self.sources)


def fact(name: str, meaning: str, kind: Kind, *sources: tuple[str, str]) -> Fact:
    """A fact from (key, flavour) pairs, best first."""
    return Fact(name, meaning, kind, tuple(Source(key, flavour) for key, flavour in sources))


GENAI = "gen_ai"
GENAI_OLD = "gen_ai before 1.37"
TRACELOOP = "Traceloop"
OPENINFERENCE = "OpenInference"
VERCEL = "Vercel AI SDK"
LANGSMITH = "LangSmith"
LANGFUSE = "Langfuse"
MLFLOW = "MLflow"
CLAUDE = "Claude Agent SDK"
PYDANTIC = "pydantic-ai"
ADK = "Google ADK"
LITELLM = "LiteLLM"
HAYSTACK = "Haystack"
CREWAI = "CrewAI"
WHILE = "While"
STRANDS = "Strands"
