"""`whileai.instrument`: the one line inside an agent; endpoint and key are found as by the client's other calls.

An agent runs on without a key; that nothing is sent is said in one sentence.
"""

import hashlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from re import Pattern
from typing import Any, Literal
from urllib.parse import urlsplit

import whileai_instrumentation
from whileai import credentials, environment
from whileai.errors import PlatformError
from whileai_instrumentation import Switched

GRPC_PORT = 4317
_OFF = frozenset({"0", "false", "no", "off"})


def instrument(
    agent: str | None = None,
    *,
    version: str | None = None,
    api_key: str | None = None,
    endpoint: str | None = None,
    dataset: str | None = None,
    capture_content: bool | None = None,
    redact: str | Pattern[str] | Iterable[str | Pattern[str]] | Callable[..., Any] | None = None,
    only: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    prefer: Iterable[str] = (),
    protocol: Literal["http", "grpc"] = "http",
    spool: bool | None = None,
    quiet: bool = False,
) -> Switched:
    """Trace this process: every framework and model library that is installed, sent to the service in the background.

    `agent` and `version` are what the runs are listed under. `redact` takes patterns out of everything that leaves, or
    is a function of (text) or (key, text); `capture_content=False` leaves prompts, answers and tool data out.
    `only`, `exclude` and `prefer` name instrumentors, packages or libraries. Spans that cannot be sent wait in a small
    folder under the client's home, unless `spool=False`. Calling it again changes the settings.
    """
    base = (endpoint or environment.trace_url()).rstrip("/")
    try:
        key = credentials.require("account", api_key, base if endpoint else environment.api_url()).key
    except PlatformError as problem:
        if not quiet:
            print(f"whileai: nothing is sent: {problem}", file=sys.stderr, flush=True)
        return Switched()
    return whileai_instrumentation.instrument(
        agent or environment.variable("AGENT_NAME"),
        endpoint=_grpc_endpoint(base, endpoint) if protocol == "grpc" else base,
        api_key=key,
        version=version or environment.variable("AGENT_VERSION"),
        dataset=dataset or environment.variable("DATASET"),
        capture_content=_setting(capture_content, "CAPTURE_CONTENT"),
        redact=redact,
        only=only,
        exclude=exclude,
        prefer=prefer,
        protocol=protocol,
        spool=spool_folder(base, key) if _setting(spool, "SPOOL") else None,
        quiet=quiet,
    )


def spool_folder(base: str, key: str) -> Path:
    """Where spans for one service and one account wait; the key cannot be read from it."""
    return environment.home() / "spool" / hashlib.sha256(f"{base} {key}".encode()).hexdigest()[:16]


def has_key() -> bool:
    """Whether `instrument` would find a key."""
    try:
        return credentials.resolve("account", None, environment.api_url()) is not None
    except PlatformError:
        return False


def _setting(given: bool | None, name: str) -> bool:
    """What was given, else what the environment says, else yes."""
    return given if given is not None else (environment.variable(name) or "").lower() not in _OFF


def _grpc_endpoint(base: str, given: str | None) -> str:
    """The service's gRPC address: the one given, else its usual port beside the HTTP one."""
    if given:
        return base
    parts = urlsplit(base)
    return f"{parts.scheme}://{parts.hostname or 'localhost'}:{GRPC_PORT}"
