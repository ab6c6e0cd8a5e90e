"""Runs as the service understood them: found by what they did, newest first, or read whole by trace id."""

from collections.abc import Iterator
from typing import Any

from whileai import service

PAGE = 200


def search(*, limit: int | None = None, api_key: str | None = None, **filters: Any) -> Iterator[dict[str, Any]]:
    """The runs that match, newest first. Filters are those of `cuts`, also `scenario=`, `verdict=`, `status=`."""
    wanted = {name: str(value) for name, value in filters.items() if value is not None}
    if "since" in wanted:
        wanted["from"] = wanted.pop("since")
    left = limit
    while left is None or left > 0:
        params = {**wanted, "limit": str(PAGE if left is None else min(PAGE, left))}
        page = service.api("GET", "/traces", api_key=api_key, params=params)
        found = page.get("traces") or []
        yield from found
        left = None if left is None else left - len(found)
        if not page.get("next"):
            return
        wanted["cursor"] = page["next"]


def get(trace_id: str, *, spans: bool = True, api_key: str | None = None) -> dict[str, Any]:
    """One run: prompt, steps, answer, scores, tokens, and its spans unless they are not wanted."""
    params = None if spans else {"spans": "0"}
    return service.api("GET", f"/traces/{service.segment(trace_id)}", api_key=api_key, params=params)
