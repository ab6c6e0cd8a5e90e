"""The verbs about tracked agents: what each serves, what its candidate is worth, promoting. Thin calls."""

import argparse
from typing import TYPE_CHECKING

from whileai.cli.output import Output, pairs, table
from whileai.cli.verb import Verb

if TYPE_CHECKING:
    from whileai.tracked import Tracked


def _agents(args: argparse.Namespace) -> Output:
    from whileai.tracked import call

    rows = call("GET", "/agents", api_key=args.api_key).get("agents") or []
    columns = [
        ("name", "AGENT"),
        ("traces", "TRACES"),
        ("model", "MODEL"),
        ("serving", "SERVES"),
        ("candidate", "CANDIDATE"),
    ]
    return Output(rows, table(rows, columns, "no agents yet"))


def _agent_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", help="id or name of the agent")


def _agent(args: argparse.Namespace) -> Output:
    tracked = _tracked(args)
    board, behaviors = tracked.dashboard(), tracked.behaviors()
    record = board.agent.model_dump(exclude_none=True)
    value = {
        "agent": record,
        "behaviors": [behavior.model_dump(exclude_none=True) for behavior in behaviors],
        "verdict": board.verdict.model_dump(),
    }
    shown = {name: record.get(name) for name in ("id", "name", "model", "serving", "candidate")}
    tested = [{"name": said.name, "test": said.test_version, "n": said.n} for said in behaviors]
    columns = [("name", "BEHAVIOR"), ("test", "TEST"), ("n", "N")]
    return Output(value, "\n".join([pairs(shown), table(tested, columns, "no behavior declared"), str(board.verdict)]))


def _runs(args: argparse.Namespace) -> Output:
    found = _tracked(args).runs()
    rows = [{**row, "targets": ", ".join(row.get("targets") or [])} for row in found]
    columns = [
        ("version", "VERSION"),
        ("method", "METHOD"),
        ("status", "STATUS"),
        ("targets", "TARGETS"),
        ("createdAt", "CREATED"),
    ]
    return Output(found, table(rows, columns, "no runs yet"))


def _verdict_arguments(parser: argparse.ArgumentParser) -> None:
    _agent_argument(parser)
    parser.add_argument("--behavior", help="the behavior to compare on (default: what the newest run is after)")


def _verdict(args: argparse.Namespace) -> Output:
    verdict = _tracked(args).verdict(args.behavior)
    return Output(verdict.model_dump(), str(verdict))


def _promote_arguments(parser: argparse.ArgumentParser) -> None:
    _agent_argument(parser)
    parser.add_argument("version", help="the version to serve from now on")


def _promote(args: argparse.Namespace) -> Output:
    answer = _tracked(args).promote(args.version)
    return Output(answer, f"{args.agent} serves {answer.get('serving', args.version)}")


def _live_arguments(parser: argparse.ArgumentParser) -> None:
    _agent_argument(parser)
    parser.add_argument("--day", required=True, metavar="YYYY-MM-DD")
    parser.add_argument("--version", required=True, help="the version that answered")
    parser.add_argument("--replies", required=True, type=int, help="how many answers it gave")
    parser.add_argument("--flagged", type=int, default=0, help="how many of them were flagged (default 0)")
    parser.add_argument("--p50", type=float, metavar="SECONDS", help="median latency")
    parser.add_argument("--cost", type=float, metavar="USD", help="what the day cost")


def _live(args: argparse.Namespace) -> Output:
    from whileai.tracked_models import LiveDay

    day = LiveDay(
        day=args.day,
        version=args.version,
        replies=args.replies,
        flagged=args.flagged,
        p50_s=args.p50,
        cost_usd=args.cost,
    )
    answer = _tracked(args).live(day)
    return Output(answer, f"{args.day}: {args.replies} replies of {args.version}, {args.flagged} flagged")


def _tracked(args: argparse.Namespace) -> "Tracked":
    from whileai.tracked import Tracked

    return Tracked(args.agent, api_key=args.api_key)


VERBS = (
    Verb("agents", "the agents, what each serves, and what could be promoted", _agents),
    Verb("agent", "one agent: its record, its behaviors, its verdict", _agent, _agent_argument),
    Verb("runs", "the runs of an agent that made its versions, newest first", _runs, _agent_argument),
    Verb("verdict", "whether the candidate beats what is served", _verdict, _verdict_arguments),
    Verb("promote", "serve a version from now on", _promote, _promote_arguments),
    Verb("live", "report a day of traffic of a version that is served elsewhere", _live, _live_arguments),
)
