"""The service as a process of the demo: its own folder, its own home, free ports, stopped by its process id."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = ROOT / ".venv" / "bin" / "whileai"
START_SECONDS = 60
STOP_SECONDS = 40  # the service bounds its own drain below that
_READY = re.compile(r"ready (http://\S+) grpc \S+")


class DemoError(Exception):
    """One sentence for whoever runs the demo."""


@dataclass
class Service:
    """A started service and what a client on this machine needs to reach it."""

    process: subprocess.Popen[str]
    url: str
    home: Path
    folder: Path

    @property
    def api_key(self) -> str:
        return str(json.loads((self.home / "credentials.json").read_text())["api_key"])

    def stop(self) -> None:
        """SIGTERM and wait for the drain; SIGKILL when it does not end."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def clean_environment(**own: str) -> dict[str, str]:
    """This process's environment without settings that would lead the demo to another service, plus `own`."""
    foreign = ("WHILEAI_", "ZEROPROOF_", "OTEL_", "OPENAI_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {**kept, "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost", **own}


def start(folder: Path) -> Service:
    """Start `whileai serve` on `folder`. Raises `DemoError` when it does not come up."""
    if not COMMAND.exists():
        raise DemoError(f"{COMMAND} is not there; run make setup first")
    home, data, log = folder / "home", folder / "data", folder / "service.log"
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [COMMAND, "serve", "--data", data, "--http-port", "0", "--grpc-port", "0"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=clean_environment(WHILEAI_HOME=str(home)),
            start_new_session=True,  # ctrl-C is for the demo, which stops the service itself
        )
    service = Service(process, "", home, folder)
    try:
        ready = _READY.match(_first_line(process))
        if ready is None:
            raise DemoError(f"the service did not start; its log says:\n{log.read_text()[-2000:]}")
    except BaseException:  # an interrupt, too, must not leave it running
        service.stop()
        raise
    service.url = ready[1]
    return service


def _first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)
        return process.stdout.readline() if waiting.select(START_SECONDS) else ""


def run_agent(environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start the agent; its stdout has one JSON line a run."""
    return subprocess.Popen(
        [sys.executable, "-m", "demo.agent"], cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(environment)
    )
