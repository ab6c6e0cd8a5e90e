"""Whose request this is: the key in `x-api-key` or `authorization: Bearer`, and the right it needs.

Without a key, the session of a person who signed in on the pages does as well; what changes something must then carry
the session's CSRF token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, cast

from fastapi import Depends, Request

from whileai_query.errors import Forbidden, Unauthenticated
from whileai_query.services import services_of
from whileai_query.sessions import CSRF_HEADER, SAFE_METHODS, csrf_matches, person_of
from whileai_registry import Principal
from whileai_registry.keycache import KeyCache


def key_of(headers: Mapping[str, str]) -> str:
    """The key in these headers; '' when there is none."""
    return headers.get("x-api-key", "").strip() or bearer_of(headers)


def bearer_of(headers: Mapping[str, str]) -> str:
    """The token of `authorization: Bearer`; '' when there is none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def identify(request: Request) -> Principal:
    """The caller. Raises `Unauthenticated`."""
    key = key_of(request.headers)
    if not key:
        person = person_of(services_of(request), request.cookies)
        if person is None:
            raise Unauthenticated("a key is needed: send it as x-api-key, or as authorization: Bearer")
        if request.method not in SAFE_METHODS and not csrf_matches(person.token, request.headers.get(CSRF_HEADER, "")):
            raise Forbidden(f"a change made with a session needs its {CSRF_HEADER}; reload the page and try again")
        return person.principal()
    principal = cast(KeyCache, request.app.state.keys).authenticate(key)
    if principal is None:
        raise Unauthenticated("this key is not known here, was revoked, or has expired")
    return principal


def allowed(*scopes: str) -> Callable[[Request], Principal]:
    """A dependency: the caller, whose key must carry one of these scopes."""

    def check(request: Request) -> Principal:
        principal = identify(request)
        if principal.scopes.isdisjoint(scopes):
            raise Forbidden(f"this key has no {' or '.join(scopes)} scope")
        return principal

    return check


def session_account(request: Request) -> str:
    """The account of a signed-in person, by the session token that a program sends. Raises `Unauthenticated`."""
    session = services_of(request).registry.sessions.find(bearer_of(request.headers))
    if session is None:
        raise Unauthenticated("a session token is needed as authorization: Bearer; sign in on the pages to get one")
    return session.account_id


Reader = Annotated[Principal, Depends(allowed("read"))]
Writer = Annotated[Principal, Depends(allowed("write"))]
Grader = Annotated[Principal, Depends(allowed("write", "ingest"))]
Administrator = Annotated[Principal, Depends(allowed("admin"))]
SignedIn = Annotated[str, Depends(session_account)]
