"""Where the versions of an agent stand: what it serves, what was scored, in which order versions came, the candidate.

`GET /agents`, the dashboard and the pages take the served version and the candidate from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from whileai_ingest import Store
from whileai_query.filters import Conditions
from whileai_query.runs import select_runs
from whileai_query.services import Services
from whileai_registry import Promotion, RunScore, TrackedRun, agent_key

_FIRST_ANSWERS = "agent, model_version, min(start_time_unix_nano)"
_NAMED = "agent IS NOT NULL AND model_version IN {versions:Array(String)}"
_ALL = 500


@dataclass(slots=True)
class Standing:
    """One agent. `runs` are newest first, `promotions` and the scores of a version oldest first."""

    runs: list[TrackedRun] = field(default_factory=list)
    promotions: list[Promotion] = field(default_factory=list)
    scores: dict[tuple[str, str], RunScore] = field(default_factory=dict)
    born: dict[str, datetime] = field(default_factory=dict)

    @property
    def serving(self) -> str | None:
        return self.promotions[-1].version if self.promotions else None

    @property
    def scored(self) -> list[str]:
        """The versions that have a score, oldest version first."""
        return sorted({version for version, _ in self.scores}, key=lambda version: (self.born[version], version))

    @property
    def candidate(self) -> str | None:
        """The newest scored version, if it is newer than the one that is served."""
        newest = self.scored[-1] if self.scores else None
        if newest is None or self.serving is None:
            return newest
        return newest if self.born[newest] > self.born[self.serving] else None

    def score(self, version: str | None, behavior: str) -> RunScore | None:
        """The last score of a version on a behavior."""
        return self.scores.get((version, behavior)) if version is not None else None


def standing_of(services: Services, account: str, agent: str) -> Standing:
    """The standing of one agent."""
    return standings(services, account, agent).get(agent_key(agent), Standing())


def standings(services: Services, account: str, agent: str | None = None) -> dict[str, Standing]:
    """By key of the agent; an agent of which nothing is tracked is left out."""
    registry = services.registry
    found: dict[str, Standing] = {}
    for run in all_runs(services, account, agent):
        found.setdefault(run.agent_key, Standing()).runs.append(run)
    for promotion in registry.promotions.history(account, agent):
        found.setdefault(promotion.agent_key, Standing()).promotions.append(promotion)
    for key, score in registry.run_scores.list_all(account, agent):
        found.setdefault(key, Standing()).scores[score.version, score.behavior] = score
    answered = first_answers(services.ingest.store, account, _versions(found.values()))
    for key, standing in found.items():
        standing.born = births(standing, answered.get(key, {}))
    return found


def births(standing: Standing, answered: Mapping[str, datetime]) -> dict[str, datetime]:
    """When each version came: its first run or its first answer, else its first score, else its first promotion.

    A version that was never tracked but answered long ago is older than one whose run began since.
    """
    born: dict[str, datetime] = {}

    def at(version: str, moment: datetime) -> None:
        born[version] = min(moment, born.get(version, moment))

    for run in standing.runs:
        at(run.version, run.created_at)
    for version, moment in answered.items():
        at(version, moment)
    for score in standing.scores.values():
        if score.version not in born:
            at(score.version, score.scored_at)
    for promotion in standing.promotions:
        born.setdefault(promotion.version, promotion.promoted_at)
    return born


def all_runs(services: Services, account: str, agent: str | None = None) -> Iterable[TrackedRun]:
    """Every tracked run, newest first."""
    cursor = None
    while True:
        page = services.registry.tracked_runs.list_page(account, agent=agent, limit=_ALL, cursor=cursor)
        yield from page.items
        if page.next is None:
            return
        cursor = page.next


def first_answers(store: Store, account: str, versions: Iterable[str]) -> dict[str, dict[str, datetime]]:
    """The start of the first run in traffic, by key of the agent and version; of these versions only."""
    wanted = sorted(set(versions))
    found: dict[str, dict[str, datetime]] = {}
    if not wanted:
        return found
    named = Conditions((_NAMED,), {"versions": wanted})
    for agent, version, first in select_runs(store, account, _FIRST_ANSWERS, named, "GROUP BY agent, model_version"):
        of_agent = found.setdefault(agent_key(agent), {})
        moment = datetime.fromtimestamp(first / 1e9, UTC)
        of_agent[version] = min(moment, of_agent.get(version, moment))
    return found


def _versions(found: Iterable[Standing]) -> set[str]:
    return {
        version
        for standing in found
        for version in (
            *(run.version for run in standing.runs),
            *(score.version for score in standing.scores.values()),
            *(promotion.version for promotion in standing.promotions),
        )
    }
