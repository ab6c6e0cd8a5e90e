"""How many tasks an evaluation needs to prove a gain, and the gain that a number of tasks can prove.

The paired design: the same tasks before and after, k runs of each on either side; what varies is a task's difference.
Tasks are the sample. More runs per task sharpen each difference but never replace tasks.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, pvariance, stdev
from typing import Any

from whileai.rows import verdicts_by_task

DEFAULT_BASE = 0.6
FEWEST_TASKS = 2  # a spread needs two
FEWEST_PAIRS = 3  # below it a measured spread says nothing
NO_SPREAD = 1e-9

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class _Measured:
    """What earlier rows say: the base pass rate, the runs per task, how tasks and their differences spread."""

    base: float
    k: int
    base_variance: float
    base_spread: float | None
    n_tasks: int
    differences: tuple[float, ...] | None


def holdout_size(
    effect: float,
    *,
    base: float = DEFAULT_BASE,
    k: int = 4,
    power: float = 0.8,
    alpha: float = 0.05,
    before: Rows | None = None,
    after: Rows | None = None,
    task_std: float | None = None,
    rows: Rows | None = None,
    ceiling_pass_rate: float = 0.9,
) -> dict[str, Any]:
    """The number of paired tasks at which a true gain of `effect` is found with probability `power`.

    n = ((z[1 - alpha/2] + z[power]) · sd / effect)², the sample size of a two-sided z test on paired differences
    (Cohen, *Statistical Power Analysis*, 1988, ch. 2; for model evaluations Miller, arXiv 2411.00640, sec. 5).

    `sd` is the spread of a task's difference, from the best source at hand, which `sd_source` names: `rows`, measured
    on `before` and `after` (the covariance that pairing buys is in it); `given`, as `task_std`; else a binomial
    `model` at `base` with `k` runs.

    The model spreads the gain evenly; `n_tasks_concentrated` is the count when it is carried by tasks that move from
    `base` to always passed while the others stay. An interval alone that just excludes zero takes
    (1.96 · sd / effect)² tasks, half as many, and finds the gain in one try out of two:

    >>> holdout_size(0.05, task_std=0.38)["n_tasks"], math.ceil((1.96 * 0.38 / 0.05) ** 2)
    (454, 222)
    >>> voice = holdout_size(0.127, base=0.0)
    >>> voice["n_tasks"], voice["n_tasks_concentrated"]
    (14, 54)
    """
    _check(effect, base, k, power, alpha, task_std)
    before = before if before is not None else rows
    if after is not None and before is None:
        raise ValueError("after= is paired with before=; give both, or before= alone")
    z = _z(power, alpha)
    notes: list[str] = []
    warnings: list[str] = []
    measured = _measure(before, after) if before is not None else None
    if measured is not None:
        base, k = measured.base, measured.k
    spread = _spread(measured, task_std, notes)
    cause = _nothing_to_size_from(base, spread, ceiling_pass_rate, measured)
    impossible = base + effect > 1 + NO_SPREAD and (spread is None or spread[1] != "given")
    model_base = min(DEFAULT_BASE, 1 - effect) if cause else base
    source = "model" if cause or spread is None else spread[1]
    concentrated = None
    if source == "model":
        sd = _even_sd(model_base, effect, k)
        concentrated = _tasks(z, _concentrated_sd(model_base, effect, k), effect)
        notes.append(_model_note(_tasks(z, sd, effect), concentrated))
        if measured is not None and not cause:
            notes.append(_pairing_note(measured))
    else:
        assert spread is not None
        sd = spread[0]
    if cause:
        warnings.append(
            f"{cause}; n_tasks is what the model says for a base of {model_base:.2f} and k={k}, not a measurement. "
            "Use harder tasks, passed 20 % to 80 % of the time, and size again on those"
        )
    elif impossible:
        warnings.append(
            f"a gain of {effect} over a base of {base:.2f} would be more than every task; use harder tasks, "
            "or ask for less"
        )
    n_tasks = _tasks(z, sd, effect)
    return {
        "n_tasks": n_tasks,
        "effect": effect,
        "base": base,
        "k": k,
        "power": power,
        "alpha": alpha,
        "task_std": round(sd, 4),
        "sd_source": source,
        "half_width": round(NormalDist().inv_cdf(1 - alpha / 2) * sd / math.sqrt(n_tasks), 4),
        "n_tasks_concentrated": concentrated,
        "base_spread": None if measured is None or measured.base_spread is None else round(measured.base_spread, 4),
        "n_paired": len(measured.differences) if measured and measured.differences and source == "rows" else None,
        "saturated": cause is not None or impossible,
        "notes": notes,
        "warnings": warnings,
    }


def detectable_effect(
    n_tasks: int, *, base: float = DEFAULT_BASE, k: int = 4, power: float = 0.8, alpha: float = 0.05
) -> float | None:
    """The smallest gain that `n_tasks` paired tasks find with probability `power`; None when no gain above `base` is.

    `holdout_size` solved for the gain under the same binomial model: with z and q = 1 - base, the positive root of
    (n·k + z²)·e² - z²·(1 - 2·base)·e - 2·z²·base·q = 0.

    >>> detectable_effect(100)
    0.0942
    """
    _check(0.5, base, k, power, alpha, None)
    if n_tasks < FEWEST_TASKS:
        return None
    z2 = _z(power, alpha) ** 2
    square, linear, constant = n_tasks * k + z2, z2 * (1 - 2 * base), 2 * z2 * base * (1 - base)
    gain = (linear + math.sqrt(linear**2 + 4 * square * constant)) / (2 * square)
    return round(gain, 4) if 0 < gain <= 1 - base else None


def _check(effect: float, base: float, k: int, power: float, alpha: float, task_std: float | None) -> None:
    problems = (
        (not 0 < effect < 1, f"effect={effect!r} must be a gain in pass rate between 0 and 1; 5 points are 0.05"),
        (not 0 <= base <= 1, f"base={base!r} must be a pass rate from 0 to 1"),
        (k < 1, f"k={k!r} must be at least one run per task"),
        (not 0 < power < 1, f"power={power!r} must be a probability between 0 and 1; 0.8 is usual"),
        (not 0 < alpha < 1, f"alpha={alpha!r} must be a probability between 0 and 1; 0.05 is usual"),
        (
            task_std is not None and not (task_std > 0 and math.isfinite(task_std)),
            f"task_std={task_std!r} must be a spread above 0; agent evaluations lie near 0.38",
        ),
    )
    for wrong, message in problems:
        if wrong:
            raise ValueError(message)


def _z(power: float, alpha: float) -> float:
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)


def _tasks(z: float, sd: float, effect: float) -> int:
    return max(FEWEST_TASKS, math.ceil((z * sd / effect) ** 2 - NO_SPREAD))


def _even_sd(base: float, effect: float, k: int) -> float:
    """The spread of a task's difference when all tasks gain alike: two independent means of k coin tosses."""
    raised = min(1.0, base + effect)
    return math.sqrt((base * (1 - base) + raised * (1 - raised)) / k)


def _concentrated_sd(base: float, effect: float, k: int) -> float:
    """The spread when a share of tasks goes from `base` to always passed and the rest only repeats itself."""
    room = 1 - base
    share = min(1.0, effect / room) if room > 0 else 1.0
    between = share * (1 - share) * room**2
    within = (2 - share) * base * (1 - base) / k
    return max(math.sqrt(between + within), _even_sd(base, effect, k))


def _measure(before: Rows, after: Rows | None) -> _Measured:
    tasks = verdicts_by_task(before)
    if not tasks:
        raise ValueError("no row of before= has a reward of 0 or 1; grade the rows first, or give base= and k=")
    rates = {task: fmean(verdicts) for task, verdicts in tasks.items()}
    return _Measured(
        base=fmean(rates.values()),
        k=min(len(verdicts) for verdicts in tasks.values()),
        base_variance=pvariance(rates.values()),
        base_spread=stdev(rates.values()) if len(rates) > 1 else None,
        n_tasks=len(rates),
        differences=None if after is None else _differences(rates, after),
    )


def _differences(rates: Mapping[str, float], after: Rows) -> tuple[float, ...]:
    later = verdicts_by_task(after)
    paired = tuple(fmean(later[task]) - rate for task, rate in rates.items() if task in later)
    if len(paired) < FEWEST_PAIRS:
        raise ValueError(
            f"before= and after= share {len(paired)} graded tasks and a measured spread needs {FEWEST_PAIRS}; "
            "run both on the same tasks, or give task_std="
        )
    return paired


def _spread(measured: _Measured | None, task_std: float | None, notes: list[str]) -> tuple[float, str] | None:
    """The spread that need not be modelled, and its source."""
    if measured is not None and measured.differences is not None:
        sd = stdev(measured.differences)
        notes.append(f"the spread {sd:.3f} was measured on the paired differences of {len(measured.differences)} tasks")
        if task_std is not None:
            notes.append("task_std= was not used: both arms are there to measure it on")
        return sd, "rows"
    if task_std is not None:
        notes.append(f"the spread {task_std:.3f} was given; no model was used")
        return task_std, "given"
    return None


def _nothing_to_size_from(
    base: float, spread: tuple[float, str] | None, ceiling: float, measured: _Measured | None
) -> str | None:
    """Why these rows say nothing about a size, in words; None when they do."""
    if spread is not None and spread[1] == "given":
        return None
    if measured is not None and base >= ceiling:
        return f"the rows already pass {base:.2f} of their tasks, at or above the ceiling of {ceiling:.2f}"
    if spread is not None and spread[0] < NO_SPREAD:
        return "every task differs by the same amount between the two arms, so there is no spread to size from"
    return None


def _model_note(even: int, concentrated: int) -> str:
    return (
        f"{even} tasks suffice when all tasks gain alike and the two arms are independent; carried by a few tasks "
        f"the gain takes {concentrated} (n_tasks_concentrated). Measure instead: before= and after=, or task_std="
    )


def _pairing_note(measured: _Measured) -> str:
    variance = measured.base * (1 - measured.base)
    share = measured.base_variance / variance if variance else 1.0
    spread = f"the tasks' pass rates spread with sd {measured.base_spread or 0.0:.3f}"
    if share > 1 - NO_SPREAD:
        return f"{spread}: every task is always or never passed, and pairing removes all of that variance"
    return f"{spread}: the model asks for {1 / (1 - share):.2f} times the tasks that pairing needs"
