"""One HTTP exchange with the service: pooled connections, retries where harmless, errors as one sentence."""

import atexit
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, TypedDict, Unpack
from urllib.parse import urlsplit

import httpx

from whileai.credentials import Credential
from whileai.errors import PlatformError

ATTEMPTS = 4
FIRST_PAUSE = 0.2  # seconds, doubled each time: a service that restarts is back within the last pause
LONGEST_PAUSE = 60.0  # the longest Retry-After the service announces
TRY_AGAIN = frozenset({429, 502, 503, 504})  # answers that say "not done, later"
IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE"})
ERROR_TEXT = 400  # characters of an error body worth showing
BROKEN = httpx.TransportError  # the connection, not the answer, went wrong

WAY_OUT: Mapping[int, str] = {
    401: "The key came from {source}; `whileai status` shows which key is in use.",
    403: "The key from {source} does not allow this; use a key with the scope it needs.",
    413: "Send less at once.",
    429: "Wait, then try again.",
    503: "The service is busy or not ready; try again, and see its /readyz.",
}

Failure = type[PlatformError]


class Options(TypedDict, total=False):
    """What may go with a request.

    `idempotent` says that asking twice is harmless; by default the method decides. A large body is a function that
    gives its pieces, asked anew for each attempt.
    """

    credential: Credential | None
    json: Any
    content: bytes | Callable[[], Iterator[bytes]] | None
    params: Mapping[str, str] | None
    headers: Mapping[str, str] | None
    timeout: float
    idempotent: bool | None
    failure: Failure


def call(method: str, url: str, **options: Unpack[Options]) -> dict[str, Any]:
    """Ask, and give back the JSON object of the answer; an empty body is an empty object."""
    response = exchange(method, url, **options)
    if not response.content.strip():
        return {}
    try:
        value = response.json()
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise options.get("failure", PlatformError)(
            f"{method} {_bare(url)} answered {response.status_code} without a JSON object; "
            "check that the URL is that of the service",
            status=response.status_code,
        )
    return value


def exchange(method: str, url: str, **options: Unpack[Options]) -> httpx.Response:
    """Like `call`, for an answer that need not be JSON. Only an idempotent request is tried again."""
    credential, failure = options.get("credential"), options.get("failure", PlatformError)
    idempotent = options.get("idempotent")
    repeatable = method in IDEMPOTENT if idempotent is None else idempotent
    for attempt in range(1, ATTEMPTS + 1):
        last = attempt == ATTEMPTS or not repeatable
        try:
            response = client().send(_request(method, url, options))
        except httpx.TransportError as problem:
            if last or isinstance(problem, httpx.UnsupportedProtocol):
                raise failure(unreachable(method, url, problem)) from problem
            sleep(pause(attempt, None))
            continue
        if response.is_success:
            return response
        if last or response.status_code not in TRY_AGAIN:
            raise refused(failure, method, url, response, credential)
        sleep(pause(attempt, response.headers.get("retry-after")))
    raise AssertionError("the last attempt returns or raises")


@contextmanager
def stream(url: str, *, timeout: float = 120) -> Iterator[httpx.Response]:
    """Read a large answer piece by piece. No key is sent: the URL itself is the permission."""
    with client().stream("GET", url, timeout=_timeout(timeout)) as response:
        if not response.is_success:
            response.read()
            raise refused(PlatformError, "GET", url, response, None)
        yield response


def pause(attempt: int, retry_after: str | None) -> float:
    """Seconds to wait after a failed attempt: what the service asked for, else a growing, scattered time."""
    if retry_after is not None and retry_after.strip().isdigit():
        return min(float(retry_after), LONGEST_PAUSE)
    return FIRST_PAUSE * float(2 ** (attempt - 1)) * random.uniform(0.5, 1.5)


def unreachable(method: str, url: str, problem: Exception) -> str:
    """The sentence for a call that got no answer."""
    reason = str(problem) or type(problem).__name__
    if isinstance(problem, httpx.ConnectError):
        parts = urlsplit(url)
        return (
            f"nothing answers at {parts.scheme}://{parts.netloc} ({reason}): "
            "start the service with `whileai serve`, or set WHILEAI_API_URL to where it runs"
        )
    return f"{method} {_bare(url)} failed: {reason}"


def refused(
    failure: Failure, method: str, url: str, response: httpx.Response, credential: Credential | None
) -> PlatformError:
    """The error for an answer that is not a success: what was asked, what came back, the way out."""
    status, reason = response.status_code, detail(response)
    message = f"{method} {_bare(url)} answered {status}: {reason}"
    way_out = WAY_OUT.get(status)
    if way_out is not None and (credential is not None or "{source}" not in way_out):
        message = f"{message.rstrip('.')}. {way_out.format(source=credential.source if credential else '')}"
    return failure(message, status=status, reason=reason)


def detail(response: httpx.Response) -> str:
    """The reason in an error body: `error`, or the `message` of a google.rpc.Status, else the text as it came."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict):
        reason = body.get("error", body.get("message"))
        if isinstance(reason, dict):
            reason = reason.get("message", reason)
        if reason:
            return str(reason)[:ERROR_TEXT]
    return response.text.strip()[:ERROR_TEXT] or response.reason_phrase or "no reason given"


def client() -> httpx.Client:
    """The connections of this process; a forked child opens its own."""
    return _client(os.getpid())


def close() -> None:
    """Close the idle connections; the next call opens new ones."""
    if _client.cache_info().currsize:
        client().close()
        _client.cache_clear()


@cache
def _client(pid: int) -> httpx.Client:  # noqa: ARG001 — the process id is the cache's key
    # An idle connection is dropped well before a usual server drops it (5 s): a request never meets a closing socket.
    limits = httpx.Limits(max_connections=20, max_keepalive_connections=5, keepalive_expiry=2.0)
    # A proxy for the outside world must not get what is meant for a service on this machine.
    direct = {f"all://{host}": None for host in ("127.0.0.1", "localhost", "[::1]")}
    opened = httpx.Client(limits=limits, mounts=direct, headers={"User-Agent": "whileai-platform"})
    atexit.register(opened.close)
    return opened


def _request(method: str, url: str, options: Options) -> httpx.Request:
    credential, content = options.get("credential"), options.get("content")
    return client().build_request(
        method,
        url,
        json=options.get("json"),
        content=content() if callable(content) else content,
        params=options.get("params"),
        headers={**(options.get("headers") or {}), **({"X-Api-Key": credential.key} if credential else {})},
        timeout=_timeout(options.get("timeout", 120)),
    )


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def _timeout(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=min(seconds, 10.0))


def _bare(url: str) -> str:
    """The URL without its query: a signed link is a permission and does not belong in a message."""
    return url.split("?", 1)[0]
