"""The one line that says what was switched on, and what more would help. Said once, not at every call."""

import sys

from whileai_instrumentation.state import Setup
from whileai_instrumentation.switching import Switched


def say(setup: Setup, agent: str | None, endpoint: str, switched: Switched) -> None:
    """Print the line to stderr, unless this process has seen it."""
    line = sentence(agent, endpoint, switched)
    if line not in setup.said:
        setup.said.add(line)
        print(line, file=sys.stderr, flush=True)


def sentence(agent: str | None, endpoint: str, switched: Switched) -> str:
    """The line: where traces go, what makes them, what was left out, what would help."""
    whose = f" of {agent}" if agent else ""
    parts = [f"whileai: traces{whose} go to {endpoint}"]
    parts.append("switched on: " + ", ".join(switched.on) if switched.on else "nothing to switch on was found")
    if switched.passed_over:
        parts.append("left off: " + ", ".join(switched.passed_over))
    if switched.failed:
        parts.append("failed: " + ", ".join(switched.failed))
    if switched.advice:
        parts.append("install " + ", ".join(f"{package} to see {library}" for library, package in switched.advice))
    return "; ".join(parts)
