"""Prompts that are nearly the same words."""

import itertools
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import whileai.simulations as wai
from whileai import near_copies
from whileai.near_copies import near_copies_across_tasks, words_of

BASE = "please cancel my reservation for tomorrow evening and refund the money to my card today"


def rows(*prompts: str | None) -> list[dict[str, Any]]:
    return [{"prompt": prompt} for prompt in prompts]


@pytest.mark.parametrize(
    ("other", "likeness"),  # the likeness that the published client reports
    [
        (BASE + " thanks", 0.933),
        (BASE.replace("tomorrow", "monday"), 0.867),
        (BASE.upper() + "!", 1.0),
        (" ".join(reversed(BASE.split())), 1.0),
        (BASE + " thanks so much", 0.824),
    ],
)
def test_the_likeness_is_that_of_the_published_client(other: str, likeness: float) -> None:
    report = wai.near_duplicate_prompts(rows(BASE, other))
    assert report == {
        "n_prompts": 2,
        "n_pairs": 1,
        "n_prompts_involved": 2,
        "threshold": 0.8,
        "examples": [{"a": BASE[:80], "b": other[:80], "jaccard": likeness}],
        "capped": False,
    }


@pytest.mark.parametrize("prompts", [[], [BASE, BASE], ["cancel it", "cancel it now"], ["", None, "   "], ["?!", "!?"]])
def test_equal_prompts_short_ones_and_none_are_no_pairs(prompts: list[str | None]) -> None:
    assert wai.near_duplicate_prompts(rows(*prompts))["n_pairs"] == 0


def test_a_script_without_spaces_is_compared_by_its_characters() -> None:
    report = wai.near_duplicate_prompts(rows("请取消我明天晚上的预订并退款", "请取消我后天晚上的预订并退款"))
    assert report["n_pairs"] == 1


@given(
    st.lists(st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=8).map(" ".join), max_size=25),
    st.sampled_from([0.3, 0.5, 2 / 3, 0.75, 0.8, 0.9, 1.0]),
)
def test_every_pair_is_found_that_comparing_all_with_all_finds(prompts: list[str], threshold: float) -> None:
    distinct = list(dict.fromkeys(prompts))
    pairs = [
        (a, b)
        for a, b in itertools.combinations(distinct, 2)
        if len(words_of(a) & words_of(b)) / len(words_of(a) | words_of(b)) >= threshold
    ]
    report = wai.near_duplicate_prompts(rows(*prompts), threshold=threshold)
    assert (report["n_pairs"], report["n_prompts_involved"]) == (len(pairs), len({p for pair in pairs for p in pair}))
    assert len(report["examples"]) == min(len(pairs), near_copies.EXAMPLES)


@given(
    st.lists(
        st.tuples(st.sampled_from("xyz"), st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5).map(" ".join)),
        max_size=20,
    )
)
def test_across_tasks_every_pair_of_different_tasks_is_found_and_no_other(pairs: list[tuple[str, str]]) -> None:
    distinct = list(dict.fromkeys(pairs))
    alike = [
        (one, other)
        for one, other in itertools.combinations(distinct, 2)
        if one[0] != other[0]
        and len(words_of(one[1]) & words_of(other[1])) / len(words_of(one[1]) | words_of(other[1])) >= 0.8
    ]
    report = near_copies_across_tasks(pairs)
    assert report["n_pairs"] == len(alike)
    assert report["n_tasks_involved"] == len({task for pair in alike for task, _ in pair})
    assert all(example["task_a"] != example["task_b"] for example in report["examples"])


def test_one_prompt_under_two_tasks_is_a_near_copy_across_them() -> None:
    report = near_copies_across_tasks([("sc_1", BASE), ("sc_2", BASE), ("sc_1", BASE + " thanks"), ("sc_3", "other")])
    assert (report["n_tasks"], report["n_tasks_involved"], report["n_pairs"]) == (3, 2, 2)
    assert report["examples"][0] == {"a": BASE[:80], "b": BASE[:80], "jaccard": 1.0, "task_a": "sc_1", "task_b": "sc_2"}


def test_one_template_with_a_number_in_it_counts_every_pair_without_comparing_them() -> None:
    report = wai.near_duplicate_prompts(rows(*(f"{BASE} number {n}" for n in range(20_000))))
    assert report["n_pairs"] == 20_000 * 19_999 // 2
    assert report["n_prompts_involved"] == 20_000
    assert report["capped"] is False


def test_twenty_thousand_prompts_of_few_templates_are_bounded_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two slots filled from lists: every prompt has thousands of look-alikes, and only so many are compared."""
    monkeypatch.setattr(near_copies, "CANDIDATES", 20)
    chance = random.Random(3)
    names, cities = [f"name{n}" for n in range(150)], [f"city{n}" for n in range(150)]
    asks = dict.fromkeys(
        f"please book a table for {chance.choice(names)} in {chance.choice(cities)} for two people tonight at eight"
        for _ in range(20_000)
    )
    report = wai.near_duplicate_prompts(rows(*asks))
    assert report["capped"] is True
    assert 0 < report["n_pairs"] <= 20 * len(asks)
    assert report["n_prompts_involved"] == len(asks)


@pytest.mark.parametrize("threshold", [0, -1, 1.5, float("nan")])
def test_a_threshold_that_means_nothing_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold="):
        wai.near_duplicate_prompts(rows("a", "b"), threshold=threshold)
