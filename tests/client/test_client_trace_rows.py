"""Ingested runs as training rows, page by page."""

from typing import Any

from client.recording_service import Service

import whileai.simulations as wai


def row(number: int) -> dict[str, Any]:
    return {"schema_version": "1", "prompt": f"ask {number}", "steps": [], "final_text": ""}


def test_every_page_is_fetched_until_there_is_no_next(platform: Service) -> None:
    pages: list[dict[str, Any]] = [{"rows": [row(1), row(2)], "next": "more"}, {"rows": [row(3)], "next": None}]
    platform.answers("GET", "/traces/rows", *pages)
    assert wai.traces("refund-bot", verdict="pass") == [row(1), row(2), row(3)]
    first, second = platform.requests
    assert (first.query["agent"], first.query["from"], first.query["verdict"]) == ("refund-bot", "all", "pass")
    assert second.query["cursor"] == "more"


def test_a_limit_asks_for_no_more_than_it_needs(platform: Service) -> None:
    platform.answers("GET", "/traces/rows", {"rows": [row(1), row(2)], "next": "more"})
    assert len(wai.traces(limit=2)) == 2
    assert [request.query["limit"] for request in platform.requests] == ["2"]
