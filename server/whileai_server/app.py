"""One HTTP port, three apps by path: OTLP (plain ASGI), operations, and the API with the pages (FastAPI)."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import structlog
from starlette.responses import JSONResponse

log = structlog.get_logger("http")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def compose(by_path: dict[str, App], otherwise: App) -> App:
    """Exact paths first, the rest to `otherwise`; each request gets an id in its answer and its log line."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await otherwise(scope, receive, send)
            return
        request_id = uuid.uuid4().hex[:16]
        started = time.perf_counter()
        status = 0

        async def send_with_id(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            await send(message)

        structlog.contextvars.bind_contextvars(request_id=request_id)
        try:
            await by_path.get(scope["path"], otherwise)(scope, receive, send_with_id)
        finally:
            took = round((time.perf_counter() - started) * 1000, 1)
            write = log.warning if status >= 500 else log.debug
            # The query string may hold a person's text; the path never does.
            write("request", method=scope["method"], path=scope["path"], status=status, ms=took)
            structlog.contextvars.clear_contextvars()

    return app


async def nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    """What a collector answers on the paths of the API."""
    if scope["type"] == "http":
        answer = JSONResponse({"error": "this process only collects; ask the one that runs with --role query"}, 404)
        await answer(scope, receive, send)
