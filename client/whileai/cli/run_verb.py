"""`whileai run -- python agent.py`: the program as it is, traced. The process becomes the program."""

import argparse
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

AUTOSTART = Path(__file__).parent.parent / "autostart"


def add(subparsers: Any) -> None:
    """Add the verb."""
    words = "run a program with its agents traced, without a line of code"
    verb = subparsers.add_parser("run", help=words, description=words)
    verb.add_argument("--agent", help="the name its runs are listed under")
    verb.add_argument("--agent-version", metavar="VERSION", help="the version of the agent")
    verb.add_argument("--no-content", action="store_true", help="leave prompts, answers and tool data out")
    verb.add_argument("command", nargs=argparse.REMAINDER, help="-- and the program with its arguments")
    verb.set_defaults(func=_run)


def _run(args: argparse.Namespace) -> int:
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise ValueError("nothing to run; say `whileai run -- python agent.py`")
    program = shutil.which(command[0])
    if program is None:
        raise ValueError(f"there is no program {command[0]!r} on the path")
    os.execve(program, command, environment(os.environ, args.agent, args.agent_version, args.no_content))


def environment(
    inherited: Mapping[str, str], agent: str | None, version: str | None, no_content: bool
) -> dict[str, str]:
    """The program's environment: this process's, and what makes Python instrument itself at its start."""
    path = [folder for folder in inherited.get("PYTHONPATH", "").split(os.pathsep) if folder]
    own = {
        "PYTHONPATH": os.pathsep.join([str(AUTOSTART), *(folder for folder in path if folder != str(AUTOSTART))]),
        "WHILEAI_AGENT_NAME": agent,
        "WHILEAI_AGENT_VERSION": version,
        "WHILEAI_CAPTURE_CONTENT": "0" if no_content else None,
    }
    return {**inherited, **{name: value for name, value in own.items() if value is not None}}
