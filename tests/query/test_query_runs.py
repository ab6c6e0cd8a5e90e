"""One run as the platform understood it, and the lists of runs."""

from __future__ import annotations

from support.api import Caller


def test_a_run_can_be_opened_as_soon_as_it_was_acknowledged(caller: Caller) -> None:
    trace_id = caller.run(scenario="refund-1", reward=1.0)
    run = caller.get(f"/traces/{trace_id.upper()}")
    assert run["traceId"] == trace_id
    assert run["state"] == "complete"
    assert (run["agent"], run["model"], run["scenarioId"]) == ("refund-bot", "gpt-4o-mini", "refund-1")
    assert (run["prompt"], run["finalText"]) == ("Please refund order A-1001", "Done.")
    assert run["usage"] == {
        "inputTokens": 20,
        "outputTokens": 5,
        "cachedInputTokens": None,
        "reasoningTokens": None,
    }
    assert (run["reward"], run["verdict"], run["spanCount"]) == (1.0, "pass", 2)
    assert [span["name"] for span in run["spans"]] == ["invoke_agent refund-bot", "chat gpt-4o-mini"]
