"""Promoting: an agent serves a version from now on. Only a version that is known of the agent can be served."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from whileai_query.errors import Missing
from whileai_query.filters import read_filters
from whileai_query.runs import also, select_runs
from whileai_query.services import Services
from whileai_query.standings import Standing, standing_of
from whileai_query.times import iso_of
from whileai_registry import Agent, Promotion

_IN_TRAFFIC = "GROUP BY model_version ORDER BY max(start_time_unix_nano) DESC LIMIT 200"


def promote(services: Services, account: str, agent: Agent, version: str, by: str) -> dict[str, Any]:
    """What is served now, and what was before. Raises `Missing` for a version that nobody has heard of."""
    services.settle()
    standing = standing_of(services, account, agent.key)
    known = known_versions(services, account, agent, standing)
    if version not in known:
        named = ", ".join(repr(one[:40]) for one in known[:5]) or "none"
        raise Missing(f"agent {agent.id} has no version {version[:40]!r}; those that ran or were scored: {named}")
    before = standing.serving
    made = services.registry.promotions.promote(account, agent.key, version, by)
    return {"agent": agent.id, **promotion_view(made), "serving": made.version, "before": before}


def known_versions(services: Services, account: str, agent: Agent, standing: Standing) -> list[str]:
    """Every version of the agent: tracked ones newest first, then those that only its traffic names."""
    tracked = sorted(standing.born, key=lambda version: standing.born[version], reverse=True)
    return list(dict.fromkeys((*tracked, *_in_traffic(services, account, agent))))


def promotion_view(promotion: Promotion) -> dict[str, Any]:
    return {
        "version": promotion.version,
        "promotedAt": iso_of(promotion.promoted_at),
        "promotedBy": promotion.promoted_by,
    }


def _in_traffic(services: Services, account: str, agent: Agent) -> Iterable[str]:
    named = also(read_filters({"agent": agent.id}, services.now()), "model_version IS NOT NULL")
    rows = select_runs(services.ingest.store, account, "model_version", named, _IN_TRAFFIC)
    return (version for (version,) in rows)
