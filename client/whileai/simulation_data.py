"""The runs of an agent over many situations: its rows, and what was run (mode, tools, instructions)."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai.agents import register_agent
from whileai.errors import PlatformError
from whileai.leaks import LeakReport, leak_report
from whileai.row_list import RowList
from whileai.scored_data import save_rows
from whileai.storable import storable
from whileai.upload import push_rows


@dataclass
class SimulationData:
    """Runs as they were made (`trajectories`), and what a push says about the agent that made them."""

    trajectories: list[dict[str, Any]] = field(default_factory=list)
    mode: str = "explore"
    rollouts_per_request: int = 1
    tools: list[Any] = field(default_factory=list)
    system_prompt: str = ""
    warnings: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.trajectories)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.trajectories)

    @property
    def rows(self) -> RowList:
        """The runs as rows: with messages, and without what only a grader may see."""
        return RowList(storable(run) for run in self.trajectories)

    def save(self, path: str) -> str:
        """Write the rows as JSON lines."""
        return save_rows(self.rows, path)

    def leak_report(self, *, min_len: int = 12) -> LeakReport:
        """The runs whose reply quotes their own privileged context."""
        return leak_report(self.trajectories, min_len=min_len)

    def push(
        self,
        name: str,
        *,
        api_key: str | None = None,
        parent: str | None = None,
        agent: str | None = None,
        publish: bool = False,
        description: str | None = None,
        gate: bool = True,
        purpose: str = "train",
        holdout: float | None = None,
        endorsed: Sequence[str] = (),
        strict_hacks: bool = False,
    ) -> dict[str, Any]:
        """Store the rows as a dataset. With `agent=`, the agent gets the tools and the instructions of this run too."""
        entry = push_rows(
            self.rows,
            name,
            api_key=api_key,
            parent=parent,
            agent=agent,
            publish=publish,
            description=description,
            gate=gate,
            mode=self.mode,
            purpose=purpose,
            holdout=holdout,
            endorsed=endorsed,
            strict_hacks=strict_hacks,
        )
        if agent:
            self._describe(agent, api_key)
        return entry

    def _describe(self, agent: str, api_key: str | None) -> None:
        """Tell what the agent is made of; the push stands without it."""
        try:
            register_agent(agent, tools=self.tools or None, system_prompt=self.system_prompt or None, api_key=api_key)
        except PlatformError as problem:
            warnings.warn(f"the rows are stored, but {agent} was not described: {problem}", UserWarning, stacklevel=3)
