"""A run as a row of `runs`: the column list and how each is filled, in one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whileai_dialects import Run

# The row serves lists and filters; whole texts are read from the spans.
TEXT_CHARS = 4096


def _text(value: str | None) -> str | None:
    """Storable: short, and without the lone surrogates that JSON escapes can smuggle in."""
    return None if value is None else value[:TEXT_CHARS].encode("utf-8", "replace").decode()


_COLUMNS: dict[str, Callable[[Run], Any]] = {
    "trace_id": lambda run: run.trace_id,
    "version": lambda run: run.version,
    "first_arrival": lambda run: run.first_arrival,
    "last_arrival": lambda run: run.last_arrival,
    "span_count": lambda run: run.span_count,
    "has_root": lambda run: run.has_root,
    "agent": lambda run: _text(run.agent),
    "agents": lambda run: [_text(name) for name in run.agents],
    "service": lambda run: _text(run.service),
    "model": lambda run: _text(run.model),
    "provider": lambda run: _text(run.provider),
    "model_version": lambda run: _text(run.model_version),
    "scenario_id": lambda run: _text(run.scenario_id),
    "conversation_id": lambda run: _text(run.conversation_id),
    "eval_set": lambda run: _text(run.eval_set),
    "dataset": lambda run: _text(run.dataset),
    "start_time_unix_nano": lambda run: run.start,
    "end_time_unix_nano": lambda run: run.end,
    "status": lambda run: run.status,
    "error": lambda run: _text(run.error),
    "prompt": lambda run: _text(run.prompt),
    "final_text": lambda run: _text(run.final_text),
    "tools": lambda run: sorted({_text(name) or "" for name in run.tool_names}),
    "step_count": lambda run: run.step_count,
    "input_tokens": lambda run: run.usage.input_tokens,
    "output_tokens": lambda run: run.usage.output_tokens,
    "cached_input_tokens": lambda run: run.usage.cached_input_tokens,
    "reasoning_tokens": lambda run: run.usage.reasoning_tokens,
    "cost_usd": lambda run: run.cost_usd,
    "measures": lambda run: [_text(score.name) for score in run.scores],
    "reward": lambda run: run.reward,
    "verdict": lambda run: run.verdict or "",
}

COLUMNS = ("account", "size_bytes", "completed_at", "deleted", *_COLUMNS)


def run_row(account: str, run: Run, size_bytes: int, completed_at: int, *, deleted: bool = False) -> list[Any]:
    """The values of `COLUMNS` for this run."""
    return [account, size_bytes, completed_at, deleted, *(fill(run) for fill in _COLUMNS.values())]
