"""Rows as a user would push them: three tasks of a support agent, four rollouts each, graded."""

from __future__ import annotations

from typing import Any

# Task -> the rewards of its rollouts: always solved, sometimes, never.
REWARDS = {"sc_0": (1, 1, 1, 1), "sc_1": (1, 0, 1, 0), "sc_2": (0, 0, 0, 0)}


def row(task: str, number: int, reward: float | None, **more: Any) -> dict[str, Any]:
    """One graded run of a task, row schema version 1, with one tool call."""
    prompt = f"Where is parcel {task[-1]}?"
    reply = f"Rollout {number} says it left the depot."
    return {
        "schema_version": "1",
        "prompt": prompt,
        "scenario_id": task,
        "rollout_index": number,
        "messages": [
            {"role": "user", "content": prompt},
            {"role": "assistant", "content": "", "tool_calls": [{"name": "track", "arguments": {"id": task}}]},
            {"role": "tool", "name": "track", "content": '{"status": "left"}'},
            {"role": "assistant", "content": reply},
        ],
        "steps": [{"tool": "track", "arguments": {"id": task}, "result": {"status": "left"}}, {"text": reply}],
        "final_text": reply,
        "model_version": "m-1",
        "reward": reward,
        **more,
    }


def shelf() -> list[dict[str, Any]]:
    """Twelve rows."""
    return [row(task, number, reward) for task, rewards in REWARDS.items() for number, reward in enumerate(rewards)]
