"""The verbs about traces and training data. Thin calls into the library."""

import argparse
from typing import Any

from whileai.cli.output import Output, pairs, table
from whileai.cli.verb import Verb

FILTERS = ("model", "tool", "eval-set", "measure")


def _traces_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trace_id", nargs="?", help="show this run whole")
    _filter_arguments(parser)
    parser.add_argument("--scenario", help="runs of this task")
    parser.add_argument("--verdict", choices=("pass", "fail", "none"))
    parser.add_argument("--status", choices=("ok", "error"))
    parser.add_argument("--limit", type=int, default=50, help="how many runs at most (default 50)")


def _traces(args: argparse.Namespace) -> Output:
    from whileai import traces

    if args.trace_id:
        run = traces.get(args.trace_id, spans=False, api_key=args.api_key)
        return Output(run, pairs(run))
    wanted = {"scenario": args.scenario, "verdict": args.verdict, "status": args.status, **_filters(args)}
    rows = list(traces.search(limit=args.limit, api_key=args.api_key, agent=args.agent, since=args.since, **wanted))
    columns = [
        ("traceId", "TRACE"),
        ("startedAt", "STARTED"),
        ("agent", "AGENT"),
        ("scenarioId", "SCENARIO"),
        ("status", "STATUS"),
        ("verdict", "VERDICT"),
        ("prompt", "PROMPT"),
    ]
    return Output(rows, table(rows, columns, "no runs match"))


def _cuts(args: argparse.Namespace) -> Output:
    from whileai.cut_words import format_cuts
    from whileai.cuts import cuts

    report = cuts(args.agent, since=args.since, api_key=args.api_key, **_filters(args))
    lines = [
        format_cuts(report, agent=args.agent),
        *(f"warning: {warning}" for warning in report.get("warnings") or []),
    ]
    return Output(report, "\n".join(lines))


def _cut_arguments(parser: argparse.ArgumentParser) -> None:
    _filter_arguments(parser)
    parser.add_argument("--kind", choices=("rl", "sft"), default="rl", help="rl (default) or sft")
    parser.add_argument("--holdout", type=float, metavar="SHARE", help="share of the tasks held out (default 0.2)")
    parser.add_argument("--band", type=float, nargs=2, metavar=("LOW", "HIGH"), help="pass rates kept by rl (0.2 0.8)")
    parser.add_argument("--name", help="name of the sets")


def _cut(args: argparse.Namespace) -> Output:
    from whileai.cuts import cut

    band = tuple(args.band) if args.band else None
    made = cut(
        args.agent,
        kind=args.kind,
        since=args.since,
        holdout=args.holdout,
        band=band,
        name=args.name,
        api_key=args.api_key,
        **_filters(args),
    )
    columns = [("role", "SET"), ("datasetId", "DATASET"), ("tasks", "TASKS"), ("rows", "ROWS"), ("name", "NAME")]
    warnings = [f"warning: {warning}" for warning in (made.get("report") or {}).get("warnings") or []]
    return Output(made, "\n".join([table(made.get("made") or [], columns, "nothing was made"), *warnings]))


def _pull_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", help="dataset id, ds_…")
    parser.add_argument("path", nargs="?", help="file to write (default DATASET.jsonl)")


def _pull(args: argparse.Namespace) -> Output:
    from whileai.download import pull

    path = pull(args.dataset, args.path or f"{args.dataset}.jsonl", api_key=args.api_key)
    return Output({"datasetId": args.dataset, "path": path}, path)


def _export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="dataset id, or a JSONL file of rows")
    parser.add_argument("path", help="file to write")
    parser.add_argument("--format", choices=("openai", "trl"), default="openai", help="who reads it (default openai)")
    parser.add_argument("--mask-mode", choices=("assistant", "final"), default="assistant")
    parser.add_argument("--unroll", action="store_true", help="one row per agent turn")
    parser.add_argument("--max-tool-output-chars", type=int, metavar="N")
    parser.add_argument(
        "--passes-only", action="store_true", help="leave out rows whose reward is below 0.5, or missing"
    )


def _export(args: argparse.Namespace) -> Output:
    from whileai.download import pull
    from whileai.exporting import export_dataset
    from whileai.row_source import rows_of
    from whileai.training_rows import PARTIAL_PASS

    rows = pull(args.source, api_key=args.api_key) if args.source.startswith("ds_") else rows_of(args.source)
    if args.passes_only:
        rows = [row for row in rows if (row.get("reward") or 0) >= PARTIAL_PASS]
    report = export_dataset(
        rows,
        args.path,
        format=args.format,
        mask_mode=args.mask_mode,
        unroll=args.unroll,
        max_tool_output_chars=args.max_tool_output_chars,
    )
    lines = [f"{report['n_written']} rows for {args.format} in {report['path']}"]
    return Output(report, "\n".join([*lines, *(f"warning: {warning}" for warning in report["warnings"])]))


def _filter_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", help="runs of this agent")
    parser.add_argument("--since", default="all", help="all (default), 24h, 7d, or an ISO time")
    for name in FILTERS:
        parser.add_argument(f"--{name}", help=f"runs with this {name.replace('-', ' ')}")


def _filters(args: argparse.Namespace) -> dict[str, Any]:
    return {"model": args.model, "tool": args.tool, "evalSet": args.eval_set, "measure": args.measure}


VERBS = (
    Verb("traces", "list runs, or show one", _traces, _traces_arguments),
    Verb("cuts", "what a cut of training data would hold", _cuts, _filter_arguments),
    Verb("cut", "make a train and a holdout set", _cut, _cut_arguments),
    Verb("pull", "download a dataset as JSON lines", _pull, _pull_arguments),
    Verb("export", "write a dataset as a trainer loads it", _export, _export_arguments),
)
