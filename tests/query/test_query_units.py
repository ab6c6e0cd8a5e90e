"""The pure parts: windows, cursors, buckets; and files that appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from whileai_dialects import LogRecord
from whileai_ingest.items import TraceItems
from whileai_query import Objects
from whileai_query.answers import encode_json
from whileai_query.cursors import read_cursor, write_cursor
from whileai_query.cutting import Rules, Task, bucket_of, chosen, rl_verdict, side_of
from whileai_query.errors import BadRequest
from whileai_query.windows import NS, read_moment

NOW = 1_800_000_000 * NS


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("all", None),
        ("90s", NOW - 90 * NS),
        ("15m", NOW - 900 * NS),
        ("24H", NOW - 86_400 * NS),
        ("7d", NOW - 7 * 86_400 * NS),
        ("999999999d", 0),
        ("1970-01-02", 86_400 * NS),
        ("1970-01-01T00:00:01.5Z", 3 * NS // 2),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T01:00:00 01:00", 0),
        ("9999-12-31", 2**63 - 1),
        ("0001-01-01", 0),
    ],
)
def test_a_moment_is_a_time_back_or_an_iso_time(text: str, moment: int | None) -> None:
    assert read_moment("from", text, NOW) == moment


@pytest.mark.parametrize("text", ["", "7", "7w", "-1h", "1.5h", "now", "2026-13-01", "٣h"])
def test_what_is_no_moment_is_refused_by_name(text: str) -> None:
    with pytest.raises(BadRequest, match="to="):
        read_moment("to", text, NOW)


def test_a_cursor_gives_its_place_back() -> None:
    place: list[int | str] = [2**63 - 1, "sc ☃'\\\0"]
    assert read_cursor(write_cursor(place), (int, str)) == place


@pytest.mark.parametrize("cursor", ["", "!", "W10", write_cursor(["a", 1]), write_cursor([2**70, "a"]), "é"])
def test_a_foreign_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(BadRequest, match="cursor"):
        read_cursor(cursor, (int, str))


@pytest.mark.parametrize(
    ("passed", "graded", "bucket"),
    [
        (0, 0, "ungraded"),
        (1, 1, "too_few"),
        (0, 5, "never"),
        (1, 6, "never"),
        (1, 5, "in_band"),
        (4, 5, "in_band"),
        (5, 6, "solved"),
        (2, 2, "solved"),
    ],
)
def test_both_edges_of_the_band_count(passed: int, graded: int, bucket: str) -> None:
    assert bucket_of(Task("sc", graded + 1, graded, passed), Rules()) == bucket


def test_a_wide_band_takes_what_is_always_or_never_passed() -> None:
    rules = Rules(low=0, high=1)
    assert [rl_verdict(Task("sc", 2, 2, passed), rules).included for passed in (0, 1, 2)] == [True, True, True]


def test_a_task_keeps_its_side_and_its_place() -> None:
    rules = Rules(holdout=0.333)
    assert [side_of(f"sc_{number}", rules) for number in range(6)] == ["train"] * 5 + ["holdout"]
    tasks = [Task(name, 2, 2, 1) for name in ("b", "a", "\U0001f600", "\uffff")]
    assert [task.scenario_id for task in chosen(tasks, "rl", rules)] == ["a", "b", "\uffff", "\U0001f600"]


@pytest.mark.parametrize("rules", [{"low": float("nan")}, {"high": 1.1}, {"low": 0.9}, {"holdout": float("nan")}])
def test_rules_that_make_no_sense_are_refused(rules: dict[str, float]) -> None:
    with pytest.raises(BadRequest):
        Rules(**rules)


def test_json_always_encodes() -> None:
    assert encode_json({"a": float("nan"), "b": "x"}) == b'{"a":null,"b":"x"}'
    assert (
        encode_json({"a": "\ud800", "b": [float("inf"), 2**80]})
        == b'{"a":"\\ud800","b":[null,1208925819614629174706176]}'
    )


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    objects = Objects(f"file://{tmp_path}/objects")
    with pytest.raises(TypeError), objects.writing("acc/ds/rows.jsonl") as file:
        file.writelines([b"half", None])  # type: ignore[list-item]  # fails after the first half
    assert list(tmp_path.rglob("*.*")) == []
    with objects.writing("acc/ds/rows.jsonl") as file:
        file.write(b"whole")
        with pytest.raises(FileNotFoundError):
            objects.read("acc/ds/rows.jsonl")
    assert (b"".join(objects.read("acc/ds/rows.jsonl")), objects.size("acc/ds/rows.jsonl")) == (b"whole", 5)
    objects.delete("acc/ds/rows.jsonl")
    objects.delete("acc/ds/rows.jsonl")
    with pytest.raises(FileNotFoundError):
        objects.size("acc/ds/rows.jsonl")


@pytest.mark.parametrize("key", ["", "/etc/passwd", "../x", "a/../x", "a//x", "a/.hidden", "a\0b", "a b"])
def test_a_key_that_is_not_ours_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="no key of ours"):
        Objects(f"file://{tmp_path}").size(key)


def test_log_records_tell_their_story_in_order_whatever_the_order_they_are_read_in() -> None:
    records = [LogRecord("a" * 32, "b" * 16, time=time, version=version) for time, version in ((2, 9), (1, 8), (1, 7))]
    items = TraceItems()
    for number, record in enumerate(records):
        items.add_log(str(number), record)
    assert items.told_logs() == list(reversed(records))
