"""Agents for tests: a tracer into a given outbox, and agent programs as processes."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from typing import Any

from opentelemetry.sdk.trace import Tracer, TracerProvider

from whileai_instrumentation.outbox import Outbox
from whileai_instrumentation.processors import OutboxSpanProcessor

Outboxes = Callable[..., Outbox]
Agents = Callable[..., "Ran"]


def tracer_of(outbox: Outbox) -> Tracer:
    """A tracer whose spans go into this outbox."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(OutboxSpanProcessor(outbox))
    tracer = provider.get_tracer("tests")
    assert isinstance(tracer, Tracer)
    return tracer


def eventually(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for what another thread brings about."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.01)


class Ran:
    """What an agent program printed, and how it ended."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def told(self) -> Any:
        """The JSON of its last line."""
        assert self.code == 0, self.err
        return json.loads(self.out.splitlines()[-1])


def run_program(command: list[str], environment: Mapping[str, str], seconds: float = 120) -> Any:
    """A program with this environment and none of the settings of whoever runs the tests."""
    foreign = ("WHILEAI_", "ZEROPROOF_", "OTEL_", "OPENAI_", "ANTHROPIC_", "PYTHON", "BAGGAGE", "TRACE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return subprocess.run(
        command,
        env={**kept, "NO_PROXY": "127.0.0.1,localhost", **environment},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
