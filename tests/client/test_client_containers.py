"""The containers of rows, and pushing them."""

import json
from pathlib import Path
from typing import Any

import pytest
from client.recording_service import Answer, Service

import whileai.simulations as wai

REWARDS = [1, 0, 0.5, None, True, 0.0]
ROWS: list[dict[str, Any]] = [
    {"prompt": f"p{n}", "scenario_id": f"sc_{n}", "reward": reward} for n, reward in enumerate(REWARDS)
]
RUN: dict[str, Any] = {
    "prompt": "Where is 88?",
    "scenario_id": "sc_1",
    "steps": [{"tool": "track", "arguments": {"id": "88"}, "result": "left"}],
    "final_text": "<think>hm</think>It left.",
    "privileged": {"principle": "never say when"},
    "judge_meta": {"kept": 1, "rubric": "hidden", "list": [{"reference": "hidden", "kept": 2}]},
}


@pytest.fixture
def storing(platform: Service) -> Service:
    platform.answers("POST", "/datasets", {"datasetId": "ds_1", "uploadUrl": "/upload"})
    platform.answers("PUT", "/upload", Answer(200, b""))
    platform.answers("POST", "/datasets/ds_1/finalize", {"datasetId": "ds_1"})
    platform.answers("POST", "/agents", {"name": "bot"})
    return platform


def prompts(rows: list[dict[str, Any]]) -> list[str]:
    return [row["prompt"] for row in rows]


def test_graded_rows_are_told_apart_and_a_missing_grade_is_no_fail() -> None:
    scored = wai.ScoredData(ROWS, run_id="r", source="grade", judge_name="j")
    assert prompts(scored.passes()) == ["p0", "p4"]
    assert prompts(scored.failures()) == prompts(scored.failed_traces()) == prompts(scored.traces) == ["p1", "p5"]
    assert prompts(scored.partials()) == ["p2"]
    assert prompts(scored.unjudged()) == ["p3"]
    assert prompts(scored.select_by_reward_range(0, 0.5)) == ["p1", "p2", "p5"]
    assert prompts(scored.select_by_reward(0.5)) == ["p2"]
    assert scored.rows() == list(scored.rows) == ROWS
    assert len(scored) == 6


def test_scored_rows_are_saved_and_pushed_as_they_are(storing: Service, tmp_path: Path) -> None:
    scored = wai.ScoredData([RUN], run_id="r", source="grade", judge_name="j")
    path = scored.save(str(tmp_path / "s.jsonl"))
    assert json.loads(Path(path).read_text()) == RUN
    assert scored.push("n", mode="rl")["datasetId"] == "ds_1"
    assert storing.requests[0].json == {"name": "n", "mode": "rl"}
    assert json.loads(storing.requests[1].body) == RUN


def test_runs_become_rows_with_messages_and_without_what_only_a_grader_may_see() -> None:
    data = wai.SimulationData([RUN])
    (row,) = data.rows()
    assert "hidden" not in json.dumps(row)
    assert "never say when" not in json.dumps(row)
    assert row["judge_meta"] == {"kept": 1, "list": [{"kept": 2}]}
    assert row["schema_version"] == "1"
    assert [message["role"] for message in row["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert row["messages"][1]["tool_calls"][0]["function"]["arguments"] == {"id": "88"}
    assert row["messages"][3]["content"] == RUN["final_text"]
    assert (len(data), list(data)) == (1, [RUN])
    assert data.leak_report()["n_checked"] == 1
    assert wai.training_rows(data)[0]["messages"][3]["content"] == "It left."


def test_a_push_describes_the_agent_by_what_was_run(storing: Service) -> None:
    tools = [{"type": "function", "function": {"name": "track"}}]
    data = wai.SimulationData([RUN], mode="rl", tools=tools, system_prompt="Be brief.")
    assert data.push("n", agent="bot", gate=False)["datasetId"] == "ds_1"
    assert storing.requests[0].json == {"name": "n", "purpose": "train", "mode": "rl", "agent": "bot"}
    assert json.loads(storing.requests[1].body) == data.rows[0]
    assert storing.last.json == {"name": "bot", "tools": tools, "system_prompt": "Be brief."}


def test_a_push_stands_when_the_agent_could_not_be_described(storing: Service) -> None:
    storing.answers("POST", "/agents", Answer(400, {"error": "a tool has no name"}))
    data = wai.SimulationData([RUN])
    with pytest.warns(UserWarning, match="the rows are stored, but bot was not described: .*a tool has no name"):
        assert data.push("n", agent="bot", gate=False)["datasetId"] == "ds_1"


def test_a_saved_run_is_a_source_of_rows(tmp_path: Path) -> None:
    data = wai.SimulationData([RUN, RUN])
    path = data.save(str(tmp_path / "d.jsonl"))
    assert wai.export_dataset(path)["n"] == 2
