"""Tracked agents in the records: runs, curves, scores, promotions, reported traffic; once each, and gone together."""

from __future__ import annotations

import threading
from datetime import date

import pytest
from registry.conftest import Clock

from whileai_registry import LimitReached, LiveDay, NewRun, NewScore, NotAllowed, NotFound, Registry
from whileai_registry import behaviors as behaviors_module
from whileai_registry import run_points as points_module
from whileai_registry.tracked_runs import merged


@pytest.fixture
def agent(registry: Registry, account: str) -> str:
    return registry.agents.register(account, "Refund Bot!").id


def begin(registry: Registry, account: str, agent: str, run_id: str = "r1", version: str = "v1") -> None:
    registry.tracked_runs.create(account, NewRun(agent, version, run_id))


def test_what_is_said_of_a_behavior_replaces_what_was_said(registry: Registry, account: str, agent: str) -> None:
    registry.behaviors.declare(account, agent, "refunds", {"n": 240, "judge": {"agreement": 0.8}})
    registry.behaviors.declare(account, "REFUND-BOT", "refunds", {"n": 120})
    registry.behaviors.declare(account, agent, "length", {})
    found = registry.behaviors.list_all(account, agent)
    assert [(behavior.name, behavior.said) for behavior in found] == [("length", {}), ("refunds", {"n": 120})]


def test_an_agent_has_a_bounded_number_of_behaviors(
    registry: Registry, account: str, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(behaviors_module, "MOST_BEHAVIORS", 2)
    for name in ("a", "b", "a"):
        registry.behaviors.declare(account, agent, name, {"again": name})
    with pytest.raises(LimitReached, match="2 behaviors"):
        registry.behaviors.declare(account, agent, "c", {})


def test_the_same_id_again_is_the_same_run(registry: Registry, account: str, agent: str, clock: Clock) -> None:
    new = NewRun(agent, "v4", "mine", method="GRPO", targets=["refunds"], record={"data": {"train": "x"}})
    made = registry.tracked_runs.create(account, new)
    clock.advance(minutes=1)
    assert registry.tracked_runs.create(account, new) == made
    assert registry.tracked_runs.list_page(account).items == [made]
    assert (made.status, made.method, made.targets, made.trained_on) == ("running", "GRPO", ["refunds"], [])
    with pytest.raises(NotAllowed, match="version v4"):
        registry.tracked_runs.create(account, NewRun(agent, "v5", "mine"))


def test_an_id_belongs_to_its_account_only(registry: Registry, account: str, stranger: str, agent: str) -> None:
    begin(registry, account, agent, "mine", "v1")
    registry.agents.register(stranger, "bot")
    begin(registry, stranger, "bot", "mine", "v2")
    assert registry.tracked_runs.get(account, "mine").version == "v1"
    assert registry.tracked_runs.get(stranger, "mine").version == "v2"
    assert registry.tracked_runs.delete(stranger, "mine")
    assert registry.tracked_runs.get(account, "mine").version == "v1"


def test_without_an_id_every_run_is_another(registry: Registry, account: str, agent: str) -> None:
    ids = {registry.tracked_runs.create(account, NewRun(agent, "v1")).id for _ in range(3)}
    assert len(ids) == 3


def test_nothing_is_tracked_of_an_agent_that_is_not_there(registry: Registry, account: str) -> None:
    day = LiveDay(date(2026, 3, 1), "v1", 1, 0, None, None)
    for call in (
        lambda: registry.behaviors.declare(account, "nobody", "x", {}),
        lambda: registry.tracked_runs.create(account, NewRun("nobody", "v1")),
        lambda: registry.promotions.promote(account, "nobody", "v1", "me"),
        lambda: registry.live_days.report(account, [("nobody", day)]),
    ):
        with pytest.raises(NotFound, match="there is no agent 'nobody'"):
            call()


def test_a_finished_run_keeps_what_was_said_at_its_start(
    registry: Registry, account: str, agent: str, clock: Clock
) -> None:
    record = {"data": {"train": "t", "nTrain": 3}, "eval": {"k": 1}}
    registry.tracked_runs.create(account, NewRun(agent, "v1", "r1", record=record))
    clock.advance(hours=2)
    finished = {"status": "evaluated", "hours": 2.1, "record": {"data": {"nTrain": 4}}, "summary": {"train_loss": 0.5}}
    registry.tracked_runs.change(account, "r1", finished)
    run = registry.tracked_runs.change(account, "r1", {"summary": {"more": 1}})
    assert (run.status, run.hours) == ("evaluated", 2.1)
    assert run.record == {"data": {"train": "t", "nTrain": 4}, "eval": {"k": 1}}
    assert run.summary == {"train_loss": 0.5, "more": 1}
    assert run.updated_at > run.created_at


@pytest.mark.parametrize(
    ("old", "new", "both"),
    [
        ({}, {"a": 1}, {"a": 1}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
        ({"a": {"b": 1}}, {"a": 5}, {"a": 5}),
        ({"a": 5}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
    ],
)
def test_merging_keeps_what_is_not_said_again(old: dict, new: dict, both: dict) -> None:  # type: ignore[type-arg]
    assert merged(old, new) == both


def test_runs_page_newest_first(registry: Registry, account: str, agent: str, clock: Clock) -> None:
    registry.agents.register(account, "other")
    for number in range(5):
        begin(registry, account, agent if number != 2 else "other", f"r{number}")
        clock.advance(seconds=1)
    first = registry.tracked_runs.list_page(account, agent=agent, limit=3)
    second = registry.tracked_runs.list_page(account, agent=agent, limit=3, cursor=first.next)
    assert [run.id for run in (*first.items, *second.items)] == ["r4", "r3", "r1", "r0"]
    assert second.next is None
    assert len(registry.tracked_runs.list_page(account).items) == 5


def test_points_that_come_again_or_in_parts_are_one_point(registry: Registry, account: str, agent: str) -> None:
    begin(registry, account, agent)
    registry.run_points.add(account, "r1", [(20, {"reward": 0.5}), (10, {"reward": 0.4}), (10, {"kl": 0.01})])
    registry.run_points.add(account, "r1", [(10, {"reward": 0.4, "loss": 1.0}), (30, {})])
    assert registry.run_points.series(account, "r1") == [
        (10, {"reward": 0.4, "kl": 0.01, "loss": 1.0}),
        (20, {"reward": 0.5}),
        (30, {}),
    ]


def test_a_run_has_a_bounded_number_of_steps(
    registry: Registry, account: str, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(points_module, "MOST_STEPS", 3)
    begin(registry, account, agent)
    registry.run_points.add(account, "r1", [(1, {}), (2, {})])
    registry.run_points.add(account, "r1", [(2, {"loss": 1.0}), (3, {})])
    with pytest.raises(NotAllowed, match="3 steps"):
        registry.run_points.add(account, "r1", [(3, {"loss": 9.0}), (4, {})])
    assert registry.run_points.series(account, "r1") == [(1, {}), (2, {"loss": 1.0}), (3, {})]


def test_a_score_again_replaces_and_other_versions_stand_beside_it(
    registry: Registry, account: str, agent: str, clock: Clock
) -> None:
    begin(registry, account, agent, "r1", "v4")
    registry.run_scores.record(account, "r1", [NewScore("refunds", 80.0, n=240), NewScore("length", 70.0)])
    clock.advance(seconds=1)
    kept = registry.run_scores.record(
        account, "r1", [NewScore("refunds", 83.0, ci=2.7), NewScore("refunds", 78.0, version="v3")]
    )
    assert [(score.version, score.score, score.n) for score in kept] == [("v4", 83.0, None), ("v3", 78.0, None)]
    found = registry.run_scores.list_all(account, agent)
    assert {(key, score.version, score.behavior, score.score, score.ci) for key, score in found} == {
        ("refund-bot", "v4", "length", 70.0, None),
        ("refund-bot", "v4", "refunds", 83.0, 2.7),
        ("refund-bot", "v3", "refunds", 78.0, None),
    }
    assert found[0][1].behavior == "length"
    assert [score.behavior for score in registry.run_scores.of_run(account, "r1")] == ["length", "refunds", "refunds"]


def test_scores_of_a_run_that_is_not_there_are_not_kept(registry: Registry, account: str) -> None:
    with pytest.raises(NotFound, match="there is no run 'none'"):
        registry.run_scores.record(account, "none", [NewScore("refunds", 1.0)])
    with pytest.raises(NotFound, match="there is no run 'none'"):
        registry.run_points.add(account, "none", [(1, {})])


def test_promoting_is_remembered_with_when_and_by_whom(
    registry: Registry, account: str, agent: str, clock: Clock
) -> None:
    first = registry.promotions.promote(account, agent, "v1", "key laptop")
    clock.advance(hours=1)
    assert registry.promotions.promote(account, agent, "v1", "somebody else") == first
    registry.promotions.promote(account, agent, "v2", "ana@shop.example")
    clock.advance(hours=1)
    registry.promotions.promote(account, agent, "v1", "ana@shop.example")
    history = registry.promotions.history(account, "REFUND-BOT")
    assert [(made.number, made.version, made.promoted_by) for made in history] == [
        (1, "v1", "key laptop"),
        (2, "v2", "ana@shop.example"),
        (3, "v1", "ana@shop.example"),
    ]
    assert history[0].promoted_at < history[1].promoted_at < history[2].promoted_at
    assert registry.promotions.count(account) == 3


def test_people_who_promote_at_once_take_turns(registry: Registry, account: str, agent: str) -> None:
    errors: list[BaseException] = []

    def promote(version: str) -> None:
        try:
            registry.promotions.promote(account, agent, version, version)
        except BaseException as exc:
            errors.append(exc)

    threads = [threading.Thread(target=promote, args=(f"v{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    history = registry.promotions.history(account, agent)
    assert sorted(made.number for made in history) == list(range(1, 9))
    assert {made.version for made in history} == {f"v{number}" for number in range(8)}


def test_a_day_that_is_reported_again_replaces(registry: Registry, account: str, agent: str) -> None:
    day = date(2026, 3, 1)
    registry.live_days.report(account, [(agent, LiveDay(day, "v1", 100, 7, 1.5, 2.0))])
    again = LiveDay(day, "v1", 120, 8, None, None)
    other = LiveDay(day, "v2", 5, 0, None, 0.1)
    registry.live_days.report(account, [("refund bot", again), (agent, other)])
    assert registry.live_days.list_all(account, agent, day) == [again, other]
    assert registry.live_days.list_all(account, agent, date(2026, 3, 2)) == []


def test_a_report_with_an_unknown_agent_changes_nothing(registry: Registry, account: str, agent: str) -> None:
    day = LiveDay(date(2026, 3, 1), "v1", 1, 0, None, None)
    with pytest.raises(NotFound):
        registry.live_days.report(account, [(agent, day), ("nobody", day)])
    assert registry.live_days.list_all(account, agent, date(2026, 1, 1)) == []


def test_an_agent_takes_everything_tracked_with_it(registry: Registry, account: str, agent: str) -> None:
    begin(registry, account, agent)
    registry.run_points.add(account, "r1", [(1, {"loss": 1.0})])
    registry.run_scores.record(account, "r1", [NewScore("refunds", 1.0)])
    registry.behaviors.declare(account, agent, "refunds", {})
    registry.promotions.promote(account, agent, "v1", "me")
    registry.live_days.report(account, [(agent, LiveDay(date(2026, 3, 1), "v1", 1, 0, None, None))])
    assert registry.agents.delete(account, agent)
    registry.agents.register(account, "Refund Bot!")
    assert registry.tracked_runs.list_page(account).items == []
    assert registry.run_scores.list_all(account) == []
    assert registry.run_points.series(account, "r1") == []
    assert registry.behaviors.list_all(account, agent) == []
    assert registry.promotions.history(account) == []
    assert registry.live_days.list_all(account, agent, date(2026, 1, 1)) == []
