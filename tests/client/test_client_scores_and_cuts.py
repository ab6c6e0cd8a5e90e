"""Grading runs and cutting training data."""

from typing import Any

import pytest
from client.recording_service import Service

import whileai.simulations as wai
from whileai import scores
from whileai.errors import PlatformError

TRACE = "4bf92f3577b34da6"


@pytest.fixture
def grading(platform: Service) -> Service:
    platform.answers("POST", "/v1/scores", {"applied": 1})
    return platform


@pytest.mark.parametrize(
    ("args", "fields", "sent"),
    [
        ((TRACE, 1.0), {}, {"traceId": TRACE, "name": "score", "value": 1.0}),
        ((TRACE, True), {}, {"traceId": TRACE, "name": "score", "value": 1.0}),
        ((TRACE, 0.0), {"name": "tone"}, {"traceId": TRACE, "name": "tone", "value": 0.0}),
        ((TRACE,), {"label": "rude"}, {"traceId": TRACE, "name": "score", "label": "rude"}),
        ((TRACE, 0.8), {"pass_at": 0.7}, {"traceId": TRACE, "name": "score", "value": 0.8, "pass_at": 0.7}),
        ((TRACE, "fine"), {}, {"traceId": TRACE, "name": "score", "value": "fine"}),
        (
            (TRACE,),
            {"scores": [{"value": False}, {"name": "tone", "value": 0.5, "trace_id": "aa"}]},
            {
                "traceId": TRACE,
                "scores": [{"name": "score", "value": 0.0}, {"name": "tone", "value": 0.5, "traceId": "aa"}],
            },
        ),
        (
            (),
            {"scores": [{"traceId": "aa", "label": "x"}], "name": "tone"},
            {"scores": [{"traceId": "aa", "label": "x", "name": "tone"}]},
        ),
    ],
)
def test_a_grade_is_sent_as_the_contract_says(
    grading: Service, args: tuple[Any, ...], fields: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert wai.send_score(*args, **fields) == {"applied": 1}
    assert grading.last.json == sent


@pytest.mark.parametrize(
    ("args", "fields", "said"),
    [
        ((), {}, "which run is graded"),
        ((TRACE,), {}, "'score' has no value"),
        ((), {"scores": [{"value": 1}]}, "which run is graded"),
        ((TRACE,), {"scores": [{"name": "tone"}]}, "'tone' has no value"),
        ((TRACE,), {"scores": []}, "scores= is empty"),
    ],
)
def test_a_grade_of_nothing_is_refused_before_it_is_sent(
    grading: Service, args: tuple[Any, ...], fields: dict[str, Any], said: str
) -> None:
    with pytest.raises(PlatformError, match=said):
        wai.send_score(*args, **fields)
    assert grading.requests == []


def test_a_grade_whose_trace_is_still_on_its_way_is_no_error(platform: Service) -> None:
    answer = {"applied": 0, "unknown": [TRACE], "pending": [TRACE]}
    platform.answers("POST", "/v1/scores", answer)
    assert wai.send_score(TRACE, 1.0) == answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"applied": 0, "unknown": list("abcde")}, "no run a, b, c and 2 more"),
        ({"unknown": ["a"]}, "no run a; check"),
        ({"applied": 0, "rejected": [{"error": "value is text"}], "unknown": ["a"]}, "value is text"),
        ({"applied": 0, "rejected": ["plain words"]}, "plain words"),
        ({}, "gave no reason"),
    ],
)
def test_a_grade_that_was_not_taken_is_an_error_with_the_reason(
    platform: Service, answer: dict[str, Any], said: str
) -> None:
    platform.answers("POST", "/v1/scores", answer)
    with pytest.raises(PlatformError, match=said):
        wai.send_score(TRACE, 1.0)


def test_a_partly_good_batch_comes_back_with_its_lists(platform: Service) -> None:
    answer = {"applied": 1, "unknown": ["bb"], "rejected": [{"error": "x"}]}
    platform.answers("POST", "/v1/scores", answer)
    assert wai.send_score(scores=[{"trace_id": "aa", "value": 1}, {"trace_id": "bb", "value": 1}]) == answer


def test_a_large_batch_goes_out_in_parts_and_comes_back_as_one(
    platform: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scores, "SCORES_PER_REQUEST", 2)
    platform.answers("POST", "/v1/scores", {"applied": 2}, {"applied": 1, "unknown": ["d"]}, {"applied": 1})
    answer = wai.send_score(scores=[{"trace_id": name, "value": 1} for name in "abcde"])
    assert answer == {"applied": 4, "unknown": ["d"], "pending": [], "rejected": []}
    assert [len(request.json["scores"]) for request in platform.requests] == [2, 2, 1]


def test_cuts_asks_with_the_filter_and_says_which(platform: Service) -> None:
    platform.answers("GET", "/traces/cuts", {"prompts": 3})
    report = wai.cuts("My-Bot", since="7d", model="m-1", evalSet="e", tool=None)
    wanted = {"agent": "my-bot", "from": "7d", "model": "m-1", "evalSet": "e"}
    assert platform.last.query == wanted
    assert report == {"prompts": 3, "filter": wanted}


def test_the_filter_that_the_service_names_is_kept(platform: Service) -> None:
    platform.answers("GET", "/traces/cuts", {"filter": {"agent": "named"}})
    assert wai.cuts()["filter"] == {"agent": "named"}


def test_a_cut_is_made_and_its_two_sets_are_at_hand(platform: Service) -> None:
    made = [{"role": "holdout", "datasetId": "ds_h"}, {"role": "train", "datasetId": "ds_t"}]
    platform.answers("POST", "/datasets/cut", {"made": made})
    cut = wai.cut("My-Bot", kind="RL", band=(0.3, 0.7), holdout=0.0, name="n", model=7)
    assert platform.last.json == {
        "filter": {"model": "7", "agent": "my-bot", "from": "all"},
        "kind": "rl",
        "holdout": 0.0,
        "lo": 0.3,
        "hi": 0.7,
        "name": "n",
    }
    assert (cut["train"], cut["holdout"]) == (made[1], made[0])


def test_a_side_that_is_empty_is_none_and_defaults_are_the_services(platform: Service) -> None:
    platform.answers("POST", "/datasets/cut", {"made": [{"role": "train", "datasetId": "ds_t"}]})
    assert wai.cut()["holdout"] is None
    assert platform.last.json == {"filter": {"from": "all"}, "kind": "rl"}


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (
            {"rl": {"prompts": 3, "rows": 12, "train": 2, "holdout": 1}, "sft": {"prompts": 5}},
            'tasks are worth training on (12 runs; 2 tasks to train, 1 held out): wai.cut(kind="rl")',
        ),
        (
            {"rl": {"prompts": 1, "rows": 1, "train": 1}},
            "1 task is worth training on (1 run; 1 task to train, none held",
        ),
        ({"rl": {"prompts": 0}, "sft": {"prompts": 4, "train": 3, "holdout": 1}}, 'wai.cut(kind="sft")'),
        ({"prompts": 0, "noReward": 5, "rl": None}, "5 runs of known tasks, none with a verdict"),
        ({"prompts": 0, "runs": 1}, "1 run, and none says which task it tried"),
        ({}, "0 runs, and none says"),
        (
            {"prompts": 3, "more": {"prompts": 2}, "kinds": {"solved": {"prompts": 1}}, "noReward": 9},
            "2 tasks with too few runs, 1 always passed",
        ),
    ],
)
def test_the_report_is_one_sentence_chosen_by_what_can_be_done(report: dict[str, Any], said: str) -> None:
    sentence = wai.format_cuts(report)
    assert said in sentence
    assert sentence.count("\n") == 0


def test_the_sentence_names_the_agent_asked_for_or_filtered_by() -> None:
    report = {"rl": {"prompts": 2}, "filter": {"agent": "filtered"}}
    assert 'agent="filtered"' in wai.format_cuts(report)
    assert 'agent="asked"' in wai.format_cuts(report, agent="asked")
