"""Live traffic of an agent by day and version: what its traces say, and what was reported of a model served elsewhere.

A day of a version that was reported stands for the whole of that day; its traces are not added to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from whileai.dashboards import LiveSeries
from whileai_ingest import Store
from whileai_query.filters import read_filters
from whileai_query.runs import also, select_runs
from whileai_query.services import Services
from whileai_registry import LiveDay, Promotion

DAYS = 30
WEEK = timedelta(days=7)
_DAY = "toDate(fromUnixTimestamp64Nano(start_time_unix_nano, 'UTC'), 'UTC') AS day"
_COUNTS = f"""{_DAY}, model_version, count(), countIf(status = 'error' OR verdict = 'fail'),
quantileExact(0.5)((end_time_unix_nano - start_time_unix_nano) / 1e9), sum(cost_usd)"""
_BY_DAY = "GROUP BY day, model_version ORDER BY day, model_version"


@dataclass(frozen=True, slots=True)
class Traffic:
    """A day of a version; None is a version that its runs do not name."""

    day: date
    version: str | None
    replies: int
    flagged: int
    p50_s: float | None
    cost_usd: float | None


def live_series(services: Services, account: str, agent: str, promotions: Sequence[Promotion]) -> LiveSeries | None:
    """The last thirty days; None when there was no traffic."""
    today = datetime.fromtimestamp(services.now() / 1e9, UTC).date()
    since = today - timedelta(days=DAYS - 1)
    traced = traced_days(services.ingest.store, account, agent, since, services.now())
    days = together(traced, services.registry.live_days.list_all(account, agent, since))
    return series_of(days, promotions[-1] if promotions else None, today) if days else None


def traced_days(store: Store, account: str, agent: str, since: date, now: int) -> list[Traffic]:
    """What the runs of the agent say."""
    start = datetime(since.year, since.month, since.day, tzinfo=UTC)
    within = also(
        read_filters({"agent": agent}, now),
        "start_time_unix_nano >= {since:Int64}",
        since=int(start.timestamp()) * 1_000_000_000,
    )
    return [Traffic(*row) for row in select_runs(store, account, _COUNTS, within, _BY_DAY)]


def together(traced: Sequence[Traffic], reported: Sequence[LiveDay]) -> list[Traffic]:
    """One row for each day and version, oldest first. Pure."""
    rows = {(row.day, row.version): row for row in traced}
    for told in reported:
        rows[told.day, told.version] = Traffic(
            told.day, told.version, told.replies, told.flagged, told.p50_s, told.cost_usd
        )
    return [rows[key] for key in sorted(rows, key=lambda key: (key[0], key[1] or ""))]


def series_of(days: Sequence[Traffic], served: Promotion | None, today: date) -> LiveSeries:
    """The parallel lists, and the sums of the served version: of the last week, and of flagged replies since it serves.

    Without a served version the sums are over every version. Pure.
    """
    begun = served.promoted_at.date() if served else date.min
    mine = [row for row in days if served is None or row.version == served.version]
    week = [row for row in mine if row.day > today - WEEK]
    priced = [row for row in week if row.cost_usd is not None and row.replies]
    replies = sum(row.replies for row in priced)
    at = (place for place, row in enumerate(days) if served and row.version == served.version and row.day >= begun)
    return LiveSeries(
        days=[row.day.isoformat() for row in days],
        version=[row.version for row in days],
        flagged_pct=[round(100 * row.flagged / row.replies, 4) if row.replies else None for row in days],
        p50s=[row.p50_s for row in days],
        replies=[row.replies for row in days],
        served_at_index=next(at, None),
        replies_7d=sum(row.replies for row in week),
        new_failures=sum(row.flagged for row in mine if row.day >= begun),
        cost_per_1k=round(1000 * sum(row.cost_usd or 0 for row in priced) / replies, 6) if replies else None,
    )
