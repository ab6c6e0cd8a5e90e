"""Delegated credentials: keys with a short life that a signed-in person gives to a program. They cannot administer.

Refreshing prolongs the same credential, so that an answer lost on the way costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, Row, select, update

from whileai_registry import tokens
from whileai_registry.accounts import find_account
from whileai_registry.database import Database
from whileai_registry.errors import InvalidInput, NotAllowed, NotFound
from whileai_registry.keys import add_key
from whileai_registry.tables import keys
from whileai_registry.tenant import owned

SCOPES = ("ingest", "read", "write")
SHORTEST_SECONDS = 60
LONGEST_SECONDS = 24 * 3600
KIND = "delegated"

State = Literal["active", "expired", "revoked"]

# An expired credential may be in anybody's hands: a new one is issued, the old one does not come back.
REFRESHABLE: dict[State, bool] = {"active": True, "expired": False, "revoked": False}


@dataclass(frozen=True)
class Delegated:
    id: str
    credential: str
    name: str
    scopes: frozenset[str]
    expires_at: datetime


def state_of(revoked_at: datetime | None, expires_at: datetime, now: datetime) -> State:
    if revoked_at is not None:
        return "revoked"
    return "active" if now < expires_at else "expired"


def checked_lifetime(ttl_seconds: int) -> timedelta:
    if not SHORTEST_SECONDS <= ttl_seconds <= LONGEST_SECONDS:
        raise InvalidInput(f"ttlSeconds must be between {SHORTEST_SECONDS} and {LONGEST_SECONDS}, not {ttl_seconds}")
    return timedelta(seconds=ttl_seconds)


class DelegatedCredentials:
    def __init__(self, database: Database) -> None:
        self._database = database

    def issue(self, account_id: str, name: str, ttl_seconds: int) -> Delegated:
        now = self._database.now()
        expires_at = now + checked_lifetime(ttl_seconds)
        secret = tokens.new_secret(tokens.DELEGATED_PREFIX)
        with self._database.write() as connection:
            find_account(connection, account_id)
            made = add_key(
                connection, now, account_id, name=name, scopes=SCOPES, secret=secret, kind=KIND, expires_at=expires_at
            )
        return Delegated(made.key.id, secret, made.key.name, made.key.scopes, expires_at)

    def refresh(self, account_id: str, credential: str, ttl_seconds: int) -> Delegated:
        now = self._database.now()
        expires_at = now + checked_lifetime(ttl_seconds)
        with self._database.write() as connection:
            row = _find(connection, account_id, credential)
            if row is None:
                raise NotFound("the account has no such delegated credential")
            state = state_of(row.revoked_at, row.expires_at, now)
            if not REFRESHABLE[state]:
                raise NotAllowed(f"the delegated credential {tokens.masked(row.prefix)} is {state}; issue a new one")
            change = update(keys).where(owned(keys, account_id), keys.c.id == row.id)
            connection.execute(change.values(expires_at=expires_at))
        return Delegated(row.id, credential, row.name, frozenset(row.scopes), expires_at)

    def revoke(self, account_id: str, credential: str) -> bool:
        """True when a credential stopped working; False when there was none that worked."""
        now = self._database.now()
        with self._database.write() as connection:
            row = _find(connection, account_id, credential)
            if row is None or state_of(row.revoked_at, row.expires_at, now) != "active":
                return False
            connection.execute(update(keys).where(owned(keys, account_id), keys.c.id == row.id).values(revoked_at=now))
        return True


def _find(connection: Connection, account_id: str, credential: str) -> Row[Any] | None:
    query = select(keys).where(owned(keys, account_id), keys.c.kind == KIND, keys.c.digest == tokens.digest(credential))
    return connection.execute(query.with_for_update()).one_or_none()
