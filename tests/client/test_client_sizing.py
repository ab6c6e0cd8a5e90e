"""How many tasks prove a gain. Numbers marked so are those of the documentation, and of the published client 0.86."""

import math
import random
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev
from typing import Any

import pytest

import whileai.simulations as wai


def graded(*tasks: Sequence[int | float | None], prefix: str = "s") -> list[dict[str, Any]]:
    return [
        {"prompt": f"ask {prefix}{at}", "scenario_id": f"{prefix}{at}", "reward": reward}
        for at, rewards in enumerate(tasks)
        for reward in rewards
    ]


RATES = graded(*([[0] * 4, [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1] * 4] * 4))
LATER = graded(*([[1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0], [1] * 4, [1] * 4] * 4))


@pytest.mark.parametrize(
    ("call", "n_tasks", "concentrated"),
    [
        ({"effect": 0.05}, 367, 409),  # published client
        ({"effect": 0.05, "task_std": 0.38}, 454, None),  # published client
        ({"effect": 0.1, "task_std": 0.38}, 114, None),  # published client
        ({"effect": 0.127, "base": 0.0}, 14, 54),  # documentation: the voice lane
        ({"effect": 0.05, "k": 1}, 1468, 1468),  # published client
        ({"effect": 0.3, "base": 0.5, "k": 8, "power": 0.9, "alpha": 0.01}, 9, 18),  # published client
        ({"effect": 0.05, "before": RATES}, 391, 444),  # published client
        ({"effect": 0.05, "before": RATES, "after": LATER}, 50, None),  # published client
    ],
)
def test_the_number_of_tasks_is_the_documented_one(
    call: dict[str, Any], n_tasks: int, concentrated: int | None
) -> None:
    size = wai.holdout_size(**call)
    assert (size["n_tasks"], size["n_tasks_concentrated"]) == (n_tasks, concentrated)


@pytest.mark.parametrize(("effect", "about"), [(0.1, 50), (0.05, 220), (0.03, 600)])
def test_the_documented_rule_of_thumb_is_the_interval_alone(effect: float, about: int) -> None:
    """An interval that just excludes zero is a coin toss; 80 % power takes twice the tasks."""
    size = wai.holdout_size(effect, task_std=0.38)
    interval_alone = (1.96 * 0.38 / effect) ** 2
    assert interval_alone == pytest.approx(about, rel=0.12)
    ratio = ((1.959964 + 0.841621) / 1.959964) ** 2
    assert size["n_tasks"] / interval_alone == pytest.approx(ratio, rel=0.01)


def test_at_the_number_of_tasks_four_evaluations_in_five_find_the_gain() -> None:
    """Simulated from the model's own assumptions, not from its formula."""
    chance = random.Random(7)
    base, effect, k = 0.6, 0.1, 4
    n_tasks = wai.holdout_size(effect, base=base, k=k)["n_tasks"]
    found = 0
    for _ in range(600):
        gains = [
            fmean(chance.random() < base + effect for _ in range(k)) - fmean(chance.random() < base for _ in range(k))
            for _ in range(n_tasks)
        ]
        found += fmean(gains) > 1.96 * stdev(gains) / math.sqrt(n_tasks)
    assert 0.74 < found / 600 < 0.86


def test_a_gain_carried_by_few_tasks_is_found_at_the_concentrated_number() -> None:
    chance = random.Random(7)
    effect, k = 0.127, 4
    n_tasks = wai.holdout_size(effect, base=0.0, k=k)["n_tasks_concentrated"]
    found = 0
    for _ in range(1000):
        gains = [float(chance.random() < effect) for _ in range(n_tasks)]
        found += fmean(gains) > 1.96 * stdev(gains) / math.sqrt(n_tasks) if any(gains) else 0
    assert 0.72 < found / 1000 < 0.95


@pytest.mark.parametrize(
    ("n_tasks", "gain"), [(5, 0.3407), (10, 0.2647), (50, 0.1309), (100, 0.0942), (220, 0.0643), (1000, 0.0305)]
)
def test_the_detectable_effect_is_that_of_the_published_client(n_tasks: int, gain: float) -> None:
    assert wai.detectable_effect(n_tasks) == gain


@pytest.mark.parametrize("n_tasks", [20, 77, 300, 2000])
@pytest.mark.parametrize("base", [0.0, 0.2, 0.6, 0.85])
@pytest.mark.parametrize("k", [1, 4, 16])
def test_the_two_functions_are_each_others_inverse(n_tasks: int, base: float, k: int) -> None:
    gain = wai.detectable_effect(n_tasks, base=base, k=k)
    if gain is None:
        assert wai.holdout_size(1 - base - 1e-6, base=base, k=k)["n_tasks"] > n_tasks
    else:
        assert wai.holdout_size(gain + 5.1e-5, base=base, k=k)["n_tasks"] <= n_tasks
        assert wai.holdout_size(gain - 1e-4, base=base, k=k)["n_tasks"] >= n_tasks


@pytest.mark.parametrize(("n_tasks", "base"), [(0, 0.6), (1, 0.6), (-3, 0.6), (100, 1.0), (2, 0.6), (10, 0.95)])
def test_too_few_tasks_or_no_room_detect_nothing(n_tasks: int, base: float) -> None:
    assert wai.detectable_effect(n_tasks, base=base) is None


def test_the_keys_are_those_of_the_contract() -> None:
    assert list(wai.holdout_size(0.05)) == [
        "n_tasks",
        "effect",
        "base",
        "k",
        "power",
        "alpha",
        "task_std",
        "sd_source",
        "half_width",
        "n_tasks_concentrated",
        "base_spread",
        "n_paired",
        "saturated",
        "notes",
        "warnings",
    ]


def test_the_half_width_is_that_of_the_interval_at_that_many_tasks() -> None:
    size = wai.holdout_size(0.05, task_std=0.38, alpha=0.1)
    assert size["half_width"] == pytest.approx(NormalDist().inv_cdf(0.95) * 0.38 / math.sqrt(size["n_tasks"]), abs=5e-5)


def test_earlier_rows_give_base_runs_and_spread() -> None:
    size = wai.holdout_size(0.05, before=graded([1, 0], [1, 1, 1, 0], [0] * 8, [1] * 5))
    assert (size["base"], size["k"], size["base_spread"], size["sd_source"]) == (0.5625, 2, 0.427, "model")
    assert wai.holdout_size(0.05, rows=RATES) == wai.holdout_size(0.05, before=RATES)


@pytest.mark.parametrize(
    ("before", "ratio"),
    [
        (graded(*([[1] * 7 + [0] * 3, [1] * 3 + [0] * 7] * 5)), "1.19"),  # spread 0.2 around 0.5
        (graded(*([[1] * 9 + [0], [1] + [0] * 9] * 5)), "2.78"),  # spread 0.4
        (graded(*([[1, 1], [0, 0]] * 5)), "removes all"),
    ],
)
def test_the_note_says_what_pairing_would_save(before: list[dict[str, Any]], ratio: str) -> None:
    assert ratio in wai.holdout_size(0.05, before=before)["notes"][-1]


def test_measured_on_both_arms_no_model_is_needed() -> None:
    size = wai.holdout_size(0.05, before=RATES, after=LATER, task_std=0.9)
    assert (size["sd_source"], size["task_std"], size["n_paired"]) == ("rows", 0.1257, 20)
    assert "task_std= was not used" in size["notes"][1]


def test_only_verdicts_count_not_partial_credit_or_missing_grades() -> None:
    mixed = graded([1, None, 0], [0, 0.5, 1])
    assert wai.holdout_size(0.05, before=mixed)["base"] == 0.5
    assert wai.holdout_size(0.05, before=mixed)["k"] == 2


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"before": graded([1, 1], [1, 1], [1, 0])}, None),
        ({"before": graded([1, 1], [1, 1], [1, 1])}, "at or above the ceiling of 0.90"),
        ({"before": RATES, "ceiling_pass_rate": 0.4}, "ceiling of 0.40"),
        ({"before": RATES, "after": RATES}, "no spread to size from"),
        ({"base": 0.97}, "more than every task"),
        ({"before": graded([1, 1], [1, 1], [1, 1]), "task_std": 0.38}, None),
    ],
)
def test_tasks_that_cannot_show_the_gain_are_said_so(call: dict[str, Any], said: str | None) -> None:
    size = wai.holdout_size(0.05, **call)
    assert size["saturated"] is (said is not None)
    assert [said in warning for warning in size["warnings"] if said] == ([True] if said else [])


def test_a_gain_beyond_every_task_is_said_so_and_the_measured_spread_is_kept() -> None:
    size = wai.holdout_size(0.6, before=RATES, after=LATER)
    assert (size["sd_source"], size["task_std"], size["saturated"]) == ("rows", 0.1257, True)
    assert "more than every task" in size["warnings"][0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"effect": 0}, "effect=0"),
        ({"effect": 5}, "5 points are 0.05"),
        ({"effect": float("nan")}, "effect=nan"),
        ({"effect": 0.05, "base": 1.2}, "base=1.2"),
        ({"effect": 0.05, "k": 0}, "k=0"),
        ({"effect": 0.05, "power": 1.0}, "power=1.0"),
        ({"effect": 0.05, "alpha": 0}, "alpha=0"),
        ({"effect": 0.05, "task_std": 0}, "task_std=0"),
        ({"effect": 0.05, "task_std": float("inf")}, "task_std=inf"),
        ({"effect": 0.05, "after": RATES}, "after= is paired with before="),
        ({"effect": 0.05, "before": []}, "grade the rows first"),
        ({"effect": 0.05, "before": RATES, "after": graded([1, 0], [1, 1])}, "share 2 graded tasks"),
        ({"effect": 0.05, "before": RATES, "after": graded([1], [1], [1], prefix="x")}, "share 0 graded tasks"),
    ],
)
def test_a_question_without_an_answer_is_refused_by_name(call: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wai.holdout_size(**call)
