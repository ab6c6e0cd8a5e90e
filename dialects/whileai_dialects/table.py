"""The table of dialects: for each fact, the attribute keys that tell it, best first.

This is the only list of such keys. The flat facts that SQL extracts per span are made from it (`FLAT_FACTS`), the
readers look their keys up in it, and `docs/dialects.md` is printed from it. A new dialect is new rows here and a
capture in the tests.
"""

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


def _fact(name: str, meaning: str, kind: Kind, *sources: tuple[str, str]) -> Fact:
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

FACTS: tuple[Fact, ...] = (
    _fact(
        "operation",
        "what the span did",
        "text",
        ("gen_ai.operation.name", GENAI),
        ("openinference.span.kind", OPENINFERENCE),
        ("traceloop.span.kind", TRACELOOP),
        ("llm.request.type", TRACELOOP),
        ("langfuse.observation.type", LANGFUSE),
        ("langsmith.span.kind", LANGSMITH),
        ("mlflow.spanType", MLFLOW),
        ("ai.operationId", VERCEL),
        ("span.type", CLAUDE),
        ("haystack.component.type", HAYSTACK),
    ),
    _fact(
        "agent",
        "the agent's name",
        "text",
        ("gen_ai.agent.name", GENAI),
        ("agent.name", OPENINFERENCE),
        ("agent_name", PYDANTIC),
        ("langsmith.metadata.lc_agent_name", LANGSMITH),
        ("lc_agent_name", LANGSMITH),
        ("crewai.agent.role", CREWAI),
        ("haystack.agent.name", HAYSTACK),
        ("traceloop.association.properties.lc_agent_name", TRACELOOP),
        ("langfuse.observation.metadata.lc_agent_name", LANGFUSE),
    ),
    _fact(
        "function",
        "the application's own name for a call, where no agent is named",
        "text",
        ("ai.telemetry.functionId", VERCEL),
    ),
    _fact(
        "entity",
        "the name of the workflow, task, agent or tool",
        "text",
        ("traceloop.entity.name", TRACELOOP),
        ("gen_ai.workflow.name", GENAI),
    ),
    _fact(
        "response_id",
        "the provider's id of the answer",
        "text",
        ("gen_ai.response.id", GENAI),
        ("ai.response.id", VERCEL),
        ("llm.response.id", OPENINFERENCE),
    ),
    _fact(
        "model",
        "the model that was asked",
        "text",
        ("gen_ai.request.model", GENAI),
        ("llm.request.model_name", OPENINFERENCE),
        ("llm.model_name", OPENINFERENCE),
        ("embedding.model_name", OPENINFERENCE),
        ("ai.model.id", VERCEL),
        ("langfuse.observation.model.name", LANGFUSE),
        ("model", CLAUDE),
        ("mlflow.llm.model", MLFLOW),
        ("litellm.provider.model", LITELLM),
        ("llm.openai.model", LITELLM),
    ),
    _fact(
        "response_model",
        "the model that answered",
        "text",
        ("gen_ai.response.model", GENAI),
        ("llm.response.model_name", OPENINFERENCE),
        ("llm.response.model", TRACELOOP),
        ("ai.response.model", VERCEL),
        ("response.model", CLAUDE),
    ),
    _fact(
        "provider",
        "the vendor of the model",
        "text",
        ("gen_ai.provider.name", GENAI),
        ("gen_ai.system", GENAI_OLD),
        ("llm.provider", OPENINFERENCE),
        ("llm.system", OPENINFERENCE),
        ("ai.model.provider", VERCEL),
        ("mlflow.llm.provider", MLFLOW),
        ("langfuse.observation.metadata.ls_provider", LANGFUSE),
    ),
    _fact(
        "version",
        "the version of the weights",
        "text",
        ("zeroproof.model_version", WHILE),
        ("whileai.model_version", WHILE),
        ("gen_ai.agent.version", GENAI),
    ),
    _fact(
        "scenario",
        "the situation that several runs try",
        "text",
        ("zeroproof.scenario_id", WHILE),
        ("whileai.scenario_id", WHILE),
        ("test.case.name", "OpenTelemetry test"),
    ),
    _fact(
        "conversation",
        "the session or thread",
        "text",
        ("gen_ai.conversation.id", GENAI),
        ("conversation.id", GENAI_OLD),
        ("session.id", OPENINFERENCE),
        ("gen_ai.session.id", GENAI_OLD),
        ("thread.id", GENAI_OLD),
        ("traceloop.association.properties.session_id", TRACELOOP),
        ("traceloop.association.properties.thread_id", TRACELOOP),
        ("traceloop.association.properties.conversation_id", TRACELOOP),
        ("langfuse.session.id", LANGFUSE),
        ("langfuse.trace.metadata.thread_id", LANGFUSE),
        ("langfuse.observation.metadata.thread_id", LANGFUSE),
        ("langsmith.metadata.thread_id", LANGSMITH),
        ("langsmith.metadata.session_id", LANGSMITH),
        ("langsmith.metadata.conversation_id", LANGSMITH),
        ("ai.telemetry.metadata.sessionId", VERCEL),
        ("ai.telemetry.metadata.conversationId", VERCEL),
        ("ai.telemetry.metadata.threadId", VERCEL),
        ("mlflow.trace.session", MLFLOW),
        ("gcp.vertex.agent.session_id", ADK),
    ),
    _fact(
        "eval_set",
        "the eval set that the run was tagged with",
        "text",
        ("zeroproof.eval_set", WHILE),
        ("whileai.eval_set", WHILE),
    ),
    _fact("reward", "the verdict, told inline", "number", ("whileai.reward", WHILE), ("zeroproof.score", WHILE)),
    _fact("pass_at", "the bar of the inline verdict", "number", ("zeroproof.score.pass_at", WHILE)),
    _fact(
        "tool",
        "the tool that ran",
        "text",
        ("gen_ai.tool.name", GENAI),
        ("tool.name", OPENINFERENCE),
        ("ai.toolCall.name", VERCEL),
        ("tool_name", CLAUDE),
        ("haystack.tool.name", HAYSTACK),
    ),
    _fact(
        "call_id",
        "the id of the tool call",
        "text",
        ("gen_ai.tool.call.id", GENAI),
        ("tool_call.id", OPENINFERENCE),
        ("tool.id", OPENINFERENCE),
        ("tool.call_id", OPENINFERENCE),
        ("ai.toolCall.id", VERCEL),
        ("gcp.vertex.agent.tool_call_id", ADK),
        ("tool_use_id", CLAUDE),
    ),
    _fact(
        "input_tokens",
        "tokens read, the cached ones included",
        "count",
        ("gen_ai.usage.input_tokens", GENAI),
        ("gen_ai.usage.prompt_tokens", GENAI_OLD),
        ("llm.token_count.prompt", OPENINFERENCE),
        ("llm.usage.prompt_tokens", TRACELOOP),
        ("ai.usage.inputTokens", VERCEL),
        ("ai.usage.promptTokens", VERCEL),
        ("ai.usage.tokens", VERCEL),
        ("input_tokens", CLAUDE),
    ),
    _fact(
        "output_tokens",
        "tokens written, the reasoning ones included",
        "count",
        ("gen_ai.usage.output_tokens", GENAI),
        ("gen_ai.usage.completion_tokens", GENAI_OLD),
        ("llm.token_count.completion", OPENINFERENCE),
        ("llm.usage.completion_tokens", TRACELOOP),
        ("ai.usage.outputTokens", VERCEL),
        ("ai.usage.completionTokens", VERCEL),
        ("output_tokens", CLAUDE),
    ),
    _fact(
        "cached_tokens",
        "the part of the tokens read that came from a cache",
        "count",
        ("gen_ai.usage.cache_read.input_tokens", GENAI),
        ("gen_ai.usage.cache_read_input_tokens", TRACELOOP),
        ("gen_ai.usage.input_tokens.cached", GENAI_OLD),
        ("gen_ai.usage.details.cache_read_tokens", PYDANTIC),
        ("gen_ai.usage.details.cached_tokens", PYDANTIC),
        ("llm.token_count.prompt_details.cache_read", OPENINFERENCE),
        ("ai.usage.inputTokenDetails.cacheReadTokens", VERCEL),
        ("ai.usage.cachedInputTokens", VERCEL),
        ("cache_read_tokens", CLAUDE),
    ),
    _fact(
        "reasoning_tokens",
        "the part of the tokens written that was reasoning",
        "count",
        ("gen_ai.usage.reasoning.output_tokens", GENAI),
        ("gen_ai.usage.reasoning_tokens", TRACELOOP),
        ("gen_ai.usage.details.reasoning_tokens", PYDANTIC),
        ("llm.token_count.completion_details.reasoning", OPENINFERENCE),
        ("ai.usage.outputTokenDetails.reasoningTokens", VERCEL),
        ("ai.usage.reasoningTokens", VERCEL),
    ),
    _fact(
        "cost",
        "the price of the call in US dollars",
        "number",
        ("operation.cost", PYDANTIC),
        ("gen_ai.usage.cost", GENAI_OLD),
        ("gen_ai.cost.total_cost", LITELLM),
        ("llm.cost.total", OPENINFERENCE),
        ("langfuse.observation.cost_details.total", LANGFUSE),
        ("cost_usd", CLAUDE),
    ),
)

# What carries the talk itself. A key that ends in a dot is a flattened list: the rest of the key is index and field.
CONTENT: tuple[Fact, ...] = (
    _fact(
        "said",
        "the messages that went into a call, or the input of an agent",
        "content",
        ("gen_ai.input.messages", GENAI),
        ("gen_ai.prompt.", TRACELOOP),
        ("llm.input_messages.", OPENINFERENCE),
        ("llm.input_messages", OPENINFERENCE),
        ("ai.prompt.messages", VERCEL),
        ("events", PYDANTIC),
        ("pydantic_ai.all_messages", PYDANTIC),
        ("all_messages_events", PYDANTIC),
        ("gcp.vertex.agent.llm_request", ADK),
        ("ai.prompt", VERCEL),
        ("gen_ai.prompt", LANGSMITH),
        ("langfuse.observation.input", LANGFUSE),
        ("mlflow.spanInputs", MLFLOW),
        ("haystack.agent.input", HAYSTACK),
        ("haystack.component.input", HAYSTACK),
        ("llm.openai.messages", LITELLM),
        ("llm.azure.messages", LITELLM),
        ("llm.anthropic.messages", LITELLM),
        ("user_prompt", CLAUDE),
        ("new_context", CLAUDE),
        ("gen_ai.retrieval.query.text", GENAI),
        ("traceloop.entity.input", TRACELOOP),
        ("input.value", OPENINFERENCE),
    ),
    _fact(
        "answered",
        "the messages that came out of a call, or the answer of an agent",
        "content",
        ("gen_ai.output.messages", GENAI),
        ("gen_ai.completion.", TRACELOOP),
        ("llm.output_messages.", OPENINFERENCE),
        ("llm.output_messages", OPENINFERENCE),
        ("final_result", PYDANTIC),
        ("gcp.vertex.agent.llm_response", ADK),
        ("gen_ai.completion", LANGSMITH),
        ("llm.openai.choices", LITELLM),
        ("llm.azure.choices", LITELLM),
        ("llm.anthropic.content", LITELLM),
        ("langfuse.observation.output", LANGFUSE),
        ("mlflow.spanOutputs", MLFLOW),
        ("haystack.agent.output", HAYSTACK),
        ("haystack.component.output", HAYSTACK),
        ("response.model_output", CLAUDE),
        ("crewai.crew.result", CREWAI),
        ("traceloop.entity.output", TRACELOOP),
        ("output.value", OPENINFERENCE),
    ),
    _fact(
        "answered_text", "the text of the answer", "content", ("ai.response.text", VERCEL), ("ai.result.text", VERCEL)
    ),
    _fact(
        "answered_object",
        "the object that was the answer",
        "content",
        ("ai.response.object", VERCEL),
        ("ai.result.object", VERCEL),
    ),
    _fact("answered_reasoning", "the reasoning before the answer", "content", ("ai.response.reasoning", VERCEL)),
    _fact(
        "answered_calls",
        "the tools that the answer asks for",
        "content",
        ("ai.response.toolCalls", VERCEL),
        ("ai.result.toolCalls", VERCEL),
    ),
    _fact(
        "system",
        "the system prompt beside the messages",
        "content",
        ("gen_ai.system_instructions", GENAI),
        ("system_prompt", STRANDS),
        ("user_system_prompt", CLAUDE),
        ("system_prompt_preview", CLAUDE),
        ("crewai.agent.backstory", CREWAI),
    ),
    _fact(
        "arguments",
        "what a tool was given",
        "content",
        ("gen_ai.tool.call.arguments", GENAI),
        ("gen_ai.tool.input", GENAI_OLD),
        ("tool_arguments", PYDANTIC),
        ("ai.toolCall.args", VERCEL),
        ("gcp.vertex.agent.tool_call_args", ADK),
        ("haystack.agent.step.tool.input", HAYSTACK),
        ("haystack.tool.input", HAYSTACK),
        ("tool.arguments", TRACELOOP),
        ("tool.input", GENAI_OLD),
        ("tool_input", CLAUDE),
        ("gen_ai.prompt", LANGSMITH),
        ("langfuse.observation.input", LANGFUSE),
        ("mlflow.spanInputs", MLFLOW),
        ("traceloop.entity.input", TRACELOOP),
        ("input.value", OPENINFERENCE),
    ),
    _fact(
        "result",
        "what a tool gave back",
        "content",
        ("gen_ai.tool.call.result", GENAI),
        ("gen_ai.tool.output", GENAI_OLD),
        ("tool_response", PYDANTIC),
        ("ai.toolCall.result", VERCEL),
        ("gcp.vertex.agent.tool_response", ADK),
        ("haystack.agent.step.tool.output", HAYSTACK),
        ("haystack.tool.output", HAYSTACK),
        ("tool.output", GENAI_OLD),
        ("gen_ai.completion", LANGSMITH),
        ("langfuse.observation.output", LANGFUSE),
        ("mlflow.spanOutputs", MLFLOW),
        ("traceloop.entity.output", TRACELOOP),
        ("output.value", OPENINFERENCE),
    ),
    _fact("tool_status", "whether a tool failed", "content", ("gen_ai.tool.status", STRANDS), ("tool.status", STRANDS)),
    _fact(
        "definitions",
        "the schemas of the tools that were offered",
        "content",
        ("gen_ai.tool.definitions", GENAI),
        ("llm.tools.", OPENINFERENCE),
        ("llm.request.functions.", TRACELOOP),
        ("ai.prompt.tools", VERCEL),
        ("model_request_parameters", PYDANTIC),
        ("mlflow.chat.tools", MLFLOW),
        ("gcp.vertex.agent.llm_request", ADK),
        ("llm.invocation_parameters", OPENINFERENCE),
    ),
    _fact(
        "finish",
        "why the answer ended",
        "content",
        ("gen_ai.response.finish_reasons", GENAI),
        ("llm.finish_reason", OPENINFERENCE),
        ("ai.response.finishReason", VERCEL),
    ),
    _fact(
        "task",
        "what a crew was asked",
        "content",
        ("crewai.task.description", CREWAI),
        ("crewai.crew.tasks", CREWAI),
        ("crew_tasks", CREWAI),
    ),
    _fact(
        "usage",
        "tokens, told as JSON",
        "content",
        ("langfuse.observation.usage_details", LANGFUSE),
        ("mlflow.chat.tokenUsage", MLFLOW),
    ),
    _fact("metadata", "what the application attached, as JSON", "content", ("metadata", OPENINFERENCE)),
    _fact(
        "parameters", "the parameters of the request, as JSON", "content", ("llm.invocation_parameters", OPENINFERENCE)
    ),
    _fact("prompt_token_ids", "the token ids that went in", "content", ("whileai.prompt_token_ids", WHILE)),
    _fact("token_ids", "the token ids that came out", "content", ("whileai.token_ids", WHILE)),
    _fact("logprobs", "their log probabilities", "content", ("whileai.logprobs", WHILE)),
    _fact(
        "error",
        "what went wrong",
        "content",
        ("error.message", GENAI),
        ("exception.message", GENAI),
        ("error", CLAUDE),
        ("error.type", GENAI),
    ),
)

FACT = {fact.name: fact for fact in (*FACTS, *CONTENT)}

# For each scalar fact, the attribute keys that tell it, best first: what SQL makes its flat columns from.
FLAT_FACTS: dict[str, tuple[str, ...]] = {fact.name: fact.keys for fact in FACTS}
