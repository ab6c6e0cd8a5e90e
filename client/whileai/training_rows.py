"""Rows made ready for a trainer: messages with a loss mask, one per turn or cut to length when asked."""

import hashlib
from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any

from whileai.conversation import Message, conversation, with_argument_objects
from whileai.row_source import rows_of
from whileai.rows import SCHEMA_VERSION, task_key

MASK_MODES = ("assistant", "final")
PARTIAL_PASS = 0.5  # where partial credit splits into fail and pass when a group is counted
CARRIED = (
    "reward",
    "prompt",
    "scenario_id",
    "task_id",
    "lineage",
    "model_version",
    "policy_version",
    "sampling",
    "logprob",
    "token_logprobs",
    "n_tokens",
)


def training_rows(
    source: Any,
    *,
    system_prompt: str | None = None,
    tools: Sequence[Mapping[str, Any]] | None = None,
    strip_think: bool = True,
    mask_mode: str = "assistant",
    unroll: bool = False,
    max_tool_output_chars: int | None = None,
) -> list[dict[str, Any]]:
    """One training row per row, in the OpenAI wire form; `to_trl` reshapes them.

    `unroll=True` makes one row per agent turn, with the context that turn had and the loss on it alone. A tool output
    longer than `max_tool_output_chars` is cut, and says so.
    """
    check_mask_mode(mask_mode)
    made = []
    for row in rows_of(source):
        messages = conversation(row, system_prompt=system_prompt, strip_think=strip_think)
        counts = _cut_tool_output(messages, max_tool_output_chars)
        rest = {**counts, **_about(row, tools)}
        if unroll:
            made += _unrolled(row, messages, rest)
        else:
            made.append({"messages": messages, "loss_mask": loss_mask(messages, mode=mask_mode), **rest})
    return _with_groups(made)


def loss_mask(messages: Sequence[Mapping[str, Any]], *, mode: str = "assistant") -> list[int]:
    """1 for each message a trainer should learn to write, 0 for the rest: all of the agent's turns, or only its last.

    >>> loss_mask([{"role": "user"}, {"role": "assistant"}, {"role": "tool"}, {"role": "assistant"}])
    [0, 1, 0, 1]
    """
    check_mask_mode(mode)
    mask = [int(message.get("role") == "assistant") for message in messages]
    if mode == "final" and 1 in mask:
        last = len(mask) - 1 - mask[::-1].index(1)
        mask = [int(at == last) for at in range(len(mask))]
    return mask


def to_trl(rows: Sequence[Mapping[str, Any]], kind: str = "training") -> list[dict[str, Any]]:
    """The same rows as TRL loads them: arguments are objects, and the ask is `prompt_text`.

    TRL looks at the columns: a `prompt` string beside `messages` would make it skip the chat template and train on the
    bare ask.
    """
    if kind != "training":
        raise ValueError(f"kind={kind!r} is not one of training")
    made = []
    for row in rows:
        shaped = {key: value for key, value in row.items() if key != "prompt"}
        shaped["messages"] = [with_argument_objects(message) for message in row["messages"]]
        if "prompt" in row:
            shaped["prompt_text"] = row["prompt"]
        made.append(shaped)
    return made


def check_mask_mode(mode: str) -> None:
    if mode not in MASK_MODES:
        raise ValueError(f"mask_mode={mode!r} is not one of {', '.join(MASK_MODES)}")


def _about(row: Mapping[str, Any], tools: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    schemas = (
        list(tools) if tools is not None else [tool for tool in row.get("tools") or () if isinstance(tool, Mapping)]
    )
    about = {"tools": schemas} if schemas else {}
    about |= {key: row[key] for key in CARRIED if row.get(key) is not None}
    return {**about, "schema_version": SCHEMA_VERSION}


def _cut_tool_output(messages: Sequence[Message], limit: int | None) -> dict[str, int]:
    truncated = cut = 0
    for message in messages if limit is not None else ():
        over = len(message["content"]) - limit if message["role"] == "tool" and limit is not None else 0
        if over > 0:
            message["content"] = f"{message['content'][:limit]}\n[... {over} chars of tool output truncated]"
            truncated, cut = truncated + 1, cut + over
    return {"tool_output_truncated": truncated, "tool_output_chars_cut": cut} if truncated else {}


def _unrolled(row: Mapping[str, Any], messages: Sequence[Message], rest: Mapping[str, Any]) -> list[dict[str, Any]]:
    turns = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    origin = {
        "prompt_sha1": _short_hash(str(row.get("prompt") or "")),
        **{key: row[key] for key in ("scenario_id", "rollout_index") if key in row},
    }
    return [
        {
            "messages": list(messages[: at + 1]),
            "loss_mask": [0] * at + [1],
            **rest,
            "lineage": {**(row.get("lineage") or {}), "unrolled_from": origin},
            "unroll": {"turn": turn, "turns": len(turns)},
        }
        for turn, at in enumerate(turns, 1)
    ]


def _with_groups(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Say on each row of a task that has several how its group went; a grouped trainer and a curriculum read it."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(task_key(row), []).append(row)
    for task, members in groups.items():
        if len(members) < 2:
            continue
        rewards = [float(row["reward"]) for row in members if isinstance(row.get("reward"), int | float)]
        facts: dict[str, Any] = {"group_id": _short_hash(task), "k": len(members)}
        if rewards:
            passed = sum(reward >= PARTIAL_PASS for reward in rewards)
            facts |= {"n0": len(rewards) - passed, "n1": passed}
            facts |= {"reward_mean": fmean(rewards), "reward_std": pstdev(rewards)}
        for row in members:
            row.update(facts)
    return rows


def _short_hash(text: str) -> str:
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:12]
