"""A run that makes a version of a tracked agent: its curve while it goes, its scores, its end.

Logging buffers and never raises into a training loop; what could not be sent is sent with the next points.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from whileai import environment
from whileai.errors import PlatformError
from whileai.service import given, segment
from whileai.tracked_models import RunEnd, RunRecord, Score, TrainPoint

log = logging.getLogger("whileai")

MAX_BATCH = 2000
MOST_WAITING = 50_000  # points kept while the service is away; beyond it the oldest go
ERROR_CHARS = 400

Call = Callable[..., dict[str, Any]]


class Run:
    """One run. Made by `Tracked.run`."""

    def __init__(
        self,
        run_id: str,
        version: str,
        agent_id: str,
        call: Call,
        *,
        flush_every: int = 25,
        flush_seconds: float = 15.0,
    ) -> None:
        self.id, self.version, self.agent_id = run_id, version, agent_id
        self._call = call
        self._flush_every, self._flush_seconds = flush_every, flush_seconds
        self._waiting: list[dict[str, Any]] = []
        self._flushed_at = time.monotonic()
        self._lock = threading.Lock()
        self._sending = threading.Lock()

    def __repr__(self) -> str:
        return f"Run({self.id!r}, version={self.version!r})"

    @property
    def url(self) -> str:
        """The page of its agent."""
        return f"{environment.platform_url()}/ui/agents/{segment(self.agent_id)}"

    def log(self, step: int | TrainPoint, **metrics: Any) -> None:
        """Numbers of one step. What is no finite number is left out."""
        point = step.wire() if isinstance(step, TrainPoint) else {"step": int(step), **_finite(metrics)}
        with self._lock:
            self._waiting.append(point)
            del self._waiting[:-MOST_WAITING]
            due = len(self._waiting) >= self._flush_every
        if due or time.monotonic() - self._flushed_at >= self._flush_seconds:
            self.flush()

    def progress(self, step: int, total: int | None = None) -> None:
        """How far it is, without a number; `total` is noted as the number of steps to come to."""
        self.log(step, **given(total_steps=total))

    def flush(self) -> None:
        """Send what waits. A failure is logged, and the points wait for the next time."""
        with self._sending:
            self._flushed_at = time.monotonic()
            while batch := self._waiting[:MAX_BATCH]:
                try:
                    self._call("POST", f"/runs/{segment(self.id)}/train", batch, idempotent=True)
                except PlatformError as problem:
                    log.warning("the points of run %s wait for the next flush: %s", self.id, problem)
                    return
                with self._lock:
                    self._waiting = [point for point in self._waiting if not any(point is sent for sent in batch)]

    def score(self, behavior: str | Score, score: float | None = None, **fields: Any) -> Score:
        """What this version scores on a behavior; give `ci` and `n`, without which it proves nothing."""
        said = behavior if isinstance(behavior, Score) else Score(behavior=behavior, score=score, **fields)  # type: ignore[arg-type]  # a score of None is refused by the model, in words
        self.flush()
        answer = self._call("POST", f"/runs/{segment(self.id)}/evals", [said.wire()], idempotent=True)
        kept = answer.get("evals") or [said.wire()]
        return Score.model_validate(kept[0])

    def finish(
        self,
        status: str = "evaluated",
        *,
        hours: float | None = None,
        gpu: str | None = None,
        cost_usd: float | None = None,
        steps: int | None = None,
        summary: Mapping[str, Any] | None = None,
        record: RunRecord | Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The run has ended; what is not given stays as it was."""
        whole = RunRecord.model_validate(record) if isinstance(record, Mapping) else record
        told = given(hours=hours, gpu=gpu, cost_usd=cost_usd, steps=steps, record=whole)
        end = RunEnd(status=status, summary=dict(summary) if summary is not None else None, **told)
        return self._end(end)

    def fail(self, error: str) -> dict[str, Any]:
        """The run broke off."""
        return self._end(RunEnd(status="failed", error=error[:ERROR_CHARS]))

    def _end(self, end: RunEnd) -> dict[str, Any]:
        self.flush()
        return self._call("PATCH", f"/runs/{segment(self.id)}", end.wire(), idempotent=True)


def _finite(metrics: Mapping[str, Any]) -> dict[str, float]:
    numbers = {}
    for name, value in metrics.items():
        try:
            number = float(value)
        except (TypeError, ValueError):
            continue
        if math.isfinite(number):
            numbers[name] = number
    return numbers
