"""Deleting an agent with everything that hangs off it: its traces, its datasets, and its record."""

from typing import Any

from whileai import service, traces
from whileai.datasets import datasets, delete_dataset


def purge_agent(agent: str, *, dry_run: bool = False, api_key: str | None = None) -> dict[str, Any]:
    """Delete the agent, its traces and its datasets for good. `dry_run=True` only counts them.

    What is already gone is no error, so a purge that broke off is finished by calling it again.
    """
    slug = agent.lower()
    found = [run["traceId"] for run in traces.search(agent=slug, api_key=api_key)]
    listing = datasets(api_key=api_key).get("datasets") or []
    sets = [row["datasetId"] for row in listing if str(row.get("agent") or "").lower() == slug]
    if not dry_run:
        for trace_id in found:
            service.api("DELETE", f"/traces/{service.segment(trace_id)}", api_key=api_key)
        for dataset_id in sets:
            delete_dataset(dataset_id, api_key=api_key)
        service.api("DELETE", f"/agents/{service.segment(slug)}", api_key=api_key)
    return {"agent": slug, "traces": len(found), "datasets": len(sets), "deleted": not dry_run}
