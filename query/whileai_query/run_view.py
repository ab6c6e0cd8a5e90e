"""`GET /traces/{id}`: one run as the platform understood it, as the JSON object of the contract."""

from __future__ import annotations

from typing import Any

from whileai_dialects import Grading, Run, Score
from whileai_query.run_list import state_of
from whileai_query.times import iso


def run_view(run: Run, completed_at: int, now: int) -> dict[str, Any]:
    """Everything but the spans."""
    return {
        "traceId": run.trace_id,
        "state": state_of(completed_at, now),
        "agent": run.agent,
        "agents": run.agents,
        "service": run.service,
        "model": run.model,
        "provider": run.provider,
        "modelVersion": run.model_version,
        "scenarioId": run.scenario_id,
        "conversationId": run.conversation_id,
        "evalSet": run.eval_set,
        "dataset": run.dataset,
        "startTimeUnixNano": str(run.start),
        "startedAt": iso(run.start),
        "durationMs": (run.end - run.start) / 1e6,
        "status": run.status,
        "error": run.error,
        "prompt": run.prompt,
        "system": run.system,
        "finalText": run.final_text,
        "steps": run.steps,
        "usage": {
            "inputTokens": run.usage.input_tokens,
            "outputTokens": run.usage.output_tokens,
            "cachedInputTokens": run.usage.cached_input_tokens,
            "reasoningTokens": run.usage.reasoning_tokens,
        },
        "costUsd": run.cost_usd,
        "notes": run.notes,
        "scores": [_score(score) for score in run.scores],
        "reward": run.reward,
        "verdict": run.verdict,
        "spanCount": run.span_count,
    }


def _score(score: Score) -> dict[str, Any]:
    return {
        **_measurement(score),
        "history": [_measurement(grading) for grading in score.history],
    }


def _measurement(given: Score | Grading) -> dict[str, Any]:
    """The sender's own fields first, so that none of them can pass for one of ours."""
    return {
        **given.extra,
        "name": given.name,
        "value": given.value,
        "label": given.label,
        "passAt": given.pass_at,
        "source": given.source,
        "gradedAt": iso(given.graded_at),
    }
