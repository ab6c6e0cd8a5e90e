"""The verdict rule and its sentence, case by case; the order of versions; days of traffic put together. All pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from whileai.dashboards import Verdict
from whileai.tracked_models import Judge, SaidOfBehavior
from whileai.verdict_words import CASES, DOUBTS, verdict_sentence
from whileai_query.live_series import Traffic, series_of, together
from whileai_query.standings import Standing, births
from whileai_query.training_curves import thinned
from whileai_query.verdicts import default_behavior, deltas_of, difference, verdict_of
from whileai_registry import LiveDay, Promotion, RunScore, TrackedRun

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SAID = SaidOfBehavior(
    n=240, judge=Judge(agreement=0.86, human_n=60), noise_floor=2.4, contamination=0, reward_is_judge=False
)
PROVEN = Verdict(
    candidate="v4",
    serving="v3",
    delta=5.0,
    excludes_zero=True,
    behavior="refunds",
    noise_floor=2.4,
    n=240,
    judge_agreement=0.86,
    judge_human_n=60,
    reward_is_judge=False,
    contamination=0,
)


def run(version: str, hour: int, *targets: str) -> TrackedRun:
    at = NOON + timedelta(hours=hour)
    return TrackedRun(
        id=f"run-{version}",
        agent_key="bot",
        version=version,
        status="evaluated",
        method=None,
        base=None,
        harness=None,
        gpu=None,
        targets=list(targets),
        trained_on=[],
        record=None,
        summary=None,
        hours=None,
        cost_usd=None,
        steps=None,
        error=None,
        created_at=at,
        updated_at=at,
    )


def score(version: str, value: float, behavior: str = "refunds", **told: Any) -> RunScore:
    fields: dict[str, Any] = {"ci": None, "n": None, "test_version": None, "scored_at": NOON, **told}
    return RunScore(f"run-{version}", version, behavior, value, **fields)


def promotion(version: str, number: int = 1, hour: int = 20) -> Promotion:
    return Promotion("bot", number, version, "me", NOON + timedelta(hours=hour))


def standing(
    *scores: RunScore, runs: tuple[TrackedRun, ...] = (), serves: tuple[Promotion, ...] = (), **answered: datetime
) -> Standing:
    """As the records give it: runs newest first."""
    newest_first = sorted(runs, key=lambda run: run.created_at, reverse=True)
    made = Standing(newest_first, list(serves), {(one.version, one.behavior): one for one in scores})
    made.born = births(made, answered)
    return made


@pytest.mark.parametrize(
    ("new", "old", "delta", "excludes"),
    [
        (score("v4", 83, ci=2.7), score("v3", 78, ci=2.9), 5, True),
        (score("v4", 80, ci=3.0), score("v3", 75, ci=4.0), 5, False),  # exactly on the edge: 5 is not above 5
        (score("v4", 80.01, ci=3.0), score("v3", 75, ci=4.0), 5.01, True),
        (score("v4", 70, ci=1.0), score("v3", 78, ci=1.0), -8, True),
        (score("v4", 0.83, ci=0.0), score("v3", 0.78, ci=0.0), 0.05, True),
        (score("v4", 78, ci=0.0), score("v3", 78, ci=0.0), 0, False),
        (score("v4", 83), score("v3", 78, ci=2.9), 5, None),
        (score("v4", 83, ci=2.7), score("v3", 78), 5, None),
        (None, score("v3", 78, ci=1), None, None),
        (score("v4", 83, ci=1), None, None, None),
        (None, None, None, None),
    ],
)
def test_a_difference_excludes_zero_beyond_both_intervals_together(
    new: RunScore | None, old: RunScore | None, delta: float | None, excludes: bool | None
) -> None:
    found = difference(new, old)
    assert (found.delta, found.excludes_zero, found.tests_differ) == (delta, excludes, False)


@pytest.mark.parametrize(
    ("new", "old", "differ"), [("v1", "v2", True), ("v1", "v1", False), (None, "v1", False), (None, None, False)]
)
def test_scores_of_two_tests_say_nothing_of_zero(new: str | None, old: str | None, differ: bool) -> None:
    found = difference(score("v4", 83, ci=1, test_version=new), score("v3", 70, ci=1, test_version=old))
    assert (found.delta, found.excludes_zero, found.tests_differ) == (13, None if differ else True, differ)


# What is known of the two versions, and the sentence that is made of it; one row a case of the rule, in its order.
SENTENCES: tuple[tuple[dict[str, Any], str], ...] = (
    ({"candidate": None, "delta": None}, "refunds: v3 is served, and no newer version has been scored"),
    ({"serving": None, "delta": None}, "refunds: v4 is scored, and no version is served yet to compare it with"),
    ({"delta": None}, "refunds: v4 and v3 are not both scored on it yet"),
    ({"candidate": None, "serving": None, "delta": None}, "refunds: no version has been scored yet"),
    ({"candidate": "v3", "delta": 0.0}, "refunds: v3 is what is served, so there is nothing to compare"),
    (
        {"tests_differ": True, "excludes_zero": None},
        "refunds: v4 scored +5 against v3, on another version of the test: not a result",
    ),
    ({"excludes_zero": None}, "refunds: v4 scored +5 against v3, without an interval on both: not a result"),
    (
        {"delta": -1.5, "excludes_zero": False},
        "refunds: v4 is about the same as v3 (-1.5; the interval of the difference includes zero)",
    ),
    (
        {"delta": -2.4},
        "refunds: v4 scored -2.4 against v3, within the 2.4 that scoring one model twice differs by: not a result",
    ),
    (
        {},
        "refunds: v4 beats v3 by 5 (the interval of the difference excludes zero; the noise floor is 2.4); "
        "the judge agrees with people at 0.86 over 60, n=240",
    ),
)


@pytest.mark.parametrize(("told", "sentence"), SENTENCES, ids=[sentence[:40] for _, sentence in SENTENCES])
def test_each_case_has_its_sentence(told: dict[str, Any], sentence: str) -> None:
    verdict = PROVEN.model_copy(update=told)
    assert verdict_sentence(verdict) == str(verdict) == sentence


def test_the_table_of_sentences_walks_every_case_in_order() -> None:
    met = [
        next(at for at, (applies, _) in enumerate(CASES) if applies(PROVEN.model_copy(update=told)))
        for told, _ in SENTENCES
    ]
    assert met == list(range(len(CASES)))


UNPROVEN: tuple[tuple[dict[str, Any], str], ...] = (
    ({"n": None}, "the number of runs is not said"),
    ({"n": 49}, "n=49 is below 50"),
    ({"judge_agreement": None}, "the judge was not checked against people"),
    ({"judge_agreement": 0.79}, "a judge is trusted from 0.8 on and this one has 0.79"),
    ({"reward_is_judge": True}, "the reward in training was the judge"),
    ({"contamination": 3}, "3 of the test's tasks were in the training data"),
)


@pytest.mark.parametrize(("told", "reason"), UNPROVEN, ids=[reason for _, reason in UNPROVEN])
@pytest.mark.parametrize("delta", [5.0, -5.0])
def test_each_doubt_makes_a_result_unproven(told: dict[str, Any], reason: str, delta: float) -> None:
    sentence = str(PROVEN.model_copy(update={**told, "delta": delta}))
    word = "beats" if delta > 0 else "trails"
    assert sentence.startswith(f"unproven: refunds: v4 {word} v3 by 5 ")
    assert sentence.endswith(f", but {reason}")


def test_the_table_of_doubts_walks_every_doubt_in_order() -> None:
    met = [
        [at for at, (applies, _) in enumerate(DOUBTS) if applies(PROVEN.model_copy(update=told))]
        for told, _ in UNPROVEN
    ]
    assert met == [[at] for at in range(len(DOUBTS))]


@pytest.mark.parametrize("told", [{"n": 50}, {"judge_agreement": 0.8}, {"contamination": None}, {"noise_floor": None}])
def test_what_is_just_enough_is_proven(told: dict[str, Any]) -> None:
    assert str(PROVEN.model_copy(update=told)).startswith("refunds: v4 beats v3")


def test_several_doubts_are_all_said() -> None:
    sentence = str(PROVEN.model_copy(update={"n": 9, "contamination": 1, "regressions": 2}))
    assert "; 2 other behaviors came out lower, without an interval yet" in sentence
    assert sentence.endswith(", but n=9 is below 50; 1 of the test's tasks were in the training data")


def test_only_a_result_is_called_unproven() -> None:
    told = {"excludes_zero": False, "n": None, "judge_agreement": None}
    assert str(PROVEN.model_copy(update=told)).startswith("refunds: v4 is about the same as v3")


def test_the_verdict_compares_the_candidate_with_what_is_served() -> None:
    made = standing(
        score("v3", 78, ci=2.9, n=200),
        score("v4", 83, ci=2.7, n=240),
        score("v3", 78, "length"),
        score("v4", 76, "length"),
        score("v4", 1, "tone"),
        runs=(run("v3", 0, "refunds"), run("v4", 1, "refunds")),
        serves=(promotion("v3"),),
    )
    verdict = verdict_of(made, "refunds", SAID)
    assert verdict == PROVEN.model_copy(update={"regressions": 1, "n": 200})
    assert [(delta.name, delta.delta, delta.target) for delta in deltas_of(made)] == [
        ("refunds", 5, True),
        ("length", -2, False),
        ("tone", None, False),
    ]
    assert verdict_of(made, "length", None).regressions == 0
    assert verdict_of(made, "tone", SAID).delta is None


def test_the_number_of_runs_is_the_smaller_one_else_what_was_declared() -> None:
    for new, old, n in ((240, 120, 120), (240, None, 240), (None, None, 240)):
        made = standing(
            score("v3", 78, n=old),
            score("v4", 83, n=new),
            runs=(run("v3", 0), run("v4", 1)),
            serves=(promotion("v3"),),
        )
        assert verdict_of(made, "refunds", SAID).n == n


@pytest.mark.parametrize(
    ("served", "candidate"),
    [((), "v3"), (("v1",), "v3"), (("v2",), "v3"), (("v3",), None), (("v1", "v3"), None), (("v3", "v1"), "v3")],
)
def test_the_candidate_is_the_newest_scored_version_beyond_what_is_served(
    served: tuple[str, ...], candidate: str | None
) -> None:
    made = standing(
        *(score(version, 70) for version in ("v1", "v2", "v3")),
        runs=tuple(run(version, hour) for hour, version in enumerate(("v1", "v2", "v3", "v4"))),
        serves=tuple(promotion(version, number) for number, version in enumerate(served, 1)),
    )
    assert (made.serving, made.candidate) == (served[-1] if served else None, candidate)


def test_a_version_is_as_old_as_its_first_sign_of_life() -> None:
    made = standing(
        score("v2", 80),
        score("base", 70, scored_at=NOON + timedelta(hours=9)),
        runs=(run("v2", 5), replace(run("v2", 8), id="again")),
        serves=(promotion("base"), promotion("by-hand", 2, 30)),
        base=NOON - timedelta(days=9),
        v2=NOON + timedelta(hours=6),
    )
    assert made.born == {
        "base": NOON - timedelta(days=9),
        "v2": NOON + timedelta(hours=5),
        "by-hand": NOON + timedelta(hours=30),
    }
    assert made.scored == ["base", "v2"]


def test_what_is_shown_first_is_what_the_newest_run_is_after() -> None:
    aimless = standing(score("v1", 1, "b"), score("v1", 1, "a", scored_at=NOON + timedelta(1)), runs=(run("v1", 0),))
    aimed = standing(score("v1", 1, "b"), runs=(run("v1", 0, "refunds", "x"), run("v2", 1)))
    assert default_behavior(aimed, ["z"]) == "refunds"
    assert default_behavior(aimless, ["z"]) == "a"
    assert default_behavior(standing(), ["y", "z"]) == "y"
    assert default_behavior(standing(), []) is None


def traffic(day: int, version: str | None, replies: int, flagged: int = 0, cost: float | None = None) -> Traffic:
    return Traffic(date(2026, 3, day), version, replies, flagged, 1.0, cost)


def test_a_reported_day_stands_for_its_traces() -> None:
    traced = [traffic(1, None, 5), traffic(1, "v1", 7), traffic(2, "v1", 8)]
    told = [
        LiveDay(date(2026, 3, 2), "v1", 900, 1, None, 2.0),
        LiveDay(date(2026, 3, 1), "v0", 3, 0, None, None),
    ]
    rows = [(row.day.day, row.version, row.replies) for row in together(traced, told)]
    assert rows == [(1, None, 5), (1, "v0", 3), (1, "v1", 7), (2, "v1", 900)]


def test_the_sums_are_of_the_served_version_since_it_serves() -> None:
    served = Promotion("bot", 1, "v2", "me", datetime(2026, 3, 9, 12, tzinfo=UTC))
    days = [
        traffic(1, "v2", 50, 9, 1.0),  # tried out before it was promoted, and more than a week ago
        traffic(8, "v1", 100, 10, 5.0),
        traffic(9, "v1", 40, 4, 5.0),
        traffic(9, "v2", 60, 3, 3.0),
        traffic(10, "v2", 40, 1, None),
        traffic(11, "v2", 0),
    ]
    told = series_of(days, served, date(2026, 3, 11))
    assert (told.served_at_index, told.replies_7d, told.new_failures, told.cost_per_1k) == (3, 100, 4, 50)
    assert told.flagged_pct == [18, 10, 10, 5, 2.5, None]
    everything = series_of(days, None, date(2026, 3, 11))
    assert (everything.served_at_index, everything.replies_7d, everything.new_failures) == (None, 240, 27)


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 2500, 100_000])
def test_a_long_curve_is_thinned_evenly_and_keeps_its_end(count: int) -> None:
    points = [(step, {"loss": 1.0}) for step in range(count)]
    kept = [step for step, _ in thinned(points)]
    assert len(kept) <= 1000
    assert kept[-1:] == [count - 1][: min(count, 1)]
    assert len({later - earlier for earlier, later in pairwise(kept)}) <= 1
