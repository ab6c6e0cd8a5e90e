"""A person's session on the pages: the cookie that carries it, the token that every change must bring along.

The cookie is out of reach of scripts and of other sites' forms (`HttpOnly`, `SameSite=Lax`). The CSRF token is derived
from the session's own secret, so nothing is stored for it and nobody without the session can make one.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from whileai_query.services import Services
from whileai_registry import SCOPES, Account, NotFound, Principal

COOKIE = "whileai_session"
CSRF_HEADER = "x-csrf-token"
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))

_CSRF_PURPOSE = b"whileai csrf:"


@dataclass(frozen=True, slots=True)
class Person:
    """Who is signed in, and the two secrets of the browser: its session and its CSRF token."""

    account: Account
    session_id: str
    token: str

    @property
    def account_id(self) -> str:
        return self.account.id

    @property
    def csrf(self) -> str:
        return csrf_of(self.token)

    def principal(self) -> Principal:
        """A person may do what every key of the account together may."""
        return Principal(self.account.id, self.session_id, frozenset(SCOPES), self.account.tier)


def csrf_of(token: str) -> str:
    """What a change made with this session must carry."""
    return hmac.new(token.encode(), _CSRF_PURPOSE, hashlib.sha256).hexdigest()


def csrf_matches(token: str, given: str) -> bool:
    """In constant time."""
    return hmac.compare_digest(csrf_of(token), given.encode("ascii", "replace").decode())


def person_of(services: Services, cookies: Mapping[str, str]) -> Person | None:
    """The person whose session this is, while session and account last."""
    token = cookies.get(COOKIE, "")
    session = services.registry.sessions.find(token) if token else None
    if session is None:
        return None
    try:
        account = services.registry.accounts.get(session.account_id)
    except NotFound:
        return None
    now = datetime.fromtimestamp(services.clock() / 1e9, UTC)
    if account.expires_at is not None and account.expires_at <= now:
        return None
    return Person(account, session.id, token)
