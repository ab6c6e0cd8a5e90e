"""`wai.traces(...)`: ingested runs as rows that a trainer loads, without making a dataset first."""

from __future__ import annotations

from typing import Any

from whileai import service

# Whole conversations: a page of them is some megabytes.
PAGE = 100


def traces(
    agent: str | None = None,
    *,
    since: str = "all",
    limit: int | None = None,
    api_key: str | None = None,
    **filters: Any,
) -> list[dict[str, Any]]:
    """The matching runs as rows of schema v1, newest first, at most `limit`.

    Filters are those of `cuts`, also `scenario=`, `verdict=`, `status=`, `state=`. Raises `PlatformError` naming a
    filter that the service does not know.
    """
    wanted = {"agent": agent, "from": since, **filters}
    params = {name: str(value) for name, value in wanted.items() if value is not None}
    rows: list[dict[str, Any]] = []
    while limit is None or len(rows) < limit:
        params["limit"] = str(PAGE if limit is None else min(PAGE, limit - len(rows)))
        page = service.api("GET", "/traces/rows", api_key=api_key, params=params)
        rows += page.get("rows") or []
        if not page.get("next"):
            break
        params["cursor"] = page["next"]
    return rows
