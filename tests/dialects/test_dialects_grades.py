"""Which grading stands: the latest, whatever order things arrive in, and what a span tells inline."""

from typing import Any

import pytest

from whileai_dialects import Attributes, Event, Grading, LogRecord, Span, summarise


def graded(name: str = "s1", **attributes: Any) -> Span:
    told = {key.replace("__", "."): value for key, value in attributes.items() if not key.startswith("at_")}
    times = {"end": attributes.get("at_end", 100), "version": attributes.get("at_version", 200)}
    first = attributes.get("at_first", times["version"])
    return Span("t", name, start=1, attributes=Attributes.of(told), first_arrival=first, **times)


def evaluation(time: int, **attributes: object) -> Event:
    told = {f"gen_ai.evaluation.{key.replace('__', '.')}": value for key, value in attributes.items()}
    return Event(time, "gen_ai.evaluation.result", Attributes.of(told))


def test_a_reward_on_a_span_is_the_verdict() -> None:
    run = summarise([graded(whileai__reward=1.0)])
    assert (run.reward, run.verdict) == (1.0, "pass")
    assert (run.scores[0].source, run.scores[0].graded_at) == ("attribute", 100)


def test_a_run_without_a_score_has_no_verdict() -> None:
    run = summarise([graded()])
    assert (run.reward, run.verdict, run.scores) == (None, None, [])


@pytest.mark.parametrize(("score", "bar", "verdict"), [(0.7, 0.7, "pass"), (0.6, 0.7, "fail"), (0.9, None, "fail")])
def test_a_sent_run_passes_at_its_own_bar(score: float, bar: float | None, verdict: str) -> None:
    assert summarise([graded(zeroproof__score=score, zeroproof__score__pass_at=bar)]).verdict == verdict


@pytest.mark.parametrize("value", ["1.0", "good", None, float("nan"), float("inf"), [1.0]])
def test_what_is_no_number_is_no_reward(value: object) -> None:
    assert summarise([graded(whileai__reward=value)]).reward is None


def test_true_and_false_are_one_and_zero() -> None:
    assert [summarise([graded(whileai__reward=value)]).reward for value in (True, False)] == [1.0, 0.0]


@pytest.mark.parametrize("value", [0.1 + 0.2, 1e-300, -0.0])
def test_scores_are_exact_to_the_bit(value: float) -> None:
    assert str(summarise([graded(whileai__reward=value)]).reward) == str(value)


def test_the_latest_grading_wins_and_the_earlier_stay_as_history() -> None:
    calls = [Grading("score", value, graded_at=at, version=at) for at, value in [(300, 0.0), (500, 1.0), (400, 0.5)]]
    run = summarise([graded(whileai__reward=0.2)], (), calls)
    assert (run.reward, run.scores[0].source, run.scores[0].graded_at) == (1.0, "call", 500)
    assert [grading.value for grading in run.scores[0].history] == [0.5, 0.0, 0.2]


def test_a_resent_span_does_not_undo_a_correction() -> None:
    correction = Grading("score", 0.0, graded_at=300, version=300)
    again = graded(whileai__reward=1.0, at_end=10**19, at_version=900, at_first=200)
    assert summarise([again], (), [correction]).reward == 0.0


def test_a_clock_in_the_future_does_not_undo_a_correction() -> None:
    correction = Grading("score", 0.0, graded_at=300, version=300)
    assert summarise([graded(whileai__reward=1.0, at_end=10**18)], (), [correction]).reward == 0.0


def test_at_the_same_moment_a_call_beats_an_event_and_an_event_an_attribute() -> None:
    span = graded(whileai__reward=0.1)
    span._events = [evaluation(100, name="score", score__value=0.2)]
    assert summarise([span]).reward == 0.2
    assert summarise([span], (), [Grading("score", 0.3, graded_at=100)]).reward == 0.3


def test_the_standard_event_tells_measurements_of_any_name() -> None:
    span = graded()
    span._events = [
        evaluation(50, name="tone", score__label="friendly", explanation="thanks the user"),
        evaluation(60, name="score", score__value=1.0),
        evaluation(70, score__value=1.0),
        evaluation(80, name="empty"),
    ]
    run = summarise([span])
    assert [(score.name, score.value, score.label, score.source) for score in run.scores] == [
        ("score", 1.0, None, "event"),
        ("tone", None, "friendly", "event"),
    ]
    assert run.scores[1].extra == {"explanation": "thanks the user"}


def test_the_standard_event_may_be_a_log_record() -> None:
    told = {"gen_ai.evaluation.name": "score", "gen_ai.evaluation.score.value": 1.0}
    log = LogRecord(
        "t", "s1", time=90, event_name="gen_ai.evaluation.result", attributes=Attributes.of(told), version=95
    )
    run = summarise([graded()], [log])
    assert (run.verdict, run.scores[0].graded_at) == ("pass", 90)


def test_a_score_may_stand_before_its_trace_has_come() -> None:
    run = summarise([], (), [Grading("score", 1.0, graded_at=5, version=5)])
    assert (run.verdict, run.span_count, run.version) == ("pass", 0, 5)


def test_other_names_are_no_verdict() -> None:
    run = summarise([graded()], (), [Grading("helpful", 1.0, graded_at=5)])
    assert (run.verdict, [score.name for score in run.scores]) == (None, ["helpful"])
