"""A run as one training row: row schema v1, which trainers and the published client read."""

from collections.abc import Mapping

from whileai_dialects.run import Run

SCHEMA_VERSION = "1"
Row = dict[str, object]


def row_of(
    run: Run,
    *,
    rollout_index: int = 0,
    lineage: Mapping[str, object] | None = None,
    extra: Mapping[str, object] | None = None,
) -> Row:
    """The row of a run. What the run does not carry is left out; `lineage` and `extra` win over what is here."""
    verdict = next((score for score in run.scores if score.name == "score"), None)
    row: Row = {
        "schema_version": SCHEMA_VERSION,
        "prompt": run.prompt or "",
        "scenario_id": run.scenario_id,
        "rollout_index": rollout_index,
        "messages": run.messages,
        "tools": run.tools,
        "steps": run.steps,
        "final_text": run.final_text or "",
        "model_version": run.model_version or run.model,
        "reward": run.reward,
        "reason": verdict.extra.get("explanation") if verdict is not None else None,
        "conversation_id": run.conversation_id,
        "markers": {
            score.name: score.value for score in run.scores if score.name != "score" and score.value is not None
        },
        "usage": {
            "input_tokens": run.usage.input_tokens,
            "output_tokens": run.usage.output_tokens,
            "cached_input_tokens": run.usage.cached_input_tokens,
            "reasoning_tokens": run.usage.reasoning_tokens,
            "cost_usd": run.cost_usd,
        },
        "prompt_token_ids": run.prompt_token_ids,
        "token_ids": run.token_ids,
        "token_logprobs": run.logprobs,
        "finish_reason": "error" if run.status == "error" else None,
        "lineage": {"source": "traces", "trace_id": run.trace_id, **(lineage or {})},
        **(extra or {}),
    }
    return {key: value for key, value in row.items() if value is not None and (value != {} or key == "usage")}
