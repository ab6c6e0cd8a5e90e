"""The verdict on a candidate: how far it is from the served version on one behavior, and what that rests on. Pure.

The sentence is `whileai.verdict_words`; which versions are compared is `standings`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from whileai.dashboards import Delta, Verdict
from whileai.tracked_models import SaidOfBehavior
from whileai_query.standings import Standing
from whileai_registry import RunScore

# Scores are decimal numbers of people; a difference is shown without the dust of binary ones.
DIGITS = 9


@dataclass(frozen=True, slots=True)
class Difference:
    """Candidate minus served. `excludes_zero` is None where the intervals do not say."""

    delta: float | None = None
    excludes_zero: bool | None = None
    tests_differ: bool = False


def difference(candidate: RunScore | None, served: RunScore | None) -> Difference:
    """The interval of a difference of independent means: the root of the sum of squares of the two half-widths."""
    if candidate is None or served is None:
        return Difference()
    delta = round(candidate.score - served.score, DIGITS)
    differ = None not in (tests := (candidate.test_version, served.test_version)) and len(set(tests)) == 2
    if differ or candidate.ci is None or served.ci is None:
        return Difference(delta, None, differ)
    return Difference(delta, abs(delta) > math.hypot(candidate.ci, served.ci))


def verdict_of(standing: Standing, behavior: str | None, said: SaidOfBehavior | None) -> Verdict:
    """The candidate against what is served on this behavior."""
    serving, candidate = standing.serving, standing.candidate
    if behavior is None:
        return Verdict(candidate=candidate, serving=serving)
    new, old = standing.score(candidate, behavior), standing.score(serving, behavior)
    found = difference(new, old)
    judge = said.judge if said else None
    return Verdict(
        candidate=candidate,
        serving=serving,
        delta=found.delta,
        excludes_zero=found.excludes_zero,
        tests_differ=found.tests_differ or None,
        regressions=sum((other.delta or 0) < 0 for other in deltas_of(standing) if other.name != behavior),
        behavior=behavior,
        noise_floor=said.noise_floor if said else None,
        n=min((score.n for score in (new, old) if score and score.n), default=said.n if said else None),
        judge_agreement=judge.agreement if judge else None,
        judge_human_n=judge.human_n if judge else None,
        reward_is_judge=said.reward_is_judge if said else None,
        contamination=said.contamination if said else None,
    )


def deltas_of(standing: Standing) -> list[Delta]:
    """What moved on every scored behavior; what the candidate's own runs claim to move comes first."""
    targets = targets_of(standing)
    return sorted(
        (_delta(standing, name, name in targets) for name in {behavior for _, behavior in standing.scores}),
        key=lambda delta: (not delta.target, delta.name),
    )


def targets_of(standing: Standing) -> set[str]:
    """The behaviors that the runs of the candidate are after."""
    return {name for run in standing.runs if run.version == standing.candidate for name in run.targets}


def default_behavior(standing: Standing, declared: Iterable[str]) -> str | None:
    """What the newest run is after; else the behavior that was scored last, else the first one that is declared."""
    aimed = (target for run in standing.runs for target in run.targets)
    scored = (
        score.behavior for score in sorted(standing.scores.values(), key=lambda score: score.scored_at, reverse=True)
    )
    return next((name for names in (aimed, scored, iter(declared)) for name in names), None)


def _delta(standing: Standing, name: str, target: bool) -> Delta:
    new, old = standing.score(standing.candidate, name), standing.score(standing.serving, name)
    found = difference(new, old)
    return Delta(
        name=name,
        candidate=new.score if new else None,
        serving=old.score if old else None,
        delta=found.delta,
        excludes_zero=found.excludes_zero,
        target=target,
    )
