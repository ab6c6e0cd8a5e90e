"""Live traffic: counts, tokens and latency over a window."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from support import otlp
from support.api import Caller

from whileai_query.traffic_stream import events


def test_traffic_adds_up_over_steps_models_and_versions(caller: Caller) -> None:
    now = time.time_ns()
    for seconds, told in (
        (10, {"model": "m-1", "reward": 0.0}),
        (70, {"model": "m-1", "reward": 1.0}),
        (80, {"model": "m-2", "extra": {"zeroproof.model_version": "v2"}}),
        (7200, {"model": "m-2"}),
    ):
        caller.run(start=now - seconds * otlp.SECOND, **told)
    answer = caller.get("/traffic", window="10m", step="1m")
    assert len(answer["series"]) == 10
    assert sum(point["runs"] for point in answer["series"]) == answer["totals"]["runs"] == 3
    assert (answer["totals"]["flagged"], answer["totals"]["errors"], answer["totals"]["inputTokens"]) == (1, 0, 60)
    assert answer["totals"]["p50Ms"] == pytest.approx(20)
    assert [(entry["model"], entry["runs"]) for entry in answer["byModel"]] == [("m-1", 2), ("m-2", 1)]
    assert {(entry["version"], entry["runs"]) for entry in answer["byVersion"]} == {(None, 2), ("v2", 1)}
    assert caller.get("/traffic", window="10m", version="v2")["totals"]["runs"] == 1
    assert caller.get("/traffic", window="10m", agent="NOBODY")["totals"] == {
        "runs": 0,
        "errors": 0,
        "flagged": 0,
        **dict.fromkeys(("inputTokens", "outputTokens", "costUsd", "p50Ms", "p95Ms", "p99Ms")),
    }


@pytest.mark.parametrize(
    ("query", "named"),
    [({"window": "long"}, "window"), ({"step": "0s"}, "step"), ({"window": "30d"}, "step"), ({"from": "1h"}, "from")],
)
def test_a_malformed_window_is_refused_by_name(caller: Caller, query: dict[str, str], named: str) -> None:
    for path in ("/traffic", "/traffic/stream"):
        status, message = caller.refused("GET", path, params=query)
        assert status == 400
        assert named in message


def test_the_stream_says_what_changed() -> None:
    told = iter([{"runs": 1}, {"runs": 1}, {"runs": 2}])

    async def listen() -> list[bytes]:
        stream = events(lambda: next(told), pause=0)
        return [await anext(stream), await anext(stream)]

    first, second = asyncio.run(listen())
    assert json.loads(first.removeprefix(b"data: ")) == {"runs": 1}
    assert second == b'data: {"runs":2}\n\n'
