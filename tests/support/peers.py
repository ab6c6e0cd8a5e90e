"""A client of the platform in a process of its own: the published one or ours, asked in Python, answering in JSON."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Name = Literal["published", "ours"]

DRIVER = Path(__file__).resolve().parents[1] / "conformance" / "driver.py"


class PeerError(Exception):
    """What the client raised: the name of its class, the names of its bases, and its message."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        super().__init__(f"{told['type']}: {told['message']}")
        self.type: str = told["type"]
        self.kinds: list[str] = told["kinds"]
        self.message: str = told["message"]


@dataclass
class Driver:
    """The interpreter of one client, started when it is first asked."""

    name: Name
    python: Path
    log: Path
    _process: subprocess.Popen[str] | None = None

    def ask(self, question: Mapping[str, Any]) -> Any:
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(question) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line, f"the {self.name} client ended: {self.log.read_text()[-3000:]}"
        return json.loads(line)

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate(timeout=30)
            self._process = None

    def _start(self) -> subprocess.Popen[str]:
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [str(self.python), str(DRIVER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=_inherited(),
                text=True,
            )
        return self._process


@dataclass
class Peer:
    """A user of one client, with a home folder and a key; `peer("wai.pull(id)", id=…)` gives the JSON back."""

    driver: Driver
    url: str
    key: str
    home: Path
    account: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def name(self) -> Name:
        return self.driver.name

    def __call__(self, expression: str, **names: Any) -> Any:
        answer = self.driver.ask({"expression": expression, "names": names, "environment": self.env()})
        if "error" in answer:
            raise PeerError(answer["error"])
        self.warnings = answer["warnings"]
        return answer["value"]

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The client's own `whileai` command."""
        command = [str(self.driver.python.with_name("whileai")), *words]
        return subprocess.run(command, env=self.env(), capture_output=True, text=True, timeout=60, check=False)

    def begin(self, *words: str) -> subprocess.Popen[str]:
        """The command, left running; what it says goes to standard error."""
        command = [str(self.driver.python.with_name("whileai")), *words]
        return subprocess.Popen(command, env=self.env(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def env(self) -> dict[str, str]:
        places = dict.fromkeys(("WHILEAI_API_URL", "WHILEAI_PLATFORM_URL", "WHILEAI_TRACE_URL"), self.url)
        key = {"WHILEAI_API_KEY": self.key} if self.key else {}
        return {**_inherited(), **places, **key, "WHILEAI_HOME": str(self.home), **self.environment}


def _inherited() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("WHILEAI_", "ZEROPROOF_", "OTEL_"))
    }
