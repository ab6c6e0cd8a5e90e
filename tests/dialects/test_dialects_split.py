"""The decisions that every machine must take alike: pass or fail, train or holdout."""

import pytest

from whileai_dialects import holdout_bucket, is_holdout, pass_rule


@pytest.mark.parametrize(
    ("key", "bucket"),
    [
        ("sc_0", 0.333680),
        ("sc_1", 0.722638),
        ("sc_2", 0.756282),
        ("sc_3", 0.876661),
        ("sc_4", 0.339326),
        ("sc_5", 0.332824),
    ],
)
def test_a_task_lies_where_the_contract_says(key: str, bucket: float) -> None:
    assert round(holdout_bucket(key), 6) == bucket


def test_a_fraction_of_zero_holds_nothing_out() -> None:
    assert not any(is_holdout(f"task {n}", 0.0) for n in range(1000))


def test_a_fraction_holds_out_about_that_share() -> None:
    assert 170 < sum(is_holdout(f"task {n}", 0.2) for n in range(1000)) < 230


def test_any_text_is_a_key() -> None:
    assert 0 <= holdout_bucket("\ud83d lone \0 nul") <= 1


@pytest.mark.parametrize(
    ("value", "bar", "verdict"),
    [
        (1.0, None, "pass"),
        (0.999, None, "fail"),
        (0.7, 0.7, "pass"),
        (0.0, 0.0, "pass"),
        (None, None, None),
        (-1, 0, "fail"),
    ],
)
def test_a_score_passes_at_its_bar(value: float | None, bar: float | None, verdict: str | None) -> None:
    assert pass_rule(value, bar) == verdict
