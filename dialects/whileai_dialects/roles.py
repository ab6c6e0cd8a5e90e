"""What kind of thing a span is: a model call, an agent, a tool run, or only a frame around them.

Each flavour has a word for it, and the words mean the same. Where none is told, the span's name and its facts decide.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Literal

Kind = Literal["llm", "agent", "workflow", "chain", "tool", "embedding", "retrieval", "create", "other"]

_WORDS: dict[str, Kind] = {
    # gen_ai.operation.name
    "chat": "llm",
    "generate_content": "llm",
    "text_completion": "llm",
    "completion": "llm",
    "responses": "llm",
    "messages": "llm",
    "embeddings": "embedding",
    "invoke_agent": "agent",
    "create_agent": "create",
    "invoke_workflow": "workflow",
    "execute_tool": "tool",
    "execute_task": "chain",
    "execute_event_loop_cycle": "chain",
    # openinference.span.kind, traceloop.span.kind, langsmith.span.kind, langfuse.observation.type, mlflow.spanType
    "llm": "llm",
    "chat_model": "llm",
    "generation": "llm",
    "agent": "agent",
    "tool": "tool",
    "chain": "chain",
    "task": "chain",
    "span": "chain",
    "workflow": "workflow",
    "embedding": "embedding",
    "retriever": "retrieval",
    "retrieval": "retrieval",
    "rerank": "retrieval",
    "reranker": "retrieval",
    "guardrail": "other",
    "evaluator": "other",
    "parser": "chain",
    "prompt": "chain",
    "event": "other",
    # span.type of the Claude Agent SDK
    "interaction": "agent",
    "llm_request": "llm",
    "tool.execution": "chain",
    "tool.blocked_on_user": "chain",
}
_VERCEL_STEP = re.compile(r"\.do(Generate|Stream|Embed)$")

# Span names that tell the kind where no attribute does (and where an attribute lies: see `kind_of`).
_NAMES: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"^invoke_agent\b"), "agent"),
    (re.compile(r"^create_agent\b"), "create"),
    (re.compile(r"^execute_tool\b"), "tool"),
    (re.compile(r"^agent_run \["), "agent"),
    (re.compile(r"^invocation$"), "workflow"),
    (re.compile(r"^call_llm$"), "llm"),
    (re.compile(r"^haystack\.agent\.run$"), "agent"),
    (re.compile(r"^haystack\.agent\.step\.llm$"), "llm"),
    (re.compile(r"^haystack\.agent\.step\.tool$"), "tool"),
    (re.compile(r"^haystack\.agent\.step$"), "chain"),
    (re.compile(r"^haystack\.pipeline\.run$"), "workflow"),
)
_TALK = frozenset({"said", "answered", "answered_text", "input_tokens", "output_tokens"})


def kind_of(kind: Kind | None, name: str, facts: Collection[str]) -> Kind:
    """The kind of a span from what its flavours' first known word means, its name, and the facts it carries."""
    if kind is None:
        return _named(name) or _by_facts(facts)
    if kind == "chain" and "tool" in facts:
        return "tool"  # a framework's task that says which tool it is
    # A second instrumentation may write its own word onto an agent's span; the name tells whose span it is.
    if kind == "llm" and _named(name) == "agent":
        return "agent"
    return kind


@lru_cache(maxsize=4096)
def _named(name: str) -> Kind | None:
    return next((found for pattern, found in _NAMES if pattern.match(name)), None)


# Haystack tells the class of a component.
_CLASSES: tuple[tuple[str, Kind], ...] = (
    ("Generator", "llm"),
    ("Agent", "agent"),
    ("Embedder", "embedding"),
    ("Retriever", "retrieval"),
    ("", "chain"),
)


def word_kind(key: str, word: str) -> Kind | None:
    """The kind that a flavour's word means; None when it means none."""
    if key == "haystack.component.type":
        return next(kind for suffix, kind in _CLASSES if word.endswith(suffix))
    if key == "ai.operationId":
        return _vercel(word)
    return _WORDS.get(word.lower())


def _vercel(operation: str) -> Kind | None:
    if operation == "ai.toolCall":
        return "tool"
    step = _VERCEL_STEP.search(operation)
    if step is not None:
        return "embedding" if step[1] == "Embed" else "llm"
    if operation.startswith("ai.embed"):
        return "workflow"
    return "agent" if operation.startswith("ai.") else None


def _by_facts(facts: Collection[str]) -> Kind:
    if "tool" in facts and "model" not in facts:
        return "tool"
    if "model" in facts and _TALK & set(facts):
        return "llm"
    return "other"
