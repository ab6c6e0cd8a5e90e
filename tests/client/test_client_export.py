"""Rows made ready for a trainer."""

import json
from pathlib import Path
from typing import Any

import pytest

import whileai.simulations as wai

CALL = {"name": "track", "arguments": {"id": "88"}}
WIRE_CALL = {"id": "c1", "type": "function", "function": {"name": "track", "arguments": '{"id": 1}'}}
TOOL = {"type": "function", "function": {"name": "track", "parameters": {"type": "object", "properties": {}}}}
CUT_ROW: dict[str, Any] = {
    "schema_version": "1",
    "prompt": "Where is parcel 88?",
    "scenario_id": "sc_12",
    "rollout_index": 2,
    "messages": [
        {"role": "user", "content": "Where is parcel 88?"},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "name": "track", "content": '{"status": "ok"}'},
        {"role": "assistant", "content": "<think>hm</think>It left the depot."},
    ],
    "steps": [{"tool": "track", "arguments": {"id": "88"}, "result": {"status": "ok"}}, {"text": "It left the depot."}],
    "final_text": "It left the depot.",
    "policy_version": "m-1@9f2c",
    "reward": 1,
    "lineage": {"source": "traces"},
}
TWO_TURNS: dict[str, Any] = {
    "prompt": "u1",
    "scenario_id": "sc_13",
    "rollout_index": 0,
    "messages": [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "u1"},
        {"role": "assistant", "content": None, "tool_calls": [WIRE_CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "x" * 50},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "u2"},
        {"role": "assistant", "content": [{"type": "text", "text": "by"}, {"type": "text", "text": "e"}]},
    ],
    "final_text": "bye",
}


def test_a_cut_row_becomes_the_wire_row_with_ids_paired_and_thinking_gone() -> None:
    assert wai.training_rows([CUT_ROW]) == [
        {
            "messages": [
                {"role": "user", "content": "Where is parcel 88?"},
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {
                            "id": "call_0000",
                            "type": "function",
                            "function": {"name": "track", "arguments": '{"id": "88"}'},
                        }
                    ],
                },
                {"role": "tool", "content": '{"status": "ok"}', "name": "track", "tool_call_id": "call_0000"},
                {"role": "assistant", "content": "It left the depot."},
            ],
            "loss_mask": [0, 1, 0, 1],
            "reward": 1,
            "prompt": "Where is parcel 88?",
            "scenario_id": "sc_12",
            "lineage": {"source": "traces"},
            "policy_version": "m-1@9f2c",
            "schema_version": "1",
        }
    ]


def test_a_row_without_messages_is_read_from_its_steps() -> None:
    without = {key: value for key, value in CUT_ROW.items() if key != "messages"}
    assert wai.training_rows([without]) == wai.training_rows([CUT_ROW])
    steps = [{"text": "a"}, {"user": "more"}, {"tool": "t", "arguments": {"a": 1}, "result": {"b": 2}}]
    messages = wai.training_rows([{"prompt": "hi", "steps": steps, "final_text": "bye"}])[0]["messages"]
    assert [(m["role"], m["content"]) for m in messages] == [
        ("user", "hi"),
        ("assistant", "a"),
        ("user", "more"),
        ("assistant", ""),
        ("tool", '{"b": 2}'),
        ("assistant", "bye"),
    ]


def test_the_older_pull_shape_is_read_too() -> None:
    row = {"prompt": "p", "tool_trace": [{"tool": "t", "input": {"a": 1}, "output": "r"}], "final_text": "f"}
    messages = wai.training_rows([row])[0]["messages"]
    assert messages[1]["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'
    assert (messages[2]["content"], messages[3]["content"]) == ("r", "f")


def test_answers_find_their_calls_whatever_their_order() -> None:
    calls = [{"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}, {"name": "a", "arguments": {}}]
    row = {
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "tool_calls": calls},
            {"role": "tool", "name": "b", "content": "b"},
            {"role": "tool", "name": "a", "content": "a1"},
            {"role": "tool", "content": "a2"},
        ]
    }
    messages = wai.training_rows([row])[0]["messages"]
    assert [call["id"] for call in messages[1]["tool_calls"]] == ["call_0000", "call_0001", "call_0002"]
    assert [message["tool_call_id"] for message in messages[2:]] == ["call_0001", "call_0000", "call_0002"]


def test_content_of_parts_and_of_nothing_becomes_text() -> None:
    messages = wai.training_rows([TWO_TURNS])[0]["messages"]
    assert (messages[2]["content"], messages[6]["content"]) == ("", "bye")


def test_a_system_prompt_is_added_only_where_there_is_none() -> None:
    first, second = wai.training_rows([CUT_ROW, TWO_TURNS], system_prompt="SYS", tools=[TOOL])
    assert first["messages"][0] == {"role": "system", "content": "SYS"}
    assert [m["content"] for m in second["messages"] if m["role"] == "system"] == ["S"]
    assert first["loss_mask"] == [0, 0, 1, 0, 1]
    assert first["tools"] == [TOOL]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("<think>a\nb</think>\n\nyes", "yes"),
        ("a</think>yes", "yes"),
        ("<think>never closed", ""),
        ("<think>a</think>b<think>c</think>d", "bd"),
        ("I think> so", "I think> so"),
    ],
)
def test_thinking_is_left_out_and_kept_when_asked(said: str, kept: str) -> None:
    row = {"prompt": "p", "steps": [], "final_text": said}
    assert wai.training_rows([row])[0]["messages"][-1]["content"] == kept
    assert wai.training_rows([row], strip_think=False)[0]["messages"][-1]["content"] == said


def test_only_the_last_turn_is_trained_when_asked() -> None:
    assert wai.training_rows([TWO_TURNS])[0]["loss_mask"] == [0, 0, 1, 0, 1, 0, 1]
    assert wai.training_rows([TWO_TURNS], mask_mode="final")[0]["loss_mask"] == [0, 0, 0, 0, 0, 0, 1]
    assert wai.loss_mask([{"role": "user"}], mode="final") == [0]


def test_unrolled_every_turn_is_trained_once_with_the_context_it_had() -> None:
    rows = wai.training_rows([TWO_TURNS], unroll=True)
    assert [row["loss_mask"] for row in rows] == [[0, 0, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 1]]
    assert [row["unroll"] for row in rows] == [{"turn": turn, "turns": 3} for turn in (1, 2, 3)]
    assert rows[0]["lineage"]["unrolled_from"]["scenario_id"] == "sc_13"


def test_long_tool_output_is_cut_out_loud() -> None:
    row = wai.training_rows([TWO_TURNS], max_tool_output_chars=10)[0]
    assert row["messages"][3]["content"] == "x" * 10 + "\n[... 40 chars of tool output truncated]"
    assert (row["tool_output_truncated"], row["tool_output_chars_cut"]) == (1, 40)
    assert TWO_TURNS["messages"][3]["content"] == "x" * 50
    assert "tool_output_truncated" not in wai.training_rows([TWO_TURNS], max_tool_output_chars=50)[0]


def test_a_group_says_how_it_went() -> None:
    rows = wai.training_rows([CUT_ROW, {**CUT_ROW, "reward": 0}, {**CUT_ROW, "reward": None}, TWO_TURNS])
    assert {key: rows[0][key] for key in ("k", "n0", "n1", "reward_mean", "reward_std")} == {
        "k": 3,
        "n0": 1,
        "n1": 1,
        "reward_mean": 0.5,
        "reward_std": 0.5,
    }
    assert rows[0]["group_id"] == rows[2]["group_id"]
    assert "group_id" not in rows[3]


def test_the_trl_shape_has_objects_for_arguments_and_no_prompt_column() -> None:
    row = wai.to_trl(wai.training_rows([TWO_TURNS]))[0]
    assert row["messages"][2]["tool_calls"][0]["function"]["arguments"] == {"id": 1}
    assert "prompt" not in row
    assert row["prompt_text"] == "u1"


def test_arguments_that_are_no_json_are_counted_not_replaced() -> None:
    bad = {"messages": [{"role": "assistant", "tool_calls": [{"name": "t", "arguments": "{half"}]}]}
    rows = wai.training_rows([CUT_ROW, bad])
    wire, trl = wai.tool_call_roundtrip(rows), wai.tool_call_roundtrip(wai.to_trl(rows), format="trl")
    assert (wire["checked"], wire["invalid"], wire["rows"], wire["encoding"]) == (2, 1, [1], "json_string")
    assert (trl["checked"], trl["invalid"], trl["rows"], trl["encoding"]) == (2, 1, [1], "dict")


@pytest.mark.parametrize(("format", "arguments"), [("openai", '{"id": "88"}'), ("trl", {"id": "88"})])
def test_a_file_is_written_and_reported_on(tmp_path: Path, format: str, arguments: object) -> None:
    path = tmp_path / "sft.jsonl"
    report = wai.export_dataset([CUT_ROW, {**CUT_ROW, "reward": 0}, TWO_TURNS], str(path), format=format)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[0]["messages"][1]["tool_calls"][0]["function"]["arguments"] == arguments
    assert ("prompt" in rows[0]) is (format == "openai")
    assert {key: value for key, value in report.items() if key not in ("tool_call_roundtrip", "privileged_leaks")} == {
        "n": 3,
        "format": format,
        "with_system": 1,
        "with_tools": 0,
        "groups": 1,
        "tool_output_truncated": 0,
        "tool_output_chars_cut": 0,
        "trained_messages": 7,
        "masked_messages": 8,
        "rewards": {"n_pass": 1, "n_fail": 1, "n_ungraded": 1},
        "warnings": [
            "1 of 3 rows failed (reward below 0.5): supervised training on them teaches the failure; "
            "keep the passing rows unless the trainer reads the reward"
        ],
        "mask_mode": "assistant",
        "unrolled": False,
        "max_tool_output_chars": None,
        "path": str(path),
        "n_written": 3,
    }


def test_the_two_names_are_one_function_and_files_and_containers_are_sources(tmp_path: Path) -> None:
    assert wai.export_training is wai.export_dataset
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(CUT_ROW) + "\n\n")

    class Container:
        def __init__(self) -> None:
            self.rows = [CUT_ROW]

    assert wai.training_rows(file) == wai.training_rows(Container()) == wai.training_rows([CUT_ROW])


def test_a_reply_that_quotes_what_the_grader_was_told_is_not_exported(tmp_path: Path) -> None:
    secret = {"principle": "Refund within   30 days", "nested": {"list": ["short"]}}
    leaky = {
        **TWO_TURNS,
        "privileged": secret,
        "messages": [{"role": "assistant", "content": "refund within 30 days!"}],
    }
    clean = {**CUT_ROW, "privileged": secret}
    report = wai.leak_report([leaky, clean, TWO_TURNS])
    assert (report["n_rows"], report["n_checked"], report["n_leaked"], report["rate"]) == (3, 2, 1, 0.5)
    assert report["leaked"][0]["field"] == "principle"
    assert str(report) == report["summary"]
    with pytest.raises(ValueError, match="privileged_leak: 1 of 2 rows"):
        wai.export_dataset([leaky, clean], str(tmp_path / "x.jsonl"))
    assert not (tmp_path / "x.jsonl").exists()
    assert wai.export_dataset([leaky], validate=False)["n"] == 1
    assert "privileged" not in wai.training_rows([clean])[0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: wai.training_rows([CUT_ROW], mask_mode="x"), "mask_mode='x' is not one of assistant, final"),
        (lambda: wai.export_dataset([CUT_ROW], format="x"), "format='x' is not one of openai, trl"),
        (lambda: wai.to_trl([], "x"), "kind='x'"),
        (lambda: wai.training_rows(["text"]), "row 0 is a str"),
    ],
)
def test_a_wrong_word_is_refused_with_the_right_ones(call: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()


@pytest.mark.parametrize(("text", "said"), [('{"a": 1}\n{', "line 2: not JSON"), ("[]", "line 1: a row is an object")])
def test_a_bad_line_of_a_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(text)
    with pytest.raises(ValueError, match=said):
        wai.training_rows(str(file))
