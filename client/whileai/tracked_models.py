"""What a program says of a tracked agent: harness, behaviors, runs with their points and scores, days of traffic.

Checked before it leaves the process, and checked by the same models when it arrives. Camel case on the wire.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

Count = Annotated[int, Field(ge=0, le=2**53)]
Amount = Annotated[float, Field(ge=0)]
Version = Annotated[str, Field(min_length=1, max_length=40, pattern=r"\S")]
BehaviorName = Annotated[str, Field(max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Names = Annotated[list[BehaviorName], Field(max_length=500)]
Word = Annotated[str, Field(max_length=200)]


class Told(BaseModel):
    """A value of the protocol: snake case in Python, camel case on the wire, nothing that is not a number in JSON."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, allow_inf_nan=False)

    def wire(self) -> dict[str, Any]:
        """As it travels: what was not said is left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class OpenTold(Told):
    """The same, which keeps what it does not know under the name that it came with."""

    model_config = ConfigDict(extra="allow")


class Frontier(Told):
    """The outside model to beat, on the test of the agent's first behavior."""

    name: str = Field(min_length=1, max_length=200)
    score: float | None = None
    cost_per_1k: Amount | None = Field(default=None, validation_alias="costPer1k", serialization_alias="costPer1k")
    p50_s: Amount | None = Field(default=None, validation_alias="p50s", serialization_alias="p50s")


class Harness(Told):
    """What is around the weights. Its fingerprint is its version, so an edited prompt is a new version by itself."""

    label: str | None = Field(default=None, max_length=200)
    instructions: str | None = None
    tools: list[str] = Field(default_factory=list)
    model: str | None = Field(default=None, max_length=400)

    @property
    def fingerprint(self) -> str:
        said = {"model": self.model, "instructions": self.instructions, "tools": sorted(self.tools)}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def version(self) -> str:
        return self.label or f"h-{self.fingerprint}"

    def wire(self) -> dict[str, Any]:
        return {**super().wire(), "label": self.version, "hash": self.fingerprint}


class Judge(Told):
    """The judge of a behavior, checked against people: how often it agrees with them, and what it favours."""

    name: Word | None = None
    agreement: float | None = Field(default=None, ge=0, le=1)
    human_n: Count | None = None
    length_bias: float | None = Field(default=None, ge=-1, le=1)


class SaidOfBehavior(Told):
    """What is said of a behavior whose name is known."""

    test_version: Word | None = None
    n: int | None = Field(default=None, ge=1, le=2**53)
    judge: Judge | None = None
    noise_floor: Amount | None = None
    contamination: Count | None = None
    reward_is_judge: bool | None = None
    description: str | None = Field(default=None, max_length=400)


class Behavior(SaidOfBehavior):
    """One thing that is tested about an agent, on a frozen held-out test of its own."""

    name: BehaviorName


class Data(OpenTold):
    train: str | None = None
    train_hash: str | None = None
    n_train: Count | None = None
    difficulty: Any = None
    holdout: str | None = None
    holdout_hash: str | None = None
    n_holdout: Count | None = None
    decontaminated_dropped: Count | None = None


class Optimizer(OpenTold):
    loss_type: str | None = None
    lr: float | None = None
    beta: float | None = None
    epsilon: float | None = None
    epsilon_high: float | None = None
    num_generations: Count | None = None
    prompts_per_step: Count | None = None
    max_completion_tokens: Count | None = None
    temperature: float | None = None
    top_p: float | None = None
    lora_rank: Count | None = None
    seed: int | None = None


class EvalSetup(OpenTold):
    metric: str | None = None
    k: Count | None = None
    run_std: float | None = None
    run_std_runs: Count | None = None
    reader: str | None = None


class Provenance(OpenTold):
    pins: dict[str, str] | None = None
    image: str | None = None
    recipe: str | None = None
    commit: str | None = None
    paper: str | None = None
    adapter: str | None = None


class RunRecord(OpenTold):
    """How the run was made, so that it can be made again."""

    data: Data | None = None
    optimizer: Optimizer | None = None
    eval: EvalSetup | None = None
    provenance: Provenance | None = None


class RunSpec(Told):
    """The beginning of a run. `targets` are the behaviors that it claims to move."""

    version: Version
    base: Word | None = None
    method: str | None = Field(default=None, max_length=20)
    targets: Names = Field(default_factory=list)
    trained_on: list[Word] = Field(default_factory=list, max_length=500)
    harness: Word | None = None
    gpu: Word | None = None
    record: RunRecord | None = None
    id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")


class RunEnd(Told):
    """What a run came to."""

    status: str | None = None
    error: str | None = Field(default=None, max_length=400)
    record: RunRecord | None = None
    hours: Amount | None = None
    gpu: Word | None = None
    cost_usd: Amount | None = None
    steps: Count | None = None
    summary: dict[str, Any] | None = None


class Score(Told):
    """A version's score on a behavior. `ci` is the half-width of its 95% interval."""

    behavior: BehaviorName
    score: float
    ci: Amount | None = None
    n: int | None = Field(default=None, ge=1, le=2**53)
    test_version: Word | None = None
    version: Version | None = None


class TrainPoint(Told):
    """The numbers of one step, any of them under its own name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float] = Field(init=False)

    step: Count
    reward: float | None = None
    kl: float | None = None
    loss: float | None = None

    def numbers(self) -> dict[str, float]:
        """The point without its step."""
        named = self.model_dump(by_alias=True, exclude_none=True)
        return {name: float(value) for name, value in named.items() if name != "step"}


class LiveDay(Told):
    """A day of traffic of a version that is served elsewhere."""

    day: Annotated[date, BeforeValidator(lambda value: date.fromisoformat(value) if isinstance(value, str) else value)]
    version: Version
    replies: Count
    flagged: Count = 0
    p50_s: Amount | None = Field(default=None, validation_alias="p50s", serialization_alias="p50s")
    cost_usd: Amount | None = None


def as_harness(said: "Harness | str | Mapping[str, Any] | None", model: str | None) -> Harness | None:
    """A harness however it is said: itself, its fields, or its label alone. The agent's model is its model, too."""
    if said is None:
        return None
    if isinstance(said, str):
        said = Harness(label=said)
    harness = said if isinstance(said, Harness) else Harness.model_validate(said)
    return harness.model_copy(update={"model": model}) if harness.model is None and model else harness
