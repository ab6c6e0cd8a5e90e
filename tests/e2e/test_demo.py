"""`make demo` as a visitor runs it: real processes, real spans, two files."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 170
# How many of the six runs of a task passed, for the tasks that pass some of the time.
PASSED = {
    "refunds/changed-mind": 4,
    "refunds/damaged-mug": 3,
    "refunds/duplicate-charge": 2,
    "refunds/late-parcel": 3,
    "refunds/lost-parcel": 3,
    "refunds/missing-item": 3,
    "refunds/outside-window": 3,
    "refunds/wrong-size": 4,
}
HELD_OUT = {"refunds/damaged-mug", "refunds/duplicate-charge"}

Row = dict[str, Any]


@dataclass(frozen=True)
class Demo:
    """What one run of the demo left behind."""

    output: str
    folder: Path
    service: psutil.Process
    url: str
    key: str
    train: list[Row]
    holdout: list[Row]


def environment(data: Path) -> dict[str, str]:
    return {**os.environ, "DEMO_DATA": str(data), "MAKEFLAGS": ""}


def service_in(folder: Path) -> psutil.Process:
    return psutil.Process(json.loads((folder / "data" / "lock").read_text())["pid"])


def rows_of(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    data = tmp_path_factory.mktemp("demo")
    command = ["make", "--no-print-directory", "demo", "KEEP=1"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(data), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = data.iterdir()
    service = service_in(folder)
    stored = json.loads((folder / "home" / "credentials.json").read_text())
    try:
        yield Demo(
            done.stdout,
            folder,
            service,
            stored["api_url"],
            stored["api_key"],
            rows_of(folder / "train.jsonl"),
            rows_of(folder / "holdout.jsonl"),
        )
    finally:
        service.terminate()
        service.wait(60)


def test_both_files_hold_every_run_of_their_tasks(demo: Demo) -> None:
    train, holdout = (Counter(row["scenario_id"] for row in rows) for rows in (demo.train, demo.holdout))
    assert train == {task: 6 for task in PASSED if task not in HELD_OUT}
    assert holdout == dict.fromkeys(HELD_OUT, 6)


def test_no_task_is_on_both_sides_and_the_rule_decides_which(demo: Demo) -> None:
    for rows, held_out in ((demo.train, False), (demo.holdout, True)):
        for row in rows:
            bucket = int(hashlib.sha256(row["scenario_id"].encode()).hexdigest()[:8], 16) / (16**8 - 1)
            assert (bucket < 0.2) is held_out


def test_rewards_are_the_grades_that_were_sent(demo: Demo) -> None:
    rows = [*demo.train, *demo.holdout]
    assert {row["reward"] for row in rows} == {0.0, 1.0}
    assert Counter(row["scenario_id"] for row in rows if row["reward"] == 1.0) == PASSED


def test_a_row_passes_exactly_when_its_own_steps_pay_back_what_was_owed(demo: Demo) -> None:
    owed = {
        "A-1001": 18.5,
        "A-1002": 4.99,
        "A-1003": 89.0,
        "A-1004": 42.0,
        "A-1005": 25.0,
        "A-1006": 50.0,
        "A-1007": 12.0,
    }
    for row in [*demo.train, *demo.holdout]:
        calls = [call["function"] for message in row["messages"] for call in message.get("tool_calls") or []]
        paid = [
            (call["arguments"]["order_id"], call["arguments"]["amount"])
            for call in calls
            if call["name"] == "issue_refund"
        ]
        order = next(order for order in [*owed, "A-1008"] if order in row["prompt"])
        right = [(order, owed[order])] if order in owed else []
        assert (row["reward"] == 1.0) is (paid == right)


def test_a_row_is_a_whole_conversation_with_its_tools_and_its_origin(demo: Demo) -> None:
    rows = [*demo.train, *demo.holdout]
    assert len({row["lineage"]["trace_id"] for row in rows}) == len(rows)
    for row in rows:
        roles = [message["role"] for message in row["messages"]]
        assert roles[:2] == ["system", "user"]
        assert roles[-1] == "assistant"
        asked = [call["id"] for message in row["messages"] for call in message.get("tool_calls") or []]
        assert asked == [message["tool_call_id"] for message in row["messages"] if message["role"] == "tool"]
        assert [tool["function"]["name"] for tool in row["tools"]] == ["lookup_order", "issue_refund"]
        assert row["model_version"] == "gpt-4o-mini"
        assert row["usage"]["input_tokens"] > row["usage"]["output_tokens"] > 0
        assert row["lineage"]["source"] == "traces"
    for task in PASSED:
        assert sorted(row["rollout_index"] for row in rows if row["scenario_id"] == task) == [0, 1, 2, 3, 4, 5]


def test_it_says_what_it_did_and_where_to_look(demo: Demo) -> None:
    assert "42 passed, 30 failed" in demo.output
    assert "8 tasks are worth training on (48 runs; 6 tasks to train, 2 held out)" in demo.output
    assert str(demo.folder / "train.jsonl") in demo.output
    assert str(demo.folder / "holdout.jsonl") in demo.output
    assert demo.url in demo.output
    assert f"kill {demo.service.pid}" in demo.output


def test_keep_leaves_the_service_running_with_every_run(demo: Demo) -> None:
    with httpx.Client(base_url=demo.url, headers={"x-api-key": demo.key}, timeout=30) as client:
        runs = client.get("/traces", params={"agent": "refund-desk", "limit": "500"}).raise_for_status().json()
        assert len(runs["traces"]) == 72
        (agent,) = client.get("/agents").raise_for_status().json()["agents"]
        run = client.get(f"/traces/{runs['traces'][0]['traceId']}").raise_for_status().json()
    assert (agent["name"], agent["traces"]) == ("refund-desk", 72)
    assert run["costUsd"] > 0
    assert run["status"] == "ok"


def test_an_interrupted_demo_leaves_no_process_behind(tmp_path: Path) -> None:
    interpreter = ROOT / ".venvs" / "demo" / "bin" / "python"
    process = subprocess.Popen(
        [interpreter, "-m", "demo.run"], cwd=ROOT, env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    )
    with process:
        wait_for(process, "running the agent")
        (folder,) = tmp_path.iterdir()
        service = service_in(folder)
        started = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert service in started
    assert psutil.wait_procs(started, timeout=30)[1] == []


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    """Read the output up to a line with `text`; fails when it ends before."""
    assert process.stdout is not None
    watchdog = threading.Timer(SECONDS, process.kill)
    watchdog.start()
    try:
        assert any(text in line for line in process.stdout), f"the demo ended without saying {text!r}"
    finally:
        watchdog.cancel()
