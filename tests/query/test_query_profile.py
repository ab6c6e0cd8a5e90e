"""The profile of a set: what ClickHouse counts of rows of every shape, and that nothing of them stays there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.clickhouse_server import clickhouse_port, database_url

from whileai_ingest import Store
from whileai_ingest.migrations import migrate
from whileai_query import Services
from whileai_query.profile import BATCH_LINES, profile_of

Profile = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """ClickHouse as a server, with the schema."""
    with clickhouse_port(tmp_path_factory.mktemp("server")) as port:
        store = Store(database_url(port))
        migrate(store)
        yield store
        store.close()


@pytest.fixture(params=["embedded", "server"])
def profile(request: pytest.FixtureRequest, services: Services, tmp_path: Path) -> Profile:
    """The profile of some rows, on either ClickHouse."""
    store = services.ingest.store if request.param == "embedded" else request.getfixturevalue("server")

    def count(*rows: dict[str, Any]) -> dict[str, Any]:
        file = tmp_path / "rows.jsonl"
        file.write_bytes(b"\n".join([*map(orjson.dumps, rows), b"", b"  "]) if rows else b"")
        told = profile_of(store, "acc_tests", file)
        assert store.query("SELECT count() FROM scratch_lines") == [(0,)]
        return told

    return count


def tasks(told: dict[str, Any]) -> dict[str, tuple[int, int, float | None]]:
    return {task["task"]: (task["rows"], task["graded"], task["pass_rate"]) for task in told["per_task"]}


def test_a_task_is_the_scenario_else_the_task_id_else_the_prompt(profile: Profile) -> None:
    told = profile(
        {"scenario_id": "s", "task_id": "t", "prompt": "p"},
        {"scenario_id": "", "task_id": "t", "prompt": "p"},
        {"scenario_id": None, "prompt": "p"},
        {"scenario_id": 0, "task_id": 12},
        {"messages": []},
        {"scenario_id": 'ünï "quoted" \\ \n'},
    )
    assert set(tasks(told)) == {"s", "t", "p", "12", "", 'ünï "quoted" \\ \n'}


def test_half_a_reward_is_a_pass_and_what_is_no_number_is_no_grade(profile: Profile) -> None:
    told = profile(
        {"prompt": "a", "reward": 0.5},
        {"prompt": "a", "reward": 0.49},
        {"prompt": "a", "reward": True},
        {"prompt": "a", "reward": None},
        {"prompt": "a", "reward": "1"},
        {"prompt": "a"},
        {"prompt": "b", "reward": 1e300},
    )
    assert told["split"] == {"pass": 3, "fail": 1, "ungraded": 3}
    assert tasks(told) == {"a": (6, 3, 2 / 3), "b": (1, 1, 1.0)}
    assert (told["mixed_tasks"], told["tasks_with_repeats"]) == (1, 1)


def test_a_tool_counts_once_for_each_row_wherever_it_is_told(profile: Profile) -> None:
    told = profile(
        {"prompt": "a", "steps": [{"tool": "find", "arguments": {}}, {"tool": "find"}, {"text": "done"}]},
        {
            "prompt": "a",
            "messages": [{"role": "assistant", "tool_calls": [{"name": "find"}, {"function": {"name": "buy"}}]}],
        },
        {"prompt": "a", "steps": "none", "messages": [{"role": "user", "content": "x"}, 7]},
    )
    assert told["tool_use"] == {
        "rows_with_tools": 2,
        "tools": [{"tool": "find", "rows": 2}, {"tool": "buy", "rows": 1}],
    }
    assert told["mean_steps"] == 1.0


def test_answers_are_counted_by_their_length(profile: Profile) -> None:
    lengths = [0, 15, 16, 1000]
    rows: list[dict[str, Any]] = [{"prompt": "a", "final_text": "é" * length} for length in lengths]
    told = profile(*rows, {"prompt": "a", "final_text": 7})
    assert told["answer_chars"] == [{"below": 16, "rows": 2}, {"below": 32, "rows": 1}, {"below": 1024, "rows": 1}]


def test_no_rows_have_a_profile_too(profile: Profile) -> None:
    told = profile()
    assert (told["rows"], told["tasks"], told["pass_rate"], told["mean_steps"]) == (0, 0, None, None)
    assert told["support"] == {"least": 0, "most": 0, "mean": None}


def test_many_rows_are_counted_in_batches(profile: Profile) -> None:
    count = 2 * BATCH_LINES + 1
    told = profile(*({"scenario_id": f"s{number % 10}", "reward": number % 2} for number in range(count)))
    assert (told["rows"], told["tasks"]) == (count, 10)
