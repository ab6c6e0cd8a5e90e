"""The curve of a tracked run in parallel lists, thinned to what a screen can show. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from whileai.dashboards import TrainCurve
from whileai_registry import TrackedRun
from whileai_registry.run_points import Point

MOST_SHOWN = 1_000
# What a curve has a list for, and the spellings under which trainers log it.
LINES = {
    "reward": ("reward",),
    "kl": ("kl",),
    "loss": ("loss",),
    "completion_length": ("completionLength", "completion_length"),
    "clip_ratio": ("clipRatio", "clip_ratio"),
}


def thinned(points: Sequence[Point], most: int = MOST_SHOWN) -> Sequence[Point]:
    """Evenly fewer points; the last one stays."""
    every = -(-len(points) // most)
    return points if every <= 1 else points[len(points) - 1 :: -every][::-1]


def curve_of(run: TrackedRun, points: Sequence[Point]) -> TrainCurve:
    """The run with its curve; a step without a number has None in its place."""
    shown = thinned(points)
    lines = {
        line: [next((values[name] for name in names if name in values), None) for _, values in shown]
        for line, names in LINES.items()
    }
    return TrainCurve(
        run=run.id,
        version=run.version,
        method=run.method,
        base=run.base,
        hours=run.hours,
        gpu=run.gpu,
        cost_usd=run.cost_usd,
        status=run.status,
        trained_on=run.trained_on,
        targets=run.targets,
        steps=[step for step, _ in shown],
        record=run.record,
        **lines,
    )


def metrics_of(points: Sequence[Point]) -> list[str]:
    """The names of all numbers of a curve, by name."""
    return sorted({name for _, values in points for name in values})
