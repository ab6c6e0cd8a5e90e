"""A run: one trace of an agent, read as a conversation; and the gradings that were given to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from whileai_dialects.deferred import Deferred

Source = Literal["call", "event", "attribute"]
Verdict = Literal["pass", "fail"]


@dataclass(frozen=True, slots=True)
class Grading:
    """One measurement as it was given: by a call, an event, or an attribute on a span."""

    name: str
    value: float | None = None
    label: str | None = None
    pass_at: float | None = None
    source: Source = "call"
    span_id: str = ""
    graded_at: int = 0
    version: int = 0
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """The measurement that stands for one name, and the earlier ones it replaced, latest first."""

    name: str
    value: float | None
    label: str | None
    pass_at: float | None
    source: Source
    graded_at: int
    history: tuple[Grading, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a run; None is not reported, which is not zero. Cached and reasoning ones are parts of their totals."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(slots=True)
class Run(Deferred):
    """What happened in one trace. Times are nanoseconds; a fact that no span carries is None."""

    trace_id: str
    agent: str | None = None
    agents: list[str] = field(default_factory=list)
    service: str | None = None
    model: str | None = None
    provider: str | None = None
    model_version: str | None = None
    scenario_id: str | None = None
    conversation_id: str | None = None
    eval_set: str | None = None
    dataset: str = "traces"
    start: int = 0
    end: int = 0
    has_root: bool = False
    status: Literal["ok", "error"] = "ok"
    error: str | None = None
    prompt: str | None = None
    system: str | None = None
    final_text: str | None = None
    steps: list[dict[str, object]] = field(default_factory=list)
    messages: list[dict[str, object]] = field(default_factory=list)
    tools: list[dict[str, object]] = field(default_factory=list)
    tool_names: list[str] = field(default_factory=list)
    usage: Usage = Usage()
    cost_usd: float | None = None
    prompt_token_ids: list[object] | None = None
    token_ids: list[object] | None = None
    logprobs: list[object] | None = None
    notes: list[str] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    reward: float | None = None
    verdict: Verdict | None = None
    span_count: int = 0
    first_arrival: int = 0
    last_arrival: int = 0
    version: int = 0

    @property
    def step_count(self) -> int:
        """How many steps there are, without telling them."""
        return self._length("steps")
