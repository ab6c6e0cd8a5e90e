"""What a person sees when a page cannot be shown: the sentence, in the frame of the pages, and a way on."""

from __future__ import annotations

import structlog
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from whileai_ingest import IngestError
from whileai_query.answers import error_answer
from whileai_query.errors import ApiError
from whileai_query.failures import status_of
from whileai_query.pages.people import SignInNeeded, way_to_sign_in
from whileai_query.pages.render import render
from whileai_query.services import services_of
from whileai_query.sessions import Person, person_of
from whileai_registry import RegistryError

log = structlog.get_logger("pages")

_TITLES = {
    400: "That does not make sense here",
    403: "Not allowed",
    404: "Not here",
    405: "Not possible here",
    409: "Not as things stand",
    429: "Too many tries",
    503: "Not now",
}
_OURS = "The service failed on this page. Its log says why, under the x-request-id of this answer."


def handle_problems(app: FastAPI) -> None:
    """Answer every exception as a page, or as JSON to a script."""
    app.add_exception_handler(SignInNeeded, _sign_in)
    for kind in (ApiError, IngestError, RegistryError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _problem)


async def _sign_in(request: Request, _error: Exception) -> Response:
    if _is_script(request):
        return error_answer(401, "your session has ended; sign in again")
    return RedirectResponse(way_to_sign_in(request), 303)


async def _problem(request: Request, error: Exception) -> Response:
    status, message = status_of(error), str(error)
    if isinstance(error, HTTPException):
        message = f"There is no page at {request.url.path[:120]}." if status == 404 else str(error.detail)
    elif isinstance(error, RequestValidationError):
        message = str(error.errors()[0]["msg"])
    elif status == 500:
        log.error("page failed", path=request.url.path, exc_info=error)
        message = _OURS
    if _is_script(request):
        return error_answer(status, message)
    person = await run_in_threadpool(_person, request)
    answer = render(
        request,
        "problem.html",
        person,
        status=status,
        title=_TITLES.get(status, "Something went wrong"),
        message=message,
    )
    answer.headers.update(getattr(error, "headers", None) or {})
    return answer


def _person(request: Request) -> Person | None:
    """The records may be what is broken."""
    try:
        return person_of(services_of(request), request.cookies)
    except RegistryError:
        return None


def _is_script(request: Request) -> bool:
    return "text/html" not in request.headers.get("accept", "")
