"""Tracked agents over the API: what is said comes back, nonsense is refused, what repeats changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from dirty_equals import IsList, IsPartialDict, IsStr
from support import otlp
from support.api import Caller

DAY = 24 * 3600 * otlp.SECOND
JUDGE = {"agreement": 0.86, "humanN": 60, "lengthBias": 0.08}
REFUNDS = {
    "testVersion": "v2",
    "n": 240,
    "judge": JUDGE,
    "noiseFloor": 2.4,
    "contamination": 0,
    "rewardIsJudge": False,
}


@pytest.fixture
def agent(caller: Caller) -> str:
    """A tracked agent; its id."""
    said = {"id": "Refund-Bot", "name": "Refund Bot!", "model": "m-1", "frontier": {"name": "Frontier", "score": 81}}
    made = caller.post("/agents", said)
    return str(made["id"])


def begin(caller: Caller, agent: str, version: str, **told: Any) -> str:
    """A run; its id."""
    return str(caller.post("/runs", {"agent": agent, "version": version, "targets": [], "trainedOn": [], **told})["id"])


def score(caller: Caller, run: str, behavior: str, value: float, **told: Any) -> None:
    caller.post(f"/runs/{run}/evals", [{"behavior": behavior, "score": value, **told}])


def board(caller: Caller, agent: str, **query: Any) -> Any:
    return caller.get(f"/agents/{agent}/dashboard", **query)


def send_run(caller: Caller, agent: str, version: str, **told: Any) -> str:
    return caller.run(agent=agent, extra={"whileai.model_version": version}, **told)


def test_what_is_absent_leaves_the_record_of_the_agent_alone(caller: Caller, agent: str) -> None:
    caller.post("/agents", {"id": agent, "name": "Refund Bot!", "harness": {"label": "h-1", "hash": "x", "tools": []}})
    (row,) = caller.get("/agents")["agents"]
    assert row == IsPartialDict(
        id="Refund-Bot", name="Refund Bot!", model="m-1", harness={"label": "h-1", "hash": "x", "tools": []}
    )
    assert row["frontier"] == {"name": "Frontier", "score": 81}
    assert "serving" not in row
    assert "candidate" not in row


@pytest.mark.parametrize(
    ("frontier", "field"),
    [({}, "frontier.name"), ({"name": ""}, "frontier.name"), ({"name": "x", "costPer1k": -1}, "frontier.costPer1k")],
)
def test_a_frontier_that_no_client_could_read_is_refused(caller: Caller, frontier: Any, field: str) -> None:
    status, told = caller.refused("POST", "/agents", json={"name": "bot", "frontier": frontier})
    assert (status, told.partition(":")[0]) == (400, field)


def test_a_behavior_is_declared_listed_and_replaced(caller: Caller, agent: str) -> None:
    path = f"/agents/{agent}/behaviors"
    made = caller.request("PUT", f"{path}/refunds", json=REFUNDS).json()
    assert made == {"name": "refunds", **REFUNDS}
    assert caller.request("PUT", f"{path}/length", json={"n": 9}).status_code == 200
    assert caller.get(path) == {"behaviors": [{"name": "length", "n": 9}, made]}
    caller.request("PUT", f"/agents/{agent.lower()}/behaviors/length", json={"description": "<b>short</b>"})
    assert caller.get(path)["behaviors"][0] == {"name": "length", "description": "<b>short</b>"}


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"n": 0}, "n"),
        ({"n": "240"}, "n"),
        ({"n": True}, "n"),
        ({"n": 2**70}, "n"),
        ({"noiseFloor": -1}, "noiseFloor"),
        ({"contamination": -1}, "contamination"),
        ({"contamination": 0.5}, "contamination"),
        ({"judge": {"agreement": 1.1}}, "judge.agreement"),
        ({"judge": {"lengthBias": -2}}, "judge.lengthBias"),
        ({"judge": []}, "judge"),
        ({"rewardIsJudge": "yes"}, "rewardIsJudge"),
        ({"description": "x" * 401}, "description"),
    ],
)
def test_a_behavior_that_makes_no_sense_is_refused_by_its_field(
    caller: Caller, agent: str, said: dict[str, Any], field: str
) -> None:
    status, told = caller.refused("PUT", f"/agents/{agent}/behaviors/refunds", json=said)
    assert (status, told.partition(":")[0]) == (400, field)
    assert caller.get(f"/agents/{agent}/behaviors") == {"behaviors": []}


@pytest.mark.parametrize("name", ["-x", ".x", "a b", "é", "x" * 65, "a%00b", "%F0%9F%92%A9"])
def test_a_name_that_is_no_behavior_is_refused(caller: Caller, agent: str, name: str) -> None:
    status, told = caller.refused("PUT", f"/agents/{agent}/behaviors/{name}", json={})
    assert (status, told.partition(":")[0]) == (400, "name")


def test_the_same_id_makes_one_run(caller: Caller, agent: str) -> None:
    body = {
        "agent": agent,
        "version": "v4",
        "id": "train.4",
        "method": "GRPO",
        "targets": ["refunds"],
        "trainedOn": ["refunds-grpo"],
        "harness": "h-1",
        "record": {"data": {"nTrain": 10, "mine": [1]}, "optimizer": {"lr": 1e-6, "scale_rewards": False}, "own": {}},
    }
    made = caller.post("/runs", body)
    assert made == IsPartialDict(id="train.4", runId="train.4", agent="Refund-Bot", version="v4", status="running")
    assert made["record"] == body["record"]
    assert caller.post("/runs", body) == made
    assert caller.get("/runs", agent=agent.upper())["runs"] == [made]
    assert caller.get("/runs")["runs"] == [made]
    status, told = caller.refused("POST", "/runs", json={**body, "version": "v5"})
    assert status == 409
    assert "train.4" in told


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"version": ""}, "version"),
        ({"version": "   "}, "version"),
        ({"version": "v" * 41}, "version"),
        ({"version": None}, "version"),
        ({"version": 4}, "version"),
        ({"method": "x" * 21}, "method"),
        ({"targets": "refunds"}, "targets"),
        ({"targets": ["a b"]}, "targets.0"),
        ({"targets": ["x"] * 501}, "targets"),
        ({"id": ""}, "id"),
        ({"id": "a/b"}, "id"),
        ({"id": "../x"}, "id"),
        ({"id": "x" * 65}, "id"),
        ({"record": []}, "record"),
        ({"record": {"data": {"nTrain": -1}}}, "record.data.nTrain"),
        ({"record": {"provenance": {"pins": {"torch": 2}}}}, "record.provenance.pins.torch"),
        ({"agent": ""}, "agent"),
        ({"agent": ["x"]}, "agent"),
    ],
)
def test_a_run_that_makes_no_sense_is_refused_by_its_field(
    caller: Caller, agent: str, said: dict[str, Any], field: str
) -> None:
    status, told = caller.refused("POST", "/runs", json={"agent": agent, "version": "v1", **said})
    assert (status, told.partition(":")[0]) == (400, field)
    assert caller.get("/runs")["runs"] == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "not JSON"),
        (b"[]", "the body"),
        (b"null", "the body"),
        (b'{"agent": "Refund-Bot", "version": "v1", "record": {"x": NaN}}', "NaN"),
        (b'{"agent": "Refund-Bot", "version": "v1", "record": {"x": 1e999}}', "1e999"),
        (b'{"agent": "Refund-Bot", "version": "v1", "record": ' + b'{"x":' * 70 + b"1" + b"}" * 71, "deep"),
        (b'{"agent": "Refund-Bot", "version": "v1", "record": ' + b'{"x":' * 5000 + b"1" + b"}" * 5001, "body"),
        (b'{"agent": "Refund-Bot", "version": "\xff"}', "not JSON"),
        (b'{"name": "sft-v3", "base_model": "m"}', "send agent and version"),
    ],
)
@pytest.mark.usefixtures("agent")
def test_a_body_that_is_none_is_refused(caller: Caller, body: bytes, says: str) -> None:
    status, told = caller.refused("POST", "/runs", content=body)
    assert status == 400
    assert says in told


def test_strange_text_survives_in_a_record(caller: Caller, agent: str) -> None:
    record = {"data": {"train": "nul \x00 é 客 \u202e", "<script>": "</script>"}}
    run = begin(caller, agent, "v\u202e1", record=record, base="<img src=x onerror=alert(1)>")
    told = caller.get(f"/runs/{run}")
    assert (told["record"], told["version"]) == (record, "v\u202e1")


def test_a_run_is_ended_and_ended_again(caller: Caller, agent: str) -> None:
    run = begin(caller, agent, "v1", record={"data": {"train": "t"}})
    path = f"/runs/{run}"
    first = {"status": "evaluated", "hours": 2.1, "gpu": "1xH100", "costUsd": 31, "summary": {"train_loss": 0.4}}
    assert caller.request("PATCH", path, json=first).status_code == 200
    later = {"status": "evaluated", "steps": 400, "record": {"eval": {"k": 4}}, "summary": {"note": "x"}}
    told = caller.request("PATCH", path, json=later).json()
    assert told == IsPartialDict(status="evaluated", hours=2.1, gpu="1xH100", costUsd=31, steps=400)
    assert told["summary"] == {"train_loss": 0.4, "note": "x"}
    assert told["record"] == {"data": {"train": "t"}, "eval": {"k": 4}}
    failed = caller.request("PATCH", path, json={"status": "failed", "error": "out of memory"}).json()
    assert (failed["status"], failed["error"]) == ("failed", "out of memory")
    assert caller.get(path) == failed


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"status": "promoted"}, "status"),
        ({"error": "x" * 401}, "error"),
        ({"hours": -1}, "hours"),
        ({"hours": "2"}, "hours"),
        ({"steps": 1.5}, "steps"),
        ({"costUsd": False}, "costUsd"),
        ({"summary": "fine"}, "summary"),
    ],
)
def test_an_end_that_makes_no_sense_is_refused_by_its_field(
    caller: Caller, agent: str, said: dict[str, Any], field: str
) -> None:
    run = begin(caller, agent, "v1")
    status, told = caller.refused("PATCH", f"/runs/{run}", json=said)
    assert status == 400
    assert told.startswith(field)


def test_points_come_late_twice_and_in_parts(caller: Caller, agent: str) -> None:
    run = begin(caller, agent, "v1")
    path = f"/runs/{run}/train"
    first = [{"step": 20, "reward": 0.5}, {"step": 10, "reward": 0.4, "kl": 0.01, "clip_ratio": 0.1}]
    caller.post(path, first)
    caller.post(path, first)
    caller.post(path, [{"step": 10, "loss": 1}, {"step": 0, "completionLength": 120}])
    assert caller.get(f"/runs/{run}")["series"] == [
        {"step": 0, "completionLength": 120},
        {"step": 10, "reward": 0.4, "kl": 0.01, "clip_ratio": 0.1, "loss": 1},
        {"step": 20, "reward": 0.5},
    ]
    assert board(caller, agent)["train"] == IsPartialDict(
        run=run,
        status="running",
        steps=[0, 10, 20],
        reward=[None, 0.4, 0.5],
        kl=[None, 0.01, None],
        loss=[None, 1, None],
        completionLength=[120, None, None],
        clipRatio=[None, 0.1, None],
    )


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ({}, "array"),
        ([{"reward": 1}], "item 0: step"),
        ([{"step": 1}, {"step": -1}], "item 1: step"),
        ([{"step": 1.5}], "item 0: step"),
        ([{"step": 2**60}], "item 0: step"),
        ([{"step": 1, "reward": "high"}], "item 0: reward"),
        ([{"step": 1, "mine": [1]}], "item 0: mine"),
        ([{"step": 1, "mine": True}], "item 0: mine"),
        ([1], "item 0: the body"),
        ([{"step": step} for step in range(2001)], "at most 2000"),
    ],
)
def test_points_that_make_no_sense_are_refused_whole(caller: Caller, agent: str, points: Any, says: str) -> None:
    run = begin(caller, agent, "v1")
    status, told = caller.refused("POST", f"/runs/{run}/train", json=points)
    assert status == 400
    assert says in told
    assert caller.get(f"/runs/{run}")["series"] == []


def test_a_number_that_is_none_is_refused(caller: Caller, agent: str) -> None:
    run = begin(caller, agent, "v1")
    for number in (b"NaN", b"Infinity", b"-1e400"):
        status, _ = caller.refused("POST", f"/runs/{run}/train", content=b'[{"step": 1, "loss": ' + number + b"}]")
        assert status == 400
        status, _ = caller.refused(
            "POST", f"/runs/{run}/evals", content=b'[{"behavior": "x", "score": ' + number + b"}]"
        )
        assert status == 400


def test_a_score_comes_back_as_it_is_kept(caller: Caller, agent: str) -> None:
    run = begin(caller, agent, "v4")
    said = {"behavior": "refunds", "score": 83, "ci": 2.7, "n": 240, "testVersion": "v2"}
    assert caller.post(f"/runs/{run}/evals", [said]) == {
        "evals": [{**said, "version": "v4", "scoredAt": IsStr(regex=r"\d{4}-.*Z")}]
    }
    caller.post(f"/runs/{run}/evals", [{**said, "score": 84}])
    assert [one["score"] for one in caller.get(f"/runs/{run}")["evals"]] == [84]


@pytest.mark.parametrize(
    "said",
    [
        {"score": 1},
        {"behavior": "refunds"},
        {"behavior": "", "score": 1},
        {"behavior": "a b", "score": 1},
        {"behavior": "x", "score": "83"},
        {"behavior": "x", "score": True},
        {"behavior": "x", "score": 1, "ci": -0.1},
        {"behavior": "x", "score": 1, "n": 0},
        {"behavior": "x", "score": 1, "version": "v" * 41},
    ],
)
def test_a_score_that_makes_no_sense_is_refused(caller: Caller, agent: str, said: Any) -> None:
    run = begin(caller, agent, "v1")
    status, told = caller.refused("POST", f"/runs/{run}/evals", json=[said])
    assert status == 400
    assert told.startswith("item 0: ")


def test_runs_are_forgotten_with_their_scores(caller: Caller, agent: str) -> None:
    run = begin(caller, agent, "v1")
    score(caller, run, "refunds", 1)
    for _ in range(2):
        assert caller.request("DELETE", f"/runs/{run}").status_code == 204
    assert caller.refused("GET", f"/runs/{run}")[0] == 404
    assert board(caller, agent)["versions"] == []


def test_runs_page_by_cursor(caller: Caller, agent: str) -> None:
    made = [begin(caller, agent, f"v{number}") for number in range(5)]
    pages = list(caller.pages("/runs", "runs", agent=agent, limit=2))
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [run["id"] for page in pages for run in page] == made[::-1]


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 501}, {"cursor": "x y"}, {"colour": "red"}])
def test_a_list_of_runs_that_makes_no_sense_is_refused(caller: Caller, query: dict[str, Any]) -> None:
    status, told = caller.refused("GET", "/runs", params=query)
    assert status == 400
    assert next(iter(query)) in told


def test_promoting_changes_what_is_served_and_keeps_when_and_by_whom(caller: Caller, agent: str) -> None:
    for version in ("v3", "v4"):
        score(caller, begin(caller, agent, version), "refunds", 70)
    path = f"/agents/{agent}/promote"
    assert caller.post(path, {"version": "v3"}) == {
        "agent": "Refund-Bot",
        "version": "v3",
        "promotedAt": IsStr(regex=r"\d{4}-.*Z"),
        "promotedBy": "key tests",
        "serving": "v3",
        "before": None,
    }
    (row,) = caller.get("/agents")["agents"]
    assert (row["serving"], row["candidate"]) == ("v3", "v4")
    assert caller.post(path, {"version": "v4"})["before"] == "v3"
    (row,) = caller.get("/agents")["agents"]
    assert row["serving"] == "v4"
    assert "candidate" not in row


def test_a_version_that_only_traffic_names_can_be_promoted(caller: Caller) -> None:
    send_run(caller, "Trace Bot", "from-traces")
    made = caller.post("/agents/trace-bot/promote", {"version": "from-traces"})
    assert (made["agent"], made["serving"]) == ("Trace-Bot", "from-traces")
    status, told = caller.refused("POST", "/agents/trace-bot/promote", json={"version": "v9"})
    assert status == 404
    assert "'from-traces'" in told
    assert board(caller, "trace-bot")["agent"]["serving"] == "from-traces"


@pytest.mark.parametrize("body", [{}, {"version": ""}, {"version": None}, {"version": ["v1"]}, {"version": "v" * 41}])
def test_promoting_nothing_is_refused(caller: Caller, agent: str, body: Any) -> None:
    begin(caller, agent, "v1")
    status, told = caller.refused("POST", f"/agents/{agent}/promote", json=body)
    assert (status, told.partition(":")[0]) == (400, "version")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/agents/nobody/behaviors", None),
        ("PUT", "/agents/nobody/behaviors/refunds", {}),
        ("POST", "/agents/nobody/promote", {"version": "v1"}),
        ("GET", "/agents/nobody/dashboard", None),
        ("POST", "/runs", {"agent": "nobody", "version": "v1"}),
        ("GET", "/runs?agent=nobody", None),
        ("GET", "/runs/none", None),
        ("PATCH", "/runs/none", {"status": "done"}),
        ("POST", "/runs/none/train", [{"step": 1}]),
        ("POST", "/runs/none/evals", [{"behavior": "x", "score": 1}]),
        ("POST", "/live", [{"agent": "nobody", "day": "2026-03-01", "version": "v1", "replies": 1}]),
    ],
)
def test_what_is_not_there_is_not_found(caller: Caller, method: str, path: str, body: Any) -> None:
    status, told = caller.refused(method, path, **({} if body is None else {"json": body}))
    assert status == 404
    assert "nobody" in told or "none" in told


def test_the_dashboard_says_what_the_candidate_is_worth(caller: Caller, agent: str) -> None:
    caller.request("PUT", f"/agents/{agent}/behaviors/refunds", json=REFUNDS)
    old = begin(caller, agent, "v3", targets=["refunds"])
    score(caller, old, "refunds", 78, ci=2.9, n=240)
    score(caller, old, "length", 78, n=120)
    caller.post(f"/agents/{agent}/promote", {"version": "v3"})
    new = begin(caller, agent, "v4", method="GRPO", targets=["refunds"], trainedOn=["refunds-grpo"])
    score(caller, new, "refunds", 83, ci=2.7, n=240)
    score(caller, new, "length", 76, ci=2.8, n=120)
    told = board(caller, agent)
    assert told["agent"] == IsPartialDict(id="Refund-Bot", serving="v3", candidate="v4")
    assert told["agent"]["frontier"] == {"name": "Frontier", "score": 81}
    assert told["behavior"] == {"name": "refunds", **REFUNDS}
    assert told["behaviors"] == ["length", "refunds"]
    assert told["versions"] == [
        {"v": "v3", "score": 78, "ci": 2.9, "n": 240, "run": old},
        {"v": "v4", "score": 83, "ci": 2.7, "n": 240, "run": new},
    ]
    assert told["deltas"] == [
        {"name": "refunds", "candidate": 83, "serving": 78, "delta": 5, "excludesZero": True, "target": True},
        {"name": "length", "candidate": 76, "serving": 78, "delta": -2, "target": False},
    ]
    assert told["verdict"] == {
        "candidate": "v4",
        "serving": "v3",
        "delta": 5,
        "excludesZero": True,
        "regressions": 1,
        "behavior": "refunds",
        "noiseFloor": 2.4,
        "n": 240,
        "judgeAgreement": 0.86,
        "judgeHumanN": 60,
        "rewardIsJudge": False,
        "contamination": 0,
    }
    assert told["train"] == IsPartialDict(run=new, method="GRPO", targets=["refunds"], trainedOn=["refunds-grpo"])
    other = board(caller, agent, behavior="length")
    assert [row["v"] for row in other["versions"]] == ["v3", "v4"]
    assert other["verdict"] == IsPartialDict(behavior="length", delta=-2, regressions=0)
    assert "excludesZero" not in other["verdict"]


def test_a_dashboard_of_nothing_holds_no_null(caller: Caller, agent: str) -> None:
    told = board(caller, agent)
    assert told["versions"] == told["deltas"] == told["behaviors"] == []
    assert told["verdict"] == {"regressions": 0}
    assert told["live"] == IsPartialDict(days=[], replies7d=0, newFailures=0)
    assert None not in told.values()
    assert "train" not in told


def test_a_behavior_that_nobody_knows_is_not_found(caller: Caller, agent: str) -> None:
    status, told = caller.refused("GET", f"/agents/{agent}/dashboard", params={"behavior": "nope"})
    assert status == 404
    assert "'nope'" in told


def test_a_version_scored_beside_another_run_is_older_than_that_run(caller: Caller, agent: str) -> None:
    """The served version was never tracked; its traffic came before."""
    send_run(caller, agent, "base", start=time.time_ns() - 2 * DAY)
    run = begin(caller, agent, "v2", targets=["refunds"])
    score(caller, run, "refunds", 80, ci=1)
    score(caller, run, "refunds", 70, ci=1, version="base")
    caller.post(f"/agents/{agent}/promote", {"version": "base"})
    told = board(caller, agent)
    assert [row["v"] for row in told["versions"]] == ["base", "v2"]
    assert told["verdict"] == IsPartialDict(candidate="v2", serving="base", delta=10, excludesZero=True)


def test_after_a_step_back_the_newer_version_is_the_candidate_again(caller: Caller, agent: str) -> None:
    for version in ("v1", "v2"):
        score(caller, begin(caller, agent, version), "refunds", 70)
        caller.post(f"/agents/{agent}/promote", {"version": version})
    caller.post(f"/agents/{agent}/promote", {"version": "v1"})
    told = board(caller, agent)["agent"]
    assert (told["serving"], told["candidate"]) == ("v1", "v2")


def test_live_traffic_is_what_traces_say_and_what_was_reported(caller: Caller, agent: str) -> None:
    now = time.time_ns()
    for number in range(4):
        send_run(caller, agent, "v1", start=now - 3 * DAY + number, reward=float(number > 0))
    caller.task("ungraded", [None], agent=agent, start=now - DAY)
    caller.post(f"/agents/{agent}/promote", {"version": "v1"})
    today, before = (datetime.now(UTC).date() - timedelta(days=back) for back in (0, 3))
    days = [
        {"agent": agent, "day": str(today), "version": "v1", "replies": 1000, "flagged": 9, "p50s": 1.5, "costUsd": 3},
        {"agent": agent, "day": str(before), "version": "v0", "replies": 7, "flagged": 0},
    ]
    caller.post("/live", days)
    caller.post("/live", [{**days[0], "replies": 2000, "flagged": 10}])
    live = board(caller, agent)["live"]
    rows = list(zip(live["days"], live["version"], live["replies"], live["flaggedPct"], strict=True))
    assert rows == [
        (str(before), "v0", 7, 0),
        (str(before), "v1", 4, 25),
        (str(today - timedelta(days=1)), None, 1, 0),
        (str(today), "v1", 2000, 0.5),
    ]
    assert live["p50s"] == IsList(None, 0.02, 0.02, 1.5)
    assert (live["servedAtIndex"], live["replies7d"], live["newFailures"]) == (3, 2004, 10)
    assert live["costPer1k"] == pytest.approx(1000 * 3 / 2004, rel=0.01)  # the traced runs cost next to nothing


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"day": "2026-13-01"}, "day"),
        ({"day": "01.03.2026"}, "day"),
        ({"day": 20260301}, "day"),
        ({"day": None}, "day"),
        ({"version": ""}, "version"),
        ({"replies": -1}, "replies"),
        ({"replies": 1.5}, "replies"),
        ({"replies": 2**80}, "replies"),
        ({"flagged": 11}, "flagged"),
        ({"flagged": -1}, "flagged"),
        ({"p50s": -1}, "p50s"),
        ({"costUsd": "3"}, "costUsd"),
    ],
)
def test_a_day_that_makes_no_sense_is_refused(caller: Caller, agent: str, said: dict[str, Any], says: str) -> None:
    good = {"agent": agent, "day": "2026-03-01", "version": "v1", "replies": 10}
    status, told = caller.refused("POST", "/live", json=[{**good, **said}])
    assert status == 400
    assert says in told


def test_deleting_the_agent_forgets_what_was_tracked(caller: Caller, agent: str) -> None:
    score(caller, begin(caller, agent, "v1"), "refunds", 1)
    caller.post(f"/agents/{agent}/promote", {"version": "v1"})
    assert caller.request("DELETE", f"/agents/{agent}").status_code == 204
    assert caller.get("/runs")["runs"] == []
    assert caller.get("/agents")["agents"] == []


def test_two_accounts_track_agents_of_one_name_apart(
    caller: Caller, agent: str, new_caller: Callable[[], Caller]
) -> None:
    stranger = new_caller()
    stranger.post("/agents", {"id": agent, "name": "Refund Bot!"})
    run = begin(caller, agent, "v1", id="shared")
    score(caller, run, "refunds", 70)
    begin(stranger, agent, "theirs", id="shared")
    caller.post(f"/agents/{agent}/promote", {"version": "v1"})
    assert board(stranger, agent)["verdict"] == {"regressions": 0}
    assert [run["version"] for run in stranger.get("/runs")["runs"]] == ["theirs"]
    assert stranger.request("DELETE", "/runs/shared").status_code == 204
    assert caller.get("/runs/shared")["version"] == "v1"


def test_reading_takes_a_key_that_may_read_and_changing_one_that_may_write(caller: Caller, agent: str) -> None:
    run = begin(caller, agent, "v1")
    reader = caller.services.registry.keys.create(caller.account, "reader", ["read"]).secret
    headers = {"x-api-key": reader}
    assert caller.request("GET", f"/agents/{agent}/dashboard", headers=headers).status_code == 200
    for method, path, body in (
        ("POST", f"/agents/{agent}/promote", {"version": "v1"}),
        ("PUT", f"/agents/{agent}/behaviors/x", {}),
        ("POST", "/runs", {"agent": agent, "version": "v1"}),
        ("PATCH", f"/runs/{run}", {"status": "done"}),
        ("DELETE", f"/runs/{run}", None),
        ("POST", f"/runs/{run}/train", []),
        ("POST", f"/runs/{run}/evals", []),
        ("POST", "/live", []),
    ):
        status, _ = caller.refused(method, path, headers=headers, json=body)
        assert status == 403, path
