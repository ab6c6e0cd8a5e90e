"""A verdict in one sentence: whether the candidate beats what is served, and what that rests on.

A table of cases in order, and a table of what makes a result unproven; the first case that applies is said.
"""

from collections.abc import Callable

from whileai.dashboards import Verdict

ENOUGH_RUNS = 50
ENOUGH_AGREEMENT = 0.8


def verdict_sentence(verdict: Verdict) -> str:
    """Say what is known.

    >>> print(verdict_sentence(Verdict(serving="v3", candidate="v4", delta=1.0, excludes_zero=False)))
    v4 is about the same as v3 (+1; the interval of the difference includes zero)
    """
    say = next(say for applies, say in CASES if applies(verdict))
    told = f"{verdict.behavior}: {say(verdict)}" if verdict.behavior else say(verdict)
    doubts = unproven(verdict) if say is _result else []
    return f"unproven: {told}, but {'; '.join(doubts)}" if doubts else told


def unproven(verdict: Verdict) -> list[str]:
    """Why a difference is no proof; empty when it is one."""
    return [say(verdict) for applies, say in DOUBTS if applies(verdict)]


def _result(verdict: Verdict) -> str:
    delta = verdict.delta or 0
    floor = verdict.noise_floor
    cleared = "no noise floor is declared" if floor is None else f"the noise floor is {floor:g}"
    return (
        f"{verdict.candidate} {'beats' if delta > 0 else 'trails'} {verdict.serving} by {abs(delta):g} "
        f"(the interval of the difference excludes zero; {cleared}){_regressions(verdict)}{_ground(verdict)}"
    )


def _regressions(verdict: Verdict) -> str:
    count = verdict.regressions
    if not count:
        return ""
    return f"; {count} other {'behavior' if count == 1 else 'behaviors'} came out lower, without an interval yet"


def _ground(verdict: Verdict) -> str:
    if verdict.judge_agreement is None or verdict.n is None:
        return ""
    people = f" over {verdict.judge_human_n}" if verdict.judge_human_n is not None else ""
    return f"; the judge agrees with people at {verdict.judge_agreement:g}{people}, n={verdict.n}"


def _signed(verdict: Verdict) -> str:
    return f"{verdict.delta or 0:+g}"


Case = tuple[Callable[[Verdict], bool], Callable[[Verdict], str]]

CASES: tuple[Case, ...] = (
    (
        lambda v: v.delta is None and v.candidate is None and v.serving is not None,
        lambda v: f"{v.serving} is served, and no newer version has been scored",
    ),
    (
        lambda v: v.delta is None and v.serving is None and v.candidate is not None,
        lambda v: f"{v.candidate} is scored, and no version is served yet to compare it with",
    ),
    (
        lambda v: v.delta is None and v.candidate is not None,
        lambda v: f"{v.candidate} and {v.serving} are not both scored on it yet",
    ),
    (lambda v: v.delta is None, lambda _: "no version has been scored yet"),
    (lambda v: v.candidate == v.serving, lambda v: f"{v.serving} is what is served, so there is nothing to compare"),
    (
        lambda v: bool(v.tests_differ),
        lambda v: (
            f"{v.candidate} scored {_signed(v)} against {v.serving}, on another version of the test: not a result"
        ),
    ),
    (
        lambda v: v.excludes_zero is None,
        lambda v: f"{v.candidate} scored {_signed(v)} against {v.serving}, without an interval on both: not a result",
    ),
    (
        lambda v: v.excludes_zero is False,
        lambda v: (
            f"{v.candidate} is about the same as {v.serving} "
            f"({_signed(v)}; the interval of the difference includes zero)"
        ),
    ),
    (
        lambda v: v.noise_floor is not None and abs(v.delta or 0) <= v.noise_floor,
        lambda v: (
            f"{v.candidate} scored {_signed(v)} against {v.serving}, "
            f"within the {v.noise_floor:g} that scoring one model twice differs by: not a result"
        ),
    ),
    (lambda _: True, _result),
)

DOUBTS: tuple[Case, ...] = (
    (lambda v: v.n is None, lambda _: "the number of runs is not said"),
    (lambda v: v.n is not None and v.n < ENOUGH_RUNS, lambda v: f"n={v.n} is below {ENOUGH_RUNS}"),
    (lambda v: v.judge_agreement is None, lambda _: "the judge was not checked against people"),
    (
        lambda v: v.judge_agreement is not None and v.judge_agreement < ENOUGH_AGREEMENT,
        lambda v: f"a judge is trusted from {ENOUGH_AGREEMENT:g} on and this one has {v.judge_agreement:g}",
    ),
    (lambda v: bool(v.reward_is_judge), lambda _: "the reward in training was the judge"),
    (lambda v: bool(v.contamination), lambda v: f"{v.contamination} of the test's tasks were in the training data"),
)
