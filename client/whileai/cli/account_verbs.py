"""The verbs about the account and its key: signing in and out, and what is in use."""

import argparse

from whileai.cli.output import Output, pairs, table
from whileai.cli.verb import Verb

PENDING = 2  # exit code of a login that still waits for its approval


def _status(args: argparse.Namespace) -> Output:
    from whileai.identity import status

    shown = status(args.api_key)
    return Output(shown, pairs({name: value for name, value in shown.items() if name != "error"}), shown.get("error"))


def _login_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", help="name of the key (default: this machine's)")
    parser.add_argument("--no-browser", action="store_true", help="only print the link")
    parser.add_argument("--no-wait", action="store_true", help="print the link and go; run again after approving")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="how long to wait for the approval")


def _login(args: argparse.Namespace) -> Output:
    from whileai import credentials
    from whileai.sign_in import login

    key = login(name=args.name, wait=not args.no_wait, timeout=args.timeout, open_browser=not args.no_browser)
    shown = {"signed_in": key is not None, "path": str(credentials.path())}
    return Output(shown, "", code=0 if key is not None or args.no_wait else PENDING)


def _signup_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--email", required=True, help="the address of the new account")
    parser.add_argument("--name", help="name of the key (default: this machine's)")


def _signup(args: argparse.Namespace) -> Output:
    from whileai import credentials
    from whileai.sign_in import signup

    signup(args.email, name=args.name)
    return Output({"signed_in": True, "path": str(credentials.path())}, "")


def _logout(_args: argparse.Namespace) -> Output:
    from whileai import credentials
    from whileai.sign_in import logout

    path, removed = str(credentials.path()), logout()
    return Output({"removed": removed, "path": path}, f"removed {path}" if removed else f"no key in {path}")


def _keys(args: argparse.Namespace) -> Output:
    from whileai.identity import keys

    answer = keys(args.api_key)
    columns = [("name", "NAME"), ("key", "KEY"), ("tier", "TIER"), ("createdAt", "CREATED")]
    return Output(answer, table(answer.get("keys") or [], columns, "no keys"))


VERBS = (
    Verb("login", "sign in on the service's page and save the key", _login, _login_arguments, needs_key=False),
    Verb("signup", "make a trial account and save its key", _signup, _signup_arguments, needs_key=False),
    Verb("logout", "remove the saved key", _logout, needs_key=False),
    Verb("status", "which service and key are in use, and the account behind it", _status),
    Verb("keys", "names and beginnings of the account's keys", _keys),
)
