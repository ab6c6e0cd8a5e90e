"""Whether a reply quotes what only the grader was told: an export scrubs the privileged key, not the reply."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from whileai.conversation import conversation
from whileai.row_source import rows_of

SPACE = re.compile(r"\s+")


class LeakReport(dict[str, Any]):
    """The report of `leak_report`; prints its summary."""

    def __str__(self) -> str:
        return str(self["summary"])


def leak_report(rows: Any, *, min_len: int = 12) -> LeakReport:
    """The rows whose agent turns repeat a text of at least `min_len` characters from their own `privileged` context."""
    found = rows_of(rows)
    n_checked, leaked = 0, []
    for row in found:
        needles = [(field, text) for field, text in _texts(row.get("privileged")) if len(_plain(text)) >= min_len]
        if not needles:
            continue
        n_checked += 1
        said = _plain(" ".join(m["content"] for m in conversation(row) if m["role"] == "assistant"))
        hit = next(((field, text) for field, text in needles if _plain(text) in said), None)
        if hit is not None:
            leaked.append(
                {
                    "scenario_id": row.get("scenario_id"),
                    "rollout_index": row.get("rollout_index"),
                    "field": hit[0],
                    "needle": hit[1],
                }
            )
    rate = len(leaked) / n_checked if n_checked else 0.0
    summary = (
        f"{len(leaked)} of the {n_checked} rows with privileged context quote it"
        if n_checked
        else f"none of the {len(found)} rows has privileged context, so nothing could leak and nothing was checked"
    )
    return LeakReport(
        n_rows=len(found),
        n_checked=n_checked,
        n_leaked=len(leaked),
        rate=rate,
        checked=n_checked > 0,
        leaked=leaked,
        summary=summary,
    )


def _texts(value: Any, field: str = "privileged") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner, field)


def _plain(text: str) -> str:
    return SPACE.sub(" ", text).strip().casefold()
