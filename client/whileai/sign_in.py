"""Getting a key onto this machine: approved on a page (login) or for an address (signup); and off again (logout)."""

import json
import socket
import sys
import time
import webbrowser
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whileai import credentials, environment, transport
from whileai.credentials import Credential, same_service
from whileai.errors import LoginError, PlatformError

LONGEST_NAME = 50
RESUMABLE = 30  # seconds a pending login must still have to be worth resuming
FAILURES_TOLERATED = 5  # connection failures in a row while waiting for the approval
Say = Callable[[str], None]

# The service's word for why not -> what a person does about it.
SIGNUP_REASONS: Mapping[str, str] = {
    "account_exists": "that address has an account already: run `whileai login`",
    "invalid_email": "that is not an e-mail address",
    "too_many_signups": "too many accounts were made from here lately: try again later",
}


def login(
    *,
    name: str | None = None,
    wait: bool = True,
    timeout: float | None = None,
    open_browser: bool = True,
    out: Say | None = None,
) -> str | None:
    """Show a link and a code, wait until they are approved, and save the key. Returns it, or None while it is pending.

    A login that was interrupted is resumed with the same code.
    """
    say = out or _to_stderr
    base = environment.api_url()
    pending = _pending(base) or _begin(base, name)
    say(f"Open {pending['verification_uri_complete']} and approve the code {pending['user_code']}.")
    if open_browser:
        webbrowser.open(pending["verification_uri_complete"])
    if not wait:
        return None
    approved = _wait(base, pending, time.time() + timeout if timeout is not None else pending["expires_at"])
    if approved is None:
        say("Not approved yet; run `whileai login` again to go on with the same code.")
        return None
    key = _save(base, approved)
    pending_path().unlink(missing_ok=True)
    _add_tier(base, key)
    say(f"Signed in; the key is in {credentials.path()}.")
    return key


def signup(email: str, *, name: str | None = None, out: Say | None = None) -> str:
    """Make a trial account for an address and save its key."""
    base = environment.api_url()
    answer = _ask("POST", f"{base}/signup", {"email": email, "name": name or _machine()}, SIGNUP_REASONS)
    if not answer.get("api_key"):
        raise LoginError("the service made no key for the new account; run `whileai login`")
    trial = answer.get("trial") or {}
    key = _save(base, {**answer, "email": answer.get("email") or email, **_limits(answer)})
    limit = f" until {trial['expires_at']}" if trial.get("expires_at") else ""
    (out or _to_stderr)(f"Signed up as {email}{limit}; the key is in {credentials.path()}.")
    return key


def logout() -> bool:
    """Remove the saved key and any pending login; False when there was no key."""
    pending_path().unlink(missing_ok=True)
    return credentials.forget()


def pending_path() -> Path:
    return environment.home() / "pending-login.json"


def is_pending(base: str) -> bool:
    """Whether a login waits for its approval."""
    return _pending(base) is not None


def _begin(base: str, name: str | None) -> dict[str, Any]:
    answer = _ask("POST", f"{base}/device/code", {"name": (name or f"cli {_machine()}")[:LONGEST_NAME]}, {})
    missing = [key for key in ("device_code", "user_code", "verification_uri_complete") if not answer.get(key)]
    if missing:
        raise LoginError(f"the service's answer lacks {', '.join(missing)}; is WHILEAI_API_URL the right service?")
    pending = {**answer, "api_url": base, "expires_at": time.time() + float(answer.get("expires_in") or 900)}
    credentials.write_private(pending_path(), pending)
    return pending


def _pending(base: str) -> dict[str, Any] | None:
    try:
        pending = json.loads(pending_path().read_text(encoding="utf-8"))
        fresh = same_service(pending["api_url"], base) and pending["expires_at"] - time.time() > RESUMABLE
    except (OSError, ValueError, KeyError, TypeError):  # none, or not one of ours: begin anew
        return None
    return pending if fresh else None


def _wait(base: str, pending: Mapping[str, Any], deadline: float) -> dict[str, Any] | None:
    """Ask until it is approved or the time is over; the first question comes at once."""
    interval = max(1.0, float(pending.get("interval") or 5))
    body = {"device_code": pending["device_code"], "user_code": pending["user_code"]}
    failures = 0
    while True:
        try:
            return transport.call("POST", f"{base}/device/token", json=body, timeout=30, failure=LoginError)
        except LoginError as problem:
            failures = failures + 1 if problem.status == 0 else 0
            if problem.reason == "slow_down":
                interval += 5
            elif problem.reason != "authorization_pending" and not 0 < failures <= FAILURES_TOLERATED:
                if problem.status:
                    pending_path().unlink(missing_ok=True)
                raise LoginError(_refused(problem), status=problem.status, reason=problem.reason) from problem
        if time.time() + interval > deadline:
            return None
        transport.sleep(interval)


def _refused(problem: LoginError) -> str:
    if problem.status == 0:
        return str(problem)
    words = {"expired_token": "the code has expired", "access_denied": "the login was refused on the page"}
    return f"{words.get(problem.reason or '', problem.reason or str(problem))}; run `whileai login` for a new code"


def _save(base: str, answer: Mapping[str, Any]) -> str:
    key = answer.get("api_key")
    if not isinstance(key, str) or not key:
        raise LoginError("the login was approved but the service gave no key; run `whileai login` again")
    kept = ("name", "user_id", "email", "tier", "daily_input_tokens", "expires_at")
    credentials.store(
        {
            "api_key": key,
            "api_url": base,
            "created_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            **{name: answer[name] for name in kept if answer.get(name) is not None},
        }
    )
    return key


def _add_tier(base: str, key: str) -> None:
    """Note the tier beside the key; the login stands without it."""
    try:
        me = transport.call("GET", f"{base}/me", credential=Credential(key, "the login"), timeout=30)
    except PlatformError:
        return
    credentials.store({**(credentials.stored() or {}), **_limits(me)})


def _limits(answer: Mapping[str, Any]) -> dict[str, Any]:
    trial = answer.get("trial") or {}
    found = {"tier": answer.get("tier"), **{name: trial.get(name) for name in ("daily_input_tokens", "expires_at")}}
    return {name: value for name, value in found.items() if value is not None}


def _ask(method: str, url: str, body: Mapping[str, Any], reasons: Mapping[str, str]) -> dict[str, Any]:
    try:
        return transport.call(method, url, json=body, timeout=30, failure=LoginError)
    except LoginError as problem:
        raise LoginError(
            reasons.get(problem.reason or "", str(problem)), status=problem.status, reason=problem.reason
        ) from problem


def _machine() -> str:
    return socket.gethostname()


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
