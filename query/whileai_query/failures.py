"""Every way a request can end badly, mapped to its answer: one table, so that no error leaves in another shape."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from whileai_ingest import IngestError, Overloaded, StoreRefused, StoreUnavailable, TooLarge, Undecodable
from whileai_query.answers import error_answer
from whileai_query.errors import ApiError
from whileai_registry import (
    CapabilityRefused,
    InvalidInput,
    LimitReached,
    NotAllowed,
    NotFound,
    RegistryError,
    RegistryUnavailable,
)

log = structlog.get_logger("query")

_LATER = {"retry-after": "2"}
_OURS = "the service failed on this request; its log says why, under the x-request-id of this answer"

# Exceptions of the rooms below -> status; their messages are sentences for a person already.
_STATUSES: dict[type[Exception], int] = {
    InvalidInput: 400,
    CapabilityRefused: 403,
    LimitReached: 403,
    NotFound: 404,
    NotAllowed: 409,
    RegistryUnavailable: 503,
    Overloaded: 503,
    StoreUnavailable: 503,
    TooLarge: 413,
    Undecodable: 400,
}


def status_of(error: Exception) -> int:
    """The status that goes with an exception; 500 for one that nobody foresaw."""
    if isinstance(error, ApiError):
        return error.status
    if isinstance(error, RequestValidationError):
        return 400
    if isinstance(error, HTTPException):
        return error.status_code
    return next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), 500)


def handle_failures(app: FastAPI) -> None:
    """Answer every exception as `{"error": "…"}`."""
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)
    for kind, status in _STATUSES.items():
        app.add_exception_handler(kind, _sentence(status))
    for base in (RegistryError, IngestError, StoreRefused):
        app.add_exception_handler(base, _unexpected)


async def _api_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return error_answer(error.status, str(error), error.headers)


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
    return error_answer(400, f"{place}: {first['msg']}")


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    told = {404: f"there is nothing at {request.url.path[:120]}", 405: f"{request.method} is not possible here"}
    return error_answer(error.status_code, told.get(error.status_code, str(error.detail)), error.headers)


def _sentence(status: int) -> Callable[[Request, Exception], Response]:
    def answer(_request: Request, error: Exception) -> Response:
        headers = dict(_LATER) if status == 503 else {}
        if isinstance(error, Overloaded):
            headers["retry-after"] = str(max(1, round(error.retry_after)))
        return error_answer(status, str(error), headers)

    return answer


async def _unexpected(request: Request, error: Exception) -> Response:
    log.error("request failed", path=request.url.path, exc_info=error)
    return error_answer(500, _OURS)
