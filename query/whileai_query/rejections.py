"""`GET /rejections`: what was refused at the door, one row per minute, signal, reason and agent, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_ingest import Store
from whileai_query.cursors import read_cursor, write_cursor
from whileai_query.parameters import read_limit
from whileai_query.times import iso_second

LIST_PARAMETERS = ("limit", "cursor")

_MINUTE = 60_000_000_000
_ROWS = """
SELECT intDiv(version, 60000000000) AS minute, signal, reason, agent, argMin(detail, version), sum(count)
FROM rejections FINAL
WHERE account = {account:String}
GROUP BY minute, signal, reason, agent
HAVING (minute, signal, reason, agent) < ({minute:UInt64}, {signal:String}, {reason:String}, {agent:String})
ORDER BY minute DESC, signal DESC, reason DESC, agent DESC
LIMIT {most:UInt32}
"""
# Above every row: no minute is that late.
_TOP = (2**63, "", "", "")


def list_rejections(store: Store, account: str, query: Mapping[str, str]) -> dict[str, Any]:
    """One page of refusals."""
    limit = read_limit(query)
    place = read_cursor(query["cursor"], (int, str, str, str)) if query.get("cursor") else list(_TOP)
    names = ("minute", "signal", "reason", "agent")
    found = store.query(_ROWS, {"account": account, "most": limit + 1, **dict(zip(names, place, strict=True))})
    page = found[:limit]
    return {
        "rejections": [
            {
                "at": iso_second(minute * _MINUTE),
                "signal": signal,
                "reason": reason,
                "detail": detail,
                "agent": agent or None,
                "count": count,
            }
            for minute, signal, reason, agent, detail, count in page
        ],
        "next": write_cursor(page[-1][:4]) if len(found) > limit else None,
    }
