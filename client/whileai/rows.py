"""The shape of a row (schema version 1), and the one rule for which task a row belongs to."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NotRequired, TypedDict

SCHEMA_VERSION = "1"


class UserStep(TypedDict):
    """What the user said in the middle of a run."""

    user: str


class ToolStep(TypedDict):
    """One tool call and what came of it."""

    tool: str
    arguments: Any
    result: Any
    error: NotRequired[Any]


class TextStep(TypedDict):
    """What the agent said."""

    text: str


Step = UserStep | ToolStep | TextStep


class Message(TypedDict):
    """One chat message; a tool call's arguments are an object, or JSON text in the OpenAI wire form."""

    role: str
    content: NotRequired[str | None]
    name: NotRequired[str]
    tool_calls: NotRequired[list[dict[str, Any]]]
    tool_call_id: NotRequired[str]


class Student(TypedDict):
    """The policy whose pass rate a calibration measured."""

    name: str
    model: str | None
    prompt_hash: str | None
    version: str | None


class CalibrationStamp(TypedDict):
    """A task's pass rate over n repeats, as it was when the row was selected."""

    task_id: str
    student: Student
    n: int
    pass_rate: float
    mean_kl: float | None
    pass_rate_ci95: list[float] | None


class Row(TypedDict):
    """One run, ready to be graded, selected and exported. Further keys are always allowed."""

    schema_version: str
    prompt: str
    steps: list[Step]
    final_text: str
    scenario_id: NotRequired[str]
    task_id: NotRequired[str]
    messages: NotRequired[list[Message]]
    tools: NotRequired[list[Any]]
    rollout_index: NotRequired[int]
    group_id: NotRequired[str]
    conversation_id: NotRequired[str]
    model_version: NotRequired[str]
    policy_version: NotRequired[str]
    sampling: NotRequired[dict[str, Any] | None]
    reward: NotRequired[float | None]
    reason: NotRequired[str]
    label_source: NotRequired[str]
    judge_name: NotRequired[str]
    judge_status: NotRequired[Literal["ok", "missing_reward", "invalid_result", "error", "timeout"]]
    judge_meta: NotRequired[dict[str, Any]]
    finish_reason: NotRequired[Literal["stop", "length", "tool", "error"]]
    gold_reward: NotRequired[Literal[0, 1]]
    gold_labels: NotRequired[list[dict[str, Any]]]
    markers: NotRequired[dict[str, Any]]
    privileged: NotRequired[dict[str, Any]]
    faults: NotRequired[dict[str, Any]]
    lineage: NotRequired[dict[str, Any]]
    calibration: NotRequired[CalibrationStamp]
    logprob: NotRequired[float]
    token_logprobs: NotRequired[list[float]]
    n_tokens: NotRequired[int]
    ts: NotRequired[int]


class TrainingRow(TypedDict):
    """What a supervised or RL trainer loads; `loss_mask` holds one 0 or 1 per message."""

    schema_version: str
    messages: list[Message]
    loss_mask: NotRequired[list[int]]
    tools: NotRequired[list[Any]]
    group_id: NotRequired[str]


class PreferenceRow(TypedDict):
    """What a preference trainer loads: two conversations on one prompt, the better one first."""

    schema_version: str
    prompt: Any
    chosen: Any
    rejected: Any
    chosen_score: NotRequired[float]
    rejected_score: NotRequired[float]
    margin: NotRequired[float]
    chosen_model: NotRequired[str | None]
    rejected_model: NotRequired[str | None]
    same_policy: NotRequired[bool | None]
    length_delta: NotRequired[int]
    tools: NotRequired[list[Any]]


def task_key(row: Mapping[str, Any]) -> str:
    """The task a row belongs to: its scenario, else its task id, else its prompt.

    Every statistic, split and selection groups by this, so that the same rows give the same task count everywhere.

    >>> task_key({"scenario_id": "sc_1", "prompt": "Where is parcel 88?"})
    'sc_1'
    """
    return next((str(row[name]) for name in ("scenario_id", "task_id", "prompt") if row.get(name)), "")


def verdict_of(row: Mapping[str, Any]) -> int | None:
    """1 for a reward of exactly one, 0 for exactly zero; None without one, and for partial credit, which is neither."""
    reward = row.get("reward")
    return int(reward) if isinstance(reward, int | float) and reward in (0, 1) else None


def verdicts_by_task(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """The verdicts of each task, in the order of the rows; a task without any is left out."""
    tasks: dict[str, list[int]] = {}
    for row in rows:
        verdict = verdict_of(row)
        if verdict is not None:
            tasks.setdefault(task_key(row), []).append(verdict)
    return tasks
