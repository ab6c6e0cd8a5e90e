"""Trace ids as callers write them: 32 hex digits in any case, or the first 16 of a run."""

from __future__ import annotations

import re

from whileai_ingest import Store
from whileai_query.errors import Missing
from whileai_query.runs import runs_by_prefix

PREFIX_DIGITS = 16
_SHAPE = re.compile(r"[0-9a-f]{32}|[0-9a-f]{16}")


def well_formed(text: str) -> str | None:
    """The id in lower case; None when no trace can have it."""
    trace_id = text.strip().lower()
    return trace_id if _SHAPE.fullmatch(trace_id) and trace_id.strip("0") else None


def find_trace(store: Store, account: str, text: str) -> str:
    """The full id. Raises `Missing` for one that is impossible, unknown as a prefix, or ambiguous."""
    trace_id = well_formed(text)
    if trace_id is None:
        raise Missing(f"there is no trace {text[:60]!r}: an id has 32 hex digits, or the first 16 of them")
    if len(trace_id) != PREFIX_DIGITS:
        return trace_id
    found = runs_by_prefix(store, account, [trace_id]).get(trace_id, [])
    if len(found) != 1:
        raise Missing(f"{'no' if not found else 'more than one'} trace begins with {trace_id}")
    return found[0]
