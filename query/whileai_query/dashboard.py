"""One screen of a tracked agent: `GET /agents/{id}/dashboard`, and the agent's page from the same function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whileai.dashboards import Dashboard, TrackedInfo, VersionScore
from whileai.tracked_models import Behavior
from whileai_query.agent_list import agent_view
from whileai_query.errors import Missing
from whileai_query.live_series import live_series
from whileai_query.services import Services
from whileai_query.standings import Standing, standing_of
from whileai_query.training_curves import curve_of
from whileai_query.verdicts import default_behavior, deltas_of, verdict_of
from whileai_registry import Agent
from whileai_registry import Behavior as DeclaredBehavior


@dataclass(frozen=True, slots=True)
class Screen:
    """The dashboard, and what it was made from."""

    board: Dashboard
    standing: Standing
    declared: list[Behavior]

    def wire(self) -> dict[str, Any]:
        """As it travels: what is not known is left out, which the published client asks for."""
        return self.board.wire()


def declared_behavior(behavior: DeclaredBehavior) -> Behavior:
    return Behavior.model_validate({**behavior.said, "name": behavior.name})


def dashboard(services: Services, account: str, agent: Agent, behavior: str | None = None) -> Screen:
    """Raises `Missing` for a behavior that was neither declared nor scored."""
    standing = standing_of(services, account, agent.key)
    declared = [declared_behavior(row) for row in services.registry.behaviors.list_all(account, agent.key)]
    names = sorted({said.name for said in declared} | {name for _, name in standing.scores})
    if behavior is not None and behavior not in names:
        known = ", ".join(names[:5]) or "none"
        raise Missing(f"agent {agent.id} has no behavior {behavior[:64]!r}; those declared or scored are: {known}")
    shown = behavior if behavior is not None else default_behavior(standing, names)
    said = next((one for one in declared if one.name == shown), None)
    newest = standing.runs[0] if standing.runs else None
    board = Dashboard(
        agent=TrackedInfo.model_validate(
            {**agent_view(agent), "serving": standing.serving, "candidate": standing.candidate}
        ),
        behavior=said or (Behavior(name=shown) if shown else None),
        behaviors=names,
        versions=_versions(standing, shown) if shown else [],
        train=curve_of(newest, services.registry.run_points.series(account, newest.id)) if newest else None,
        deltas=deltas_of(standing),
        verdict=verdict_of(standing, shown, said),
    )
    live = live_series(services, account, agent.id, standing.promotions)
    return Screen(board if live is None else board.model_copy(update={"live": live}), standing, declared)


def _versions(standing: Standing, behavior: str) -> list[VersionScore]:
    """The held-out score of each version on this behavior, oldest version first."""
    scores = [(version, standing.score(version, behavior)) for version in standing.scored]
    return [
        VersionScore(
            v=version, score=score.score, ci=score.ci, n=score.n, run=score.run_id, test_version=score.test_version
        )
        for version, score in scores
        if score is not None
    ]
