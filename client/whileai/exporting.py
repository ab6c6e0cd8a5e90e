"""Writing training rows to a file a trainer loads, with a report of what is in it and what should worry the reader."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from whileai.leaks import LeakReport, leak_report
from whileai.row_source import rows_of
from whileai.training_rows import PARTIAL_PASS, to_trl, training_rows

# format -> (how it carries a call's arguments, what the round trip vouches for)
FORMATS: Mapping[str, tuple[str, str]] = {
    "openai": (
        "json_string",
        "every call's arguments are JSON text that parses to an object, as the OpenAI wire has it",
    ),
    "trl": ("dict", "every call's arguments are an object, as a chat template renders it"),
}


def export_dataset(
    source: Any,
    output: str | None = None,
    *,
    system_prompt: str | None = None,
    tools: Sequence[Mapping[str, Any]] | None = None,
    strip_think: bool = True,
    validate: bool = True,
    mask_mode: str = "assistant",
    unroll: bool = False,
    max_tool_output_chars: int | None = None,
    format: str = "openai",
) -> dict[str, Any]:
    """Write rows as JSON lines for a trainer and report on them; without `output=` only report.

    `format="openai"` is the API's wire row; `format="trl"` is what TRL's trainers load. Rows whose reply quotes its own
    privileged context are refused unless `validate=False`.
    """
    check_format(format)
    rows = rows_of(source)
    leaks = leak_report(rows)
    if validate and leaks["n_leaked"]:
        first = leaks["leaked"][0]
        raise ValueError(
            f"privileged_leak: {leaks['n_leaked']} of {len(rows)} rows say in a reply what only the grader was told, "
            f"first {first['scenario_id']!r} (rollout {first['rollout_index']}, {first['field']}); drop the rows in "
            "leak_report(rows)['leaked'], or pass validate=False"
        )
    made = training_rows(
        rows,
        system_prompt=system_prompt,
        tools=tools,
        strip_think=strip_think,
        mask_mode=mask_mode,
        unroll=unroll,
        max_tool_output_chars=max_tool_output_chars,
    )
    shaped = to_trl(made) if format == "trl" else made
    report = {
        **_report(rows, shaped, leaks, format),
        "mask_mode": mask_mode,
        "unrolled": unroll,
        "max_tool_output_chars": max_tool_output_chars,
    }
    if output is not None:
        with Path(output).open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in shaped)
        report |= {"path": str(output), "n_written": len(shaped)}
    return report


export_training = export_dataset


def tool_call_roundtrip(rows: Sequence[Mapping[str, Any]], *, format: str = "openai") -> dict[str, Any]:
    """How many tool calls the rows carry, and the rows in which one has arguments the trainer cannot read."""
    check_format(format)
    encoding, checked_for = FORMATS[format]
    checked, bad = 0, []
    for number, row in enumerate(rows):
        fine = [_readable(arguments, encoding) for arguments in _arguments(row)]
        checked += len(fine)
        if not all(fine):
            bad.append(number)
    return {"checked": checked, "invalid": len(bad), "rows": bad, "encoding": encoding, "checked_for": checked_for}


def check_format(format: str) -> None:
    if format not in FORMATS:
        raise ValueError(f"format={format!r} is not one of {', '.join(FORMATS)}")


def _report(
    rows: Sequence[Mapping[str, Any]], made: Sequence[Mapping[str, Any]], leaks: LeakReport, format: str
) -> dict[str, Any]:
    rewards = [row["reward"] for row in rows if isinstance(row.get("reward"), int | float)]
    n_fail = sum(reward < PARTIAL_PASS for reward in rewards)
    roundtrip = tool_call_roundtrip(made, format=format)
    trained = sum(sum(row["loss_mask"]) for row in made)
    return {
        "n": len(made),
        "format": format,
        "with_system": sum(any(m["role"] == "system" for m in row["messages"]) for row in made),
        "with_tools": sum("tools" in row for row in made),
        "groups": len({row["group_id"] for row in made if "group_id" in row}),
        "tool_call_roundtrip": roundtrip,
        "tool_output_truncated": sum(row.get("tool_output_truncated", 0) for row in made),
        "tool_output_chars_cut": sum(row.get("tool_output_chars_cut", 0) for row in made),
        "trained_messages": trained,
        "masked_messages": sum(len(row["loss_mask"]) for row in made) - trained,
        "privileged_leaks": dict(leaks),
        "rewards": {"n_pass": len(rewards) - n_fail, "n_fail": n_fail, "n_ungraded": len(rows) - len(rewards)},
        "warnings": list(_warnings(len(rows), n_fail, roundtrip, sum(not any(row["loss_mask"]) for row in made))),
    }


def _warnings(n_rows: int, n_fail: int, roundtrip: Mapping[str, Any], n_silent: int) -> Iterator[str]:
    if n_fail:
        yield (
            f"{n_fail} of {n_rows} rows failed (reward below {PARTIAL_PASS}): supervised training on them teaches the "
            "failure; keep the passing rows unless the trainer reads the reward"
        )
    if n_silent:
        yield f"{n_silent} rows have no agent turn, so nothing in them is trained on"
    if roundtrip["invalid"]:
        yield f"{roundtrip['invalid']} rows carry tool arguments a trainer cannot read: {roundtrip['rows'][:5]}"


def _arguments(row: Mapping[str, Any]) -> Iterator[Any]:
    for message in row.get("messages") or ():
        for call in message.get("tool_calls") or ():
            yield (call.get("function") or call).get("arguments")


def _readable(arguments: Any, encoding: str) -> bool:
    if encoding == "dict":
        return isinstance(arguments, dict)
    try:
        return isinstance(json.loads(arguments), dict)
    except (TypeError, ValueError):
        return False
