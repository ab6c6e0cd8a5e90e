"""Lists of runs: filters, pages, and the two orders."""

from __future__ import annotations

import time
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from support import otlp
from support.api import Caller

SECOND = otlp.SECOND


def ids(page: list[dict[str, Any]]) -> list[str]:
    return [run["traceId"] for run in page]


def walk(caller: Caller, **params: Any) -> list[str]:
    return [trace_id for page in caller.pages("/traces", "traces", **params) for trace_id in ids(page)]


def test_runs_come_newest_first_in_pages_that_neither_skip_nor_repeat(caller: Caller) -> None:
    begun = time.time_ns() - 100 * SECOND
    # Three runs start at the same nanosecond.
    sent = [caller.run(start=begun + (number // 3) * SECOND) for number in range(8)]
    pages = caller.pages("/traces", "traces", limit=3, **{"from": "all"})
    seen = ids(next(pages))
    caller.run()  # arrives while we page
    seen += [trace_id for page in pages for trace_id in ids(page)]
    assert sorted(seen) == sorted(sent)
    assert set(seen[:2]) == set(sent[6:])


def test_a_page_can_be_asked_for_by_number(caller: Caller) -> None:
    sent = {caller.run() for _ in range(5)}
    first = caller.get("/traces", agent="refund-bot", **{"from": "all"}, limit=2, page=1)
    assert first["pages"] == 3
    rest = [caller.get("/traces", agent="refund-bot", limit=2, page=page) for page in (2, 3, 4)]
    assert [len(page["traces"]) for page in (first, *rest)] == [2, 2, 1, 0]
    assert {trace_id for page in (first, *rest) for trace_id in ids(page["traces"])} == sent


def test_a_grader_that_keeps_its_cursor_meets_each_complete_run_once(caller: Caller) -> None:
    seen: list[str] = []
    cursor: dict[str, str] = {}

    def poll() -> None:
        while page := (answer := caller.get("/traces", order="arrived", limit=2, **cursor))["traces"]:
            seen.extend(ids(page))
            cursor["cursor"] = answer["next"]
        assert answer["next"] is None

    first = [caller.run() for _ in range(3)]
    rootless = otlp.new_trace_id()
    child, root = otlp.chat_run(rootless)
    caller.send_spans([child])
    poll()
    assert seen == first
    late = caller.run(start=time.time_ns() - 3600 * SECOND)  # began long ago, arrives now
    poll()
    assert seen == [*first, late]
    caller.clock.ahead = 61 * SECOND  # quiet for long enough: complete without a root
    poll()
    assert seen == [*first, late, rootless]
    caller.send_spans([root])
    caller.post("/v1/scores", {"traceId": first[0], "value": 1})
    caller.send_spans(otlp.chat_run(first[1])[:1])
    poll()
    assert seen == [*first, late, rootless]


def test_a_run_is_running_until_its_root_is_there(caller: Caller) -> None:
    trace_id = otlp.new_trace_id()
    child, root = otlp.chat_run(trace_id)
    caller.send_spans([child])
    assert caller.get(f"/traces/{trace_id}")["state"] == "running"
    assert ids(caller.get("/traces", state="running")["traces"]) == [trace_id]
    caller.send_spans([root])
    assert caller.get(f"/traces/{trace_id}")["state"] == "complete"
    assert ids(caller.get("/traces", state="running")["traces"]) == []
    assert ids(caller.get("/traces", state="complete")["traces"]) == [trace_id]


def test_each_filter_finds_its_runs(caller: Caller) -> None:
    now = time.time_ns()
    told = {"whileai.eval_set": "nightly", "zeroproof.model_version": "v7"}
    one = caller.run(
        agent="Refund Bot!", scenario="sc_1", model="gpt-9", reward=1.0, extra=told, start=now - 3 * 86400 * SECOND
    )
    other = caller.run(agent="triage", prompt="Wo ist mein Päckchen?", start=now - 30 * SECOND)
    spans = otlp.chat_run(failed := otlp.new_trace_id(), agent="triage", reward=0.0)
    spans[-1].status.code = Status.STATUS_CODE_ERROR
    tool = otlp.span(
        failed,
        parent=spans[-1].span_id.hex(),
        name="execute_tool lookup",
        attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup", "gen_ai.tool.call.id": "c1"},
    )
    caller.send_spans([*spans, tool], {"service.name": "shop"})
    caller.post("/v1/scores", {"traceId": other, "name": "tone", "value": 0.5})
    for query, found in (
        ({"agent": "refund bot!"}, [one]),
        ({"agent": "Refund-Bot"}, [one]),
        ({"service": "shop"}, [failed]),
        ({"model": "GPT-9"}, [one]),
        ({"tool": "lookup"}, [failed]),
        ({"evalSet": "nightly"}, [one]),
        ({"measure": "tone"}, [other]),
        ({"scenario": "sc_1"}, [one]),
        ({"verdict": "pass"}, [one]),
        ({"verdict": "fail"}, [failed]),
        ({"verdict": "none"}, [other]),
        ({"status": "error"}, [failed]),
        ({"q": "PÄCKCHEN"}, [other]),
        ({"from": "10m"}, [failed, other]),
        ({"to": "2d"}, [one]),
        ({"from": "all", "to": "2d", "verdict": "fail"}, []),
    ):
        assert ids(caller.get("/traces", **query)["traces"]) == found, query


def test_filters_take_hostile_text_literally(caller: Caller) -> None:
    scenario = "sc'\\ {x:String} %s\n\0 ☃"
    trace_id = caller.run(scenario=scenario)
    caller.run(scenario="sc")
    assert ids(caller.get("/traces", scenario=scenario)["traces"]) == [trace_id]
    assert ids(caller.get("/traces", q="' OR 1=1 --")["traces"]) == []


def test_the_list_shows_previews_only(caller: Caller) -> None:
    trace_id = caller.run(prompt="x" * 5000, answer="y" * 5000, scenario="s" * 300)
    (row,) = caller.get("/traces", state="complete")["traces"]
    assert row["traceId"] == trace_id
    assert all(len(value) <= 200 for value in row.values() if isinstance(value, str))
    assert caller.get(f"/traces/{trace_id}")["prompt"] == "x" * 5000


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "501"}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"cursor": "W10"}, "cursor"),
        ({"from": "yesterday"}, "from"),
        ({"to": "5 minutes"}, "to"),
        ({"order": "random"}, "order"),
        ({"state": "done"}, "state"),
        ({"verdict": "maybe"}, "verdict"),
        ({"status": "bad"}, "status"),
        ({"page": "0"}, "page"),
        ({"agnet": "x"}, "agnet"),
    ],
)
def test_a_malformed_parameter_is_refused_by_name(caller: Caller, query: dict[str, str], named: str) -> None:
    status, message = caller.refused("GET", "/traces", params=query)
    assert status == 400
    assert named in message


def test_without_parameters_the_list_is_of_datasets_by_name_and_day(caller: Caller) -> None:
    for name in ("alpha", "alpha", "beta"):
        caller.send_spans(otlp.chat_run(otlp.new_trace_id()), {"zeroproof.dataset": name})
    answer = caller.get("/traces")
    assert [(entry["name"], entry["rows"]) for entry in answer["traces"]] == [("alpha", 2), ("beta", 1)]
    assert all(entry["sizeBytes"] > 0 for entry in answer["traces"])
    assert answer["rows"] == 3
    listed = caller.get("/datasets")["datasets"]
    assert {(row["datasetId"], row["purpose"]) for row in listed} == {
        (entry["datasetId"], "eval") for entry in answer["traces"]
    }


def test_rows_are_the_same_list_as_a_trainer_loads_it(caller: Caller) -> None:
    ids = [caller.run(scenario="s", prompt=f"ask {number}", reward=float(number % 2)) for number in range(5)]
    caller.run(agent="another")
    pages = list(caller.pages("/traces/rows", "rows", agent="refund-bot", limit=2))
    rows = [row for page in pages for row in page]
    listed = caller.get("/traces", agent="refund-bot")["traces"]
    assert [row["lineage"]["trace_id"] for row in rows] == [run["traceId"] for run in listed]
    assert {row["lineage"]["trace_id"] for row in rows} == set(ids)
    assert {(row["schema_version"], row["scenario_id"]) for row in rows} == {("1", "s")}
    assert sorted(row["reward"] for row in rows) == [0, 0, 0, 1, 1]
    assert rows[0]["messages"][-1] == {"role": "assistant", "content": rows[0]["final_text"]}
