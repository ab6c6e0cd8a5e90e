"""What the service adds to the `whileai` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def serve(subparsers: Subparsers) -> None:
    """`whileai serve`: collector, writer, API and pages in one process."""
    parser = subparsers.add_parser(
        "serve",
        help="run the service: OTLP in, traces, scores, cuts, pages",
        description="Run the service. Every flag is also an environment variable; docs/settings.md lists them all.",
    )
    parser.add_argument("--data", type=Path, dest="data_dir", help="data folder (default $WHILEAI_HOME/data)")
    parser.add_argument("--host", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--http-port", type=int, help="OTLP/HTTP, API and pages (default 4318)")
    parser.add_argument("--grpc-port", type=int, help="OTLP/gRPC (default 4317)")
    parser.add_argument(
        "--role", choices=("all", "collector", "query"), help="all in one process (default), or one part of a split"
    )
    parser.set_defaults(func=_serve)


def backup(subparsers: Subparsers) -> None:
    """`whileai backup`: copy everything of a service, running or not."""
    parser = subparsers.add_parser(
        "backup",
        help="copy everything of a service, running or stopped, into a folder",
        description="Settings that say where the stores are (WHILEAI_…) must be those of the service.",
    )
    parser.add_argument("folder", type=Path, help="where to; a new folder")
    parser.add_argument("--data", type=Path, dest="data_dir", help="data folder (default $WHILEAI_HOME/data)")
    parser.set_defaults(func=_backup)


def restore(subparsers: Subparsers) -> None:
    """`whileai restore`: a backup becomes a data folder."""
    parser = subparsers.add_parser(
        "restore",
        help="bring a backup back; then start the service",
        description="Overwrites nothing: data folder and stores must be new.",
    )
    parser.add_argument("folder", type=Path, help="a folder that `whileai backup` made")
    parser.add_argument("--data", type=Path, dest="data_dir", help="data folder (default $WHILEAI_HOME/data)")
    parser.set_defaults(func=_restore)


def _backup(arguments: argparse.Namespace) -> int:
    from whileai_server.backup import back_up
    from whileai_server.settings import load

    return _say("backup", lambda: back_up(load(data_dir=arguments.data_dir), arguments.folder.absolute()))


def _restore(arguments: argparse.Namespace) -> int:
    from whileai_server.restore import bring_back
    from whileai_server.settings import load

    return _say("restore", lambda: bring_back(load(data_dir=arguments.data_dir), arguments.folder.absolute()))


def _say(verb: str, work: Callable[[], str]) -> int:
    from whileai_server.errors import StartError

    try:
        print(work())
    except StartError as error:
        print(f"whileai {verb}: {error}", file=sys.stderr)
        return 2
    return 0


def _serve(arguments: argparse.Namespace) -> int:
    # Imported here: `whileai status` must not load ClickHouse.
    from whileai_server.errors import StartError
    from whileai_server.serve import run
    from whileai_server.settings import load

    try:
        run(
            load(
                data_dir=arguments.data_dir,
                host=arguments.host,
                http_port=arguments.http_port,
                grpc_port=arguments.grpc_port,
                role=arguments.role,
            )
        )
    except StartError as error:
        print(f"whileai serve: {error}", file=sys.stderr)
        return 2
    return 0
