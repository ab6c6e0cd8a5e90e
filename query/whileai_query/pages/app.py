"""The pages as an application of their own beside the API: by path, with their own errors and their own headers."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from whileai_query.pages import (
    account_pages,
    agent_pages,
    assets,
    cut_pages,
    dataset_pages,
    device_pages,
    grade_pages,
    live_pages,
    run_pages,
    sign_in_pages,
    trace_pages,
    training_pages,
)
from whileai_query.pages.problems import handle_problems
from whileai_query.services import Services

ROUTERS = (
    assets.router,
    sign_in_pages.router,
    live_pages.router,
    trace_pages.router,
    grade_pages.router,
    run_pages.router,
    cut_pages.router,
    agent_pages.router,
    dataset_pages.router,
    training_pages.router,
    account_pages.router,
    device_pages.router,
)

_PATHS = frozenset(("/", "/sign-in", "/sign-out", "/device", "/favicon.ico"))
_FOLDERS = ("/ui/", "/static/", "/sign-in/")

# Nothing runs that is not a file of ours, nothing is loaded from elsewhere, nobody frames a page.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    )
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


def add_pages(api: FastAPI, services: Services) -> None:
    """Let this API application answer the paths of the pages, too."""
    api.router.routes.append(_Pages(_with_headers(_create_pages(services))))


def _create_pages(services: Services) -> FastAPI:
    pages = FastAPI(title="While's pages", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    pages.state.services = services
    handle_problems(pages)
    for router in ROUTERS:
        pages.include_router(router)
    return pages


class _Pages(BaseRoute):
    """Hands the paths of the pages over as they are; a mount would need one prefix for all of them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope.get("path", "")
        ours = scope["type"] == "http" and (path in _PATHS or path.startswith(_FOLDERS))
        return (Match.FULL if ours else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: object) -> NoMatchFound:  # type: ignore[override] # never gives one
        raise NoMatchFound(name, path_params)


def _with_headers(app: ASGIApp) -> ASGIApp:
    async def with_headers(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                # What a person saw stays with that person's browser, and is asked for again.
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await app(scope, receive, send_with_headers)

    return with_headers
