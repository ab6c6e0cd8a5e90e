"""The real service as a process, on a folder, a home and free ports of its own."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import httpx

KEY = "zp_test_key_0123456789abcdef"
START_SECONDS = 60
_FREE_PORTS = ("--http-port", "0", "--grpc-port", "0")
_READY = re.compile(r"ready (?P<url>http://\S+) grpc (?P<grpc>\S+)")


@dataclass
class Service:
    """`with Service(folder) as service:`; `kill` and `start` again at will."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    key: str = KEY
    role: str = "all"
    process: subprocess.Popen[str] | None = None
    url: str = ""
    grpc: str = ""

    def command(self, *arguments: str) -> list[str]:
        return [str(Path(sys.executable).with_name("whileai")), *arguments]

    def env(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("WHILEAI_", "OTEL_"))}
        return {
            **inherited,
            "WHILEAI_HOME": str(self.folder / "home"),
            "WHILEAI_BOOTSTRAP_KEY": self.key,
            **self.environment,
        }

    def start(self) -> Service:
        """Start the process and wait for its ready line."""
        errors = (self.folder / "stderr.log").open("ab")
        self.process = subprocess.Popen(
            self.command("serve", "--data", str(self.folder / "data"), "--role", self.role, *_FREE_PORTS),
            stdout=subprocess.PIPE,
            stderr=errors,
            env=self.env(),
            text=True,
        )
        errors.close()
        line = self._first_line()
        found = _READY.match(line)
        if found is None:
            self.kill()
            raise AssertionError(f"the service did not start: {line!r}\n{self.stderr()[-3000:]}")
        self.url, self.grpc = found["url"], found["grpc"]
        return self

    def _first_line(self) -> str:
        assert self.process is not None
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.process.stdout, selectors.EVENT_READ)
            return self.process.stdout.readline() if waiting.select(START_SECONDS) else ""

    def kill(self) -> None:
        """kill -9."""
        if self.process is not None:
            self.process.kill()
            self._reap()

    def stop(self, seconds: float = 40) -> int:
        """SIGTERM; the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(seconds)
        self._reap()
        return code

    def _reap(self) -> None:
        assert self.process is not None
        self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process = None

    def stderr(self) -> str:
        return (self.folder / "stderr.log").read_text(errors="replace")

    def client(self, **headers: str) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers={"x-api-key": self.key, **headers}, timeout=60)

    def __enter__(self) -> Service:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
