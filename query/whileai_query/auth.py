"""Whose request this is: the key in `x-api-key` or `authorization: Bearer`, and the right it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, cast

from fastapi import Depends, Request

from whileai_query.errors import Forbidden, Unauthenticated
from whileai_registry import Principal
from whileai_registry.keycache import KeyCache


def key_of(headers: Mapping[str, str]) -> str:
    """The key in these headers; '' when there is none."""
    key = headers.get("x-api-key", "").strip()
    if key:
        return key
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def identify(request: Request) -> Principal:
    """The caller. Raises `Unauthenticated`."""
    key = key_of(request.headers)
    if not key:
        raise Unauthenticated("a key is needed: send it as x-api-key, or as authorization: Bearer")
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


Reader = Annotated[Principal, Depends(allowed("read"))]
Writer = Annotated[Principal, Depends(allowed("write"))]
Grader = Annotated[Principal, Depends(allowed("write", "ingest"))]
