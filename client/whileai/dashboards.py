"""What the service tells of a tracked agent: scores by version, the curve, what moved, live traffic, the verdict."""

from typing import Any

from pydantic import Field

from whileai.tracked_models import Behavior, Frontier, Told


class TrackedInfo(Told):
    """An agent: `serving` is the promoted version, `candidate` the newest scored one beyond it."""

    id: str
    name: str
    model: str | None = None
    harness: dict[str, Any] | None = None
    serving: str | None = None
    candidate: str | None = None
    frontier: Frontier | None = None


class VersionScore(Told):
    """A version's score on the behavior that is shown."""

    v: str
    score: float
    ci: float | None = None
    n: int | None = None
    run: str | None = None
    test_version: str | None = None


class TrainCurve(Told):
    """The newest run and its curve, in parallel lists."""

    run: str
    version: str | None = None
    method: str | None = None
    base: str | None = None
    hours: float | None = None
    gpu: str | None = None
    cost_usd: float | None = None
    status: str | None = None
    trained_on: list[str] = Field(default_factory=list)
    targets: list[str] = Field(default_factory=list)
    steps: list[int] = Field(default_factory=list)
    reward: list[float | None] = Field(default_factory=list)
    kl: list[float | None] = Field(default_factory=list)
    loss: list[float | None] = Field(default_factory=list)
    completion_length: list[float | None] = Field(default_factory=list)
    clip_ratio: list[float | None] = Field(default_factory=list)
    record: dict[str, Any] | None = None


class Delta(Told):
    """What moved on one behavior from the served version to the candidate. `target` says whether it was meant to."""

    name: str
    candidate: float | None = None
    serving: float | None = None
    delta: float | None = None
    excludes_zero: bool | None = None
    target: bool = False


class LiveSeries(Told):
    """Traffic by day and version, in parallel lists, oldest first; `served_at_index` is where the served one begins."""

    days: list[str] = Field(default_factory=list)
    version: list[str | None] = Field(default_factory=list)
    flagged_pct: list[float | None] = Field(default_factory=list)
    p50s: list[float | None] = Field(default_factory=list, validation_alias="p50s", serialization_alias="p50s")
    replies: list[int] = Field(default_factory=list)
    served_at_index: int | None = None
    replies_7d: int = Field(default=0, validation_alias="replies7d", serialization_alias="replies7d")
    new_failures: int = 0
    cost_per_1k: float | None = Field(default=None, validation_alias="costPer1k", serialization_alias="costPer1k")


class Verdict(Told):
    """The candidate against the served version on one behavior, and what the comparison rests on."""

    candidate: str | None = None
    serving: str | None = None
    delta: float | None = None
    excludes_zero: bool | None = None
    regressions: int = 0
    behavior: str | None = None
    noise_floor: float | None = None
    n: int | None = None
    judge_agreement: float | None = None
    judge_human_n: int | None = None
    reward_is_judge: bool | None = None
    contamination: int | None = None
    tests_differ: bool | None = None

    def __str__(self) -> str:
        from whileai.verdict_words import verdict_sentence

        return verdict_sentence(self)


class Dashboard(Told):
    """One screen of a tracked agent."""

    agent: TrackedInfo
    behavior: Behavior | None = None
    behaviors: list[str] = Field(default_factory=list)
    versions: list[VersionScore] = Field(default_factory=list)
    train: TrainCurve | None = None
    deltas: list[Delta] = Field(default_factory=list)
    live: LiveSeries = LiveSeries()
    verdict: Verdict = Verdict()
