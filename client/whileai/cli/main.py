"""From the command line to a verb and back to an exit code: 0 done, 1 refused (the reason on stderr), 2 misspelt."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from whileai.cli import account_verbs, added, data_verbs, run_verb, tracked_verbs
from whileai.cli.output import Output


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command."""
    words = list(sys.argv[1:] if argv is None else argv)
    args = parser(words).parse_args(words)
    try:
        return _show(args.func(args), getattr(args, "json", False))
    except KeyboardInterrupt:
        return 130
    except ImportError as problem:
        print(f"error: {added.missing(words[0], problem)}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (RuntimeError, ValueError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The command's grammar. Of the verbs that other rooms add, only the one that `words` asks for is imported."""
    top = argparse.ArgumentParser(prog="whileai", description="Traces of agents in, training data out.")
    subparsers = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in (*account_verbs.VERBS, *data_verbs.VERBS, *tracked_verbs.VERBS):
        sub = subparsers.add_parser(verb.name, help=verb.help, description=verb.help)
        if verb.needs_key:
            sub.add_argument("--api-key", help="the key to use instead of the environment's or the saved one")
        sub.add_argument("--json", action="store_true", help="print the answer as JSON")
        verb.arguments(sub)
        sub.set_defaults(func=verb.run)
    run_verb.add(subparsers)
    added.add_to(subparsers, words)
    return top


def _show(result: Any, as_json: bool) -> int:
    """Print what a verb gave. A verb of another room prints for itself and gives its exit code, or nothing."""
    if not isinstance(result, Output):
        return int(result or 0)
    text = json.dumps(result.value, indent=2, ensure_ascii=False) if as_json else result.text
    if text:
        print(text)
    if result.problem:
        print(f"error: {result.problem}", file=sys.stderr)
    return 1 if result.problem else result.code
