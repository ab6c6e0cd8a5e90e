"""Whose request this is: the key in `x-api-key` or `authorization: Bearer`, and the right to send."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from whileai_registry import Principal
from whileai_registry.keycache import KeyCache

SCOPE = "ingest"


class Unauthenticated(Exception):
    """No key, a wrong key, or a key that may not send."""


def key_of(headers: Mapping[str, str]) -> str:
    """The key in lower-cased headers; '' when there is none."""
    key = headers.get("x-api-key", "").strip()
    if key:
        return key
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def authenticate(cache: KeyCache, headers: Mapping[str, str]) -> Principal:
    """The sender. Raises `Unauthenticated`, or RegistryUnavailable when the records cannot be asked."""
    key = key_of(headers)
    if not key:
        raise Unauthenticated("a key is needed: send it as x-api-key, or as authorization: Bearer")
    fresh, principal = cache.remembered(key)
    if not fresh:
        principal = await asyncio.to_thread(cache.authenticate, key)
    if principal is None:
        raise Unauthenticated("this key is not known here, or was revoked")
    if SCOPE not in principal.scopes:
        raise Unauthenticated(f"this key has no {SCOPE!r} scope")
    return principal
