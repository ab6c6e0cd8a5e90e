"""A tracked run as the API shows it."""

from __future__ import annotations

from typing import Any

from whileai.tracked_models import RunEnd
from whileai_query.services import Services
from whileai_query.times import iso_of
from whileai_registry import RunScore, TrackedRun

_PLAIN = ("error", "hours", "gpu", "cost_usd", "steps", "summary")


def run_view(run: TrackedRun, agent_id: str) -> dict[str, Any]:
    """A run of a list. Two clients read its id under two names."""
    return {
        "id": run.id,
        "runId": run.id,
        "agent": agent_id,
        "version": run.version,
        "status": run.status,
        "method": run.method,
        "base": run.base,
        "harness": run.harness,
        "gpu": run.gpu,
        "targets": run.targets,
        "trainedOn": run.trained_on,
        "record": run.record,
        "summary": run.summary or {},
        "hours": run.hours,
        "costUsd": run.cost_usd,
        "steps": run.steps,
        "error": run.error,
        "createdAt": iso_of(run.created_at),
        "updatedAt": iso_of(run.updated_at),
    }


def whole_run(services: Services, account: str, run_id: str) -> dict[str, Any]:
    """One run with its curve and its scores. Raises `NotFound`."""
    registry = services.registry
    run = registry.tracked_runs.get(account, run_id)
    ids = registry.agents.ids(account, {run.agent_key})
    return {
        **run_view(run, ids.get(run.agent_key, run.agent_key)),
        "series": [{"step": step, **values} for step, values in registry.run_points.series(account, run.id)],
        "evals": [score_view(score) for score in registry.run_scores.of_run(account, run.id)],
    }


def score_view(score: RunScore) -> dict[str, Any]:
    """A score; what was not said of it is left out."""
    view = {
        "behavior": score.behavior,
        "score": score.score,
        "ci": score.ci,
        "n": score.n,
        "testVersion": score.test_version,
        "version": score.version,
        "scoredAt": iso_of(score.scored_at),
    }
    return {name: value for name, value in view.items() if value is not None}


def end_of(said: RunEnd) -> dict[str, Any]:
    """The columns that change."""
    changes = {name: getattr(said, name) for name in _PLAIN}
    changes |= {
        "status": said.status.lower() if said.status else None,
        "record": said.record.wire() if said.record else None,
    }
    return {name: value for name, value in changes.items() if value is not None}
