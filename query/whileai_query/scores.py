"""`POST /v1/scores`: which measurements meet a run, which wait for theirs, and that all of them are journalled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from whileai_ingest import ScoreRow
from whileai_query.runs import known_runs, runs_by_prefix
from whileai_query.score_items import Items, rejection
from whileai_query.services import Services
from whileai_query.trace_ids import PREFIX_DIGITS

# A grader that runs right after its agent may be faster than the agent's exporter.
PATIENCE_SECONDS = 2.0
_LOOK_AGAIN_SECONDS = 0.1


async def record_scores(services: Services, account: str, items: Items) -> dict[str, Any]:
    """Journal what can ever be attached, and say what became of each item."""
    asked = {score.trace_id for _, score in items.scores}
    found = await _find_runs(services, account, asked)
    kept: list[ScoreRow] = []
    unknown: dict[str, None] = {}
    pending: dict[str, None] = {}
    applied = 0
    for index, score in items.scores:
        matches = found.get(score.trace_id, ())
        if len(matches) > 1:
            given = {"traceId": score.trace_id, "name": score.name}
            items.rejected.append(rejection(index, given, f"more than one trace begins with {score.trace_id}"))
            continue
        if matches:
            applied += 1
            kept.append(replace(score, trace_id=matches[0]))
            continue
        unknown[score.trace_id] = None
        if len(score.trace_id) > PREFIX_DIGITS:
            # A prefix cannot wait: until its trace is there, nobody knows which one it will mean.
            pending[score.trace_id] = None
            kept.append(score)
    if kept:
        await services.ingest.accept_scores(account, kept)
    return {"applied": applied, "unknown": list(unknown), "pending": list(pending), "rejected": items.rejected}


async def _find_runs(services: Services, account: str, asked: Collection[str]) -> dict[str, list[str]]:
    """For each id or prefix the runs it names, after waiting a little for those that are not there yet."""
    found: dict[str, list[str]] = {}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        missing = [trace_id for trace_id in asked if trace_id not in found]
        found |= await asyncio.to_thread(_look, services, account, missing)
        if len(found) == len(asked) or time.monotonic() >= deadline:
            return found
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)


def _look(services: Services, account: str, ids: list[str]) -> dict[str, list[str]]:
    if not ids:
        return {}
    services.settle()
    store = services.ingest.store
    whole = [trace_id for trace_id in ids if len(trace_id) > PREFIX_DIGITS]
    found = {trace_id: [trace_id] for trace_id in known_runs(store, account, whole)} if whole else {}
    prefixes = [trace_id for trace_id in ids if len(trace_id) == PREFIX_DIGITS]
    return found | (runs_by_prefix(store, account, prefixes) if prefixes else {})
