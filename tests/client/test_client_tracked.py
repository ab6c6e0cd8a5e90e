"""Tracking an agent: what travels, what is refused before it does, and a training loop that nothing can break."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from client.recording_service import Answer, Service
from pydantic import ValidationError

from whileai.cli import main
from whileai.errors import PlatformError
from whileai.platform import (
    Behavior,
    Frontier,
    Harness,
    Judge,
    LiveDay,
    RunRecord,
    RunSpec,
    Score,
    Tracked,
    TrainPoint,
    track,
    tracked_agents,
)
from whileai.tracked import agent_id

BOARD = {
    "agent": {"id": "bot", "name": "bot", "serving": "v3"},
    "behavior": None,
    "verdict": {"serving": "v3", "candidate": "v4", "delta": 5, "excludesZero": False, "behavior": "refunds"},
    "anything": ["else"],
}


@pytest.fixture
def bot(platform: Service) -> Tracked:
    platform.answers("POST", "/agents", {"id": "bot"})
    platform.answers("POST", "/runs", {"id": "run_1"})
    platform.answers("POST", "/runs/run_1/train", {})
    platform.answers("POST", "/runs/run_1/evals", {})
    platform.answers("PATCH", "/runs/run_1", {"status": "evaluated"})
    return track("bot", harness=Harness(label="h1"))


def sent(platform: Service, path: str) -> list[Any]:
    return [request.json for request in platform.requests if request.path == path]


@pytest.mark.parametrize(
    ("model", "instructions", "tools", "fingerprint"),
    [
        ("Qwen/Qwen3-4B", "sys", ["lookup_order", "issue_refund"], "9e78feff4810"),
        (None, None, [], "f77a2af43f6b"),
        (None, "é", ["b", "a"], "0f9f06e5bc4b"),
    ],
)
def test_a_fingerprint_is_that_of_the_published_client(
    model: str | None, instructions: str | None, tools: list[str], fingerprint: str
) -> None:
    harness = Harness(model=model, instructions=instructions, tools=tools)
    assert (harness.fingerprint, harness.version) == (fingerprint, f"h-{fingerprint}")
    assert harness.wire()["hash"] == fingerprint
    assert Harness(label="mine", instructions=instructions).version == "mine"


def test_an_agent_is_registered_with_what_is_said_of_it(platform: Service) -> None:
    platform.answers("POST", "/agents", {})
    tracked = track(
        "Refund Bot!",
        model="m-1",
        harness={"instructions": "Be kind."},
        frontier=Frontier(name="Sonnet", score=81, cost_per_1k=18.0, p50_s=2),
    )
    (body,) = sent(platform, "/agents")
    assert tracked.id == "Refund-Bot"
    assert body["frontier"] == {"name": "Sonnet", "score": 81, "costPer1k": 18, "p50s": 2}
    assert body["harness"]["model"] == body["model"] == "m-1"
    assert body["harness"]["label"].startswith("h-")
    assert platform.last.headers["x-api-key"] == "zp_environment"
    track("bare")
    assert platform.last.json == {"id": "bare", "name": "bare"}
    track("silent", register=False)
    assert len(platform.requests) == 2


@pytest.mark.parametrize(("name", "slug"), [("???", "agent"), ("客服", "客服"), ("a" * 80, "a" * 64), ("-x.", "x")])
def test_the_id_of_an_agent_is_its_name_made_fit_for_a_path(name: str, slug: str) -> None:
    assert agent_id(name) == slug


def lookup_order() -> None:
    """A tool."""


@pytest.mark.parametrize(
    "agent",
    [
        SimpleNamespace(name="desk", model="m", instructions="Be kind.", tools=[SimpleNamespace(name="lookup_order")]),
        SimpleNamespace(
            name="desk", model=SimpleNamespace(model_name="m"), system_prompt="Be kind.", tools=[lookup_order]
        ),
        SimpleNamespace(
            agent_name="desk",
            model_id="m",
            prompt="Be kind.",
            _function_toolset=SimpleNamespace(tools={"lookup_order": lookup_order}),
        ),
        SimpleNamespace(
            name="desk", model="m", instructions="Be kind.", tools=[{"function": {"name": "lookup_order"}}]
        ),
        SimpleNamespace(name="desk", model="m", system_prompt="Be kind.", allowed_tools=["lookup_order"]),
    ],
)
def test_an_agent_object_says_who_it_is(platform: Service, agent: Any) -> None:
    platform.answers("POST", "/agents", {})
    track(agent)
    harness = Harness(model="m", instructions="Be kind.", tools=["lookup_order"])
    assert platform.last.json == {"id": "desk", "name": "desk", "model": "m", "harness": harness.wire()}


def test_an_agent_object_without_a_name_needs_one(platform: Service) -> None:
    with pytest.raises(ValueError, match="say track"):
        track(SimpleNamespace(instructions=lambda: "made when it runs"))
    platform.answers("POST", "/agents", {})
    track(SimpleNamespace(instructions=lambda: "made when it runs"), name="desk")
    assert platform.last.json == {"id": "desk", "name": "desk"}


def test_a_behavior_travels_without_its_name_and_comes_back(bot: Tracked, platform: Service) -> None:
    platform.answers("PUT", "/agents/bot/behaviors/refunds", {"name": "refunds", "n": 240, "new": 1})
    said = Behavior(name="refunds", test_version="v2", n=240, judge=Judge(agreement=0.86, human_n=60, length_bias=0.08))
    assert bot.behavior(said) == Behavior(name="refunds", n=240)
    judge = {"agreement": 0.86, "humanN": 60, "lengthBias": 0.08}
    assert platform.last.json == {"testVersion": "v2", "n": 240, "judge": judge}
    platform.answers("PUT", "/agents/bot/behaviors/length", {})
    assert bot.behavior("length", noise_floor=1) == Behavior(name="length", noise_floor=1)
    platform.answers("GET", "/agents/bot/behaviors", {"behaviors": [{"name": "a", "judge": None}]})
    assert bot.behaviors() == [Behavior(name="a")]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Behavior(name="a b"),
        lambda: Behavior(name="x", n=0),
        lambda: Behavior(name="x", noise_floor=float("nan")),
        lambda: Judge(agreement=1.2),
        lambda: Score(behavior="x", score=float("inf")),
        lambda: Score(behavior="x", score=1, ci=-1),
        lambda: RunSpec(version=""),
        lambda: RunSpec(version="v" * 41),
        lambda: RunSpec(version="v1", id="../x"),
        lambda: LiveDay(day="yesterday", version="v", replies=1),  # type: ignore[arg-type]
        lambda: LiveDay(day=date(2026, 3, 1), version="v", replies=-1),
        lambda: TrainPoint(step=-1),
    ],
)
def test_what_makes_no_sense_never_leaves_the_process(make: Any) -> None:
    with pytest.raises((ValidationError, ValueError)):
        make()


def test_a_run_is_begun_logged_scored_and_finished(bot: Tracked, platform: Service) -> None:
    run = bot.run("v4", method="GRPO", targets=["refunds"], trained_on=["refunds-grpo"])
    assert platform.last.json == {
        "agent": "bot",
        "version": "v4",
        "harness": "h1",
        "method": "GRPO",
        "targets": ["refunds"],
        "trainedOn": ["refunds-grpo"],
    }
    run.log(10, reward=0.41, kl=0.01, mine=2, bad=float("nan"), word="x", none=None)
    run.log(TrainPoint(step=11, loss=1))
    run.progress(12, 400)
    assert sent(platform, "/runs/run_1/train") == []
    assert run.score("refunds", 83, ci=2.7, n=240) == Score(behavior="refunds", score=83, ci=2.7, n=240)
    assert sent(platform, "/runs/run_1/train") == [
        [{"step": 10, "reward": 0.41, "kl": 0.01, "mine": 2}, {"step": 11, "loss": 1}, {"step": 12, "total_steps": 400}]
    ]
    assert sent(platform, "/runs/run_1/evals") == [[{"behavior": "refunds", "score": 83, "ci": 2.7, "n": 240}]]
    record = {"data": {"nTrain": 3, "own": 1}, "optimizer": {"lr": 1e-6, "scale_rewards": False}}
    run.finish(hours=2.1, gpu="1xH100", cost_usd=31, summary={"train_loss": 0.4}, record=record)
    assert platform.last.json == {
        "status": "evaluated",
        "hours": 2.1,
        "gpu": "1xH100",
        "costUsd": 31,
        "summary": {"train_loss": 0.4},
        "record": record,
    }
    run.fail("x" * 900)
    assert platform.last.json == {"status": "failed", "error": "x" * 400}
    assert run.url == f"{platform.url}/ui/agents/bot"


def test_points_that_could_not_be_sent_go_with_the_next_and_nothing_is_raised(bot: Tracked, platform: Service) -> None:
    platform.answers("POST", "/runs/run_1/train", Answer(400, {"error": "no"}), Answer(200, {}))
    run = bot.run(RunSpec(version="v4", record=RunRecord()), flush_every=2)
    for step in range(3):
        run.log(step, loss=1.0)
    run.flush()
    run.flush()
    steps = [[point["step"] for point in batch] for batch in sent(platform, "/runs/run_1/train")]
    assert steps == [[0, 1], [0, 1, 2]]


def test_points_are_sent_after_a_while_however_few(bot: Tracked, platform: Service) -> None:
    run = bot.run("v4", flush_seconds=0)
    run.log(1, loss=1.0)
    assert sent(platform, "/runs/run_1/train") == [[{"step": 1, "loss": 1}]]


def test_many_points_go_in_batches_that_the_service_takes(bot: Tracked, platform: Service) -> None:
    run = bot.run("v4", flush_every=10_000)
    for step in range(4_100):
        run.log(step, loss=1.0)
    run.flush()
    batches = sent(platform, "/runs/run_1/train")
    assert [len(batch) for batch in batches] == [2000, 2000, 100]
    assert [point["step"] for batch in batches for point in batch] == list(range(4_100))


def test_a_service_that_gives_no_id_is_said(platform: Service, bot: Tracked) -> None:
    platform.answers("POST", "/runs", {})
    with pytest.raises(PlatformError, match="without an id"):
        bot.run("v1")


def test_a_day_is_told_with_the_agent_it_is_of(bot: Tracked, platform: Service) -> None:
    platform.answers("POST", "/live", {})
    day = {"agent": "bot", "day": "2026-03-01", "version": "v4", "replies": 9, "flagged": 0}
    bot.live(date(2026, 3, 1), version="v4", replies=9)
    assert platform.last.json == [day]
    bot.live(LiveDay(day=date(2026, 3, 1), version="v4", replies=9, p50_s=1.5, cost_usd=2))
    assert platform.last.json == [{**day, "p50s": 1.5, "costUsd": 2}]


def test_a_verdict_prints_as_its_sentence(bot: Tracked, platform: Service) -> None:
    platform.answers("GET", "/agents/bot/dashboard", BOARD)
    assert str(bot.verdict("refunds")).startswith("refunds: v4 is about the same as v3 (+5;")
    assert platform.last.query == {"behavior": "refunds"}
    assert bot.dashboard().agent.serving == "v3"
    assert platform.last.query == {}


def test_a_transport_of_ones_own_takes_the_place_of_http() -> None:
    calls: list[tuple[str, str, Any]] = []

    def transport(method: str, path: str, body: Any, **_options: Any) -> dict[str, Any]:
        calls.append((method, path, body))
        return {}

    track("bot", transport=transport).promote("v4")
    assert calls == [
        ("POST", "/agents", {"id": "bot", "name": "bot"}),
        ("POST", "/agents/bot/promote", {"version": "v4"}),
    ]


def test_agents_say_what_they_serve(platform: Service) -> None:
    rows = [{"id": "bot", "name": "bot", "serving": "v3", "traces": 9, "frontier": {"name": "x", "costPer1k": 1}}]
    platform.answers("GET", "/agents", {"agents": rows})
    (found,) = tracked_agents()
    assert (found.serving, found.candidate, found.frontier) == ("v3", None, Frontier(name="x", cost_per_1k=1))


def command(capsys: pytest.CaptureFixture[str], words: Sequence[str]) -> tuple[int, str, str]:
    code = main(list(words))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_verbs_say_the_same(platform: Service, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [{"version": "v4", "method": "GRPO", "status": "running", "targets": ["a", "b"], "createdAt": "2026"}]
    platform.answers("GET", "/agents/bot/dashboard", BOARD)
    platform.answers(
        "GET", "/agents/bot/behaviors", {"behaviors": [{"name": "refunds", "n": 240, "testVersion": "v2"}]}
    )
    platform.answers("GET", "/runs", {"runs": runs})
    platform.answers("POST", "/agents/bot/promote", {"serving": "v4"})
    platform.answers("POST", "/live", {"days": 1})
    code, out, _ = command(capsys, ["agent", "bot"])
    assert code == 0
    assert "serving: v3" in out
    assert "about the same" in out
    shown = json.loads(command(capsys, ["agent", "bot", "--json"])[1])
    assert shown["behaviors"] == [{"name": "refunds", "n": 240, "test_version": "v2"}]
    assert shown["verdict"]["excludes_zero"] is False
    assert command(capsys, ["runs", "bot"])[1] == (
        "VERSION  METHOD  STATUS   TARGETS  CREATED\nv4       GRPO    running  a, b     2026\n"
    )
    assert json.loads(command(capsys, ["runs", "bot", "--json"])[1]) == runs
    assert "about the same" in command(capsys, ["verdict", "bot", "--behavior", "refunds"])[1]
    assert command(capsys, ["promote", "bot", "v4"])[1] == "bot serves v4\n"
    live = ["live", "bot", "--day", "2026-03-01", "--version", "v4", "--replies", "9", "--p50", "1.5", "--cost", "2"]
    assert command(capsys, live)[0] == 0
    assert platform.last.json[0] == {
        "agent": "bot",
        "day": "2026-03-01",
        "version": "v4",
        "replies": 9,
        "flagged": 0,
        "p50s": 1.5,
        "costUsd": 2,
    }


def test_a_verb_that_is_refused_says_why(platform: Service, capsys: pytest.CaptureFixture[str]) -> None:
    platform.answers("POST", "/agents/bot/promote", Answer(404, {"error": "agent bot has no version 'v9'"}))
    code, out, err = command(capsys, ["promote", "bot", "v9"])
    assert (code, out) == (1, "")
    assert "no version 'v9'" in err
    code, _, err = command(capsys, ["live", "bot", "--day", "soon", "--version", "v", "--replies", "1"])
    assert code == 1
    assert err.startswith("error: ")
