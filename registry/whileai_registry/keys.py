"""Account keys: made, listed, revoked, recognised. A key is shown once; its digest and eleven characters are kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, func, select, update

from whileai_registry import tokens
from whileai_registry.accounts import Account, find_account
from whileai_registry.database import Database
from whileai_registry.errors import InvalidInput, LimitReached
from whileai_registry.tables import accounts, keys
from whileai_registry.tenant import owned
from whileai_registry.tiers import Tier

SCOPES = ("ingest", "read", "write", "admin")
LONGEST_NAME = 100


@dataclass(frozen=True)
class Principal:
    """Who is calling, and what the key lets them do."""

    account_id: str
    key_id: str
    scopes: frozenset[str]
    tier: Tier


class Refusal(StrEnum):
    """Why a key is not accepted."""

    unknown = "unknown"
    revoked = "revoked"
    expired = "expired"
    trial_expired = "trial_expired"


@dataclass(frozen=True)
class Key:
    id: str
    name: str
    masked: str
    scopes: frozenset[str]
    created_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True)
class NewKey:
    """A key at the only moment when its secret is known."""

    key: Key
    secret: str


def add_key(
    connection: Connection,
    now: datetime,
    account_id: str,
    *,
    name: str,
    scopes: Iterable[str] = SCOPES,
    secret: str | None = None,
    kind: str = "account",
    expires_at: datetime | None = None,
) -> NewKey:
    """Insert a key inside the caller's transaction."""
    granted = frozenset(scopes)
    if not granted or not granted <= set(SCOPES):
        raise InvalidInput(f"scopes must be some of {', '.join(SCOPES)}, not {', '.join(sorted(granted)) or 'none'}")
    secret = secret or tokens.new_secret(tokens.KEY_PREFIX)
    prefix = tokens.lookup_prefix(secret)
    key = Key(tokens.new_id("key"), name[:LONGEST_NAME], tokens.masked(prefix), granted, now, None)
    connection.execute(
        keys.insert().values(
            id=key.id,
            account_id=account_id,
            kind=kind,
            name=key.name,
            prefix=prefix,
            digest=tokens.digest(secret),
            scopes=sorted(granted),
            created_at=now,
            expires_at=expires_at,
        )
    )
    return NewKey(key, secret)


def live_keys(connection: Connection, account_id: str) -> int:
    live = select(func.count()).select_from(keys).where(owned(keys, account_id), keys.c.kind == "account")
    return int(connection.execute(live.where(keys.c.revoked_at.is_(None))).scalar_one())


def ensure_room_for_a_key(connection: Connection, account: Account) -> None:
    """Ask with the account's row locked, so that two requests cannot both take the last place."""
    limit = account.limits.keys
    if live_keys(connection, account.id) >= limit:
        raise LimitReached("keys", f"the account has {limit} keys, as many as its tier allows; revoke one first")


def judge(secret: str, candidates: Iterable[Row[Any]], now: datetime) -> Principal | Refusal:
    """Pick the row with the secret's digest and say what it is worth now. Every comparison takes constant time."""
    given = tokens.digest(secret)
    matching = [row for row in candidates if tokens.same_digest(row.digest, given)]
    if not matching:
        return Refusal.unknown
    row = matching[0]
    if row.revoked_at is not None:
        return Refusal.revoked
    if row.expires_at is not None and row.expires_at <= now:
        return Refusal.expired
    if row.account_expires_at is not None and row.account_expires_at <= now:
        return Refusal.trial_expired
    return Principal(row.account_id, row.id, frozenset(row.scopes), row.tier)


class Keys:
    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, account_id: str, name: str, scopes: Iterable[str] = SCOPES) -> NewKey:
        with self._database.write() as connection:
            ensure_room_for_a_key(connection, find_account(connection, account_id, lock=True))
            return add_key(connection, self._database.now(), account_id, name=name, scopes=scopes)

    def list_all(self, account_id: str) -> list[Key]:
        """The account's working keys, newest first, masked; delegated credentials are not among them."""
        query = select(keys).where(owned(keys, account_id), keys.c.kind == "account", keys.c.revoked_at.is_(None))
        with self._database.read() as connection:
            found = connection.execute(query.order_by(keys.c.created_at.desc(), keys.c.id.desc())).all()
        return [
            Key(row.id, row.name, tokens.masked(row.prefix), frozenset(row.scopes), row.created_at, row.revoked_at)
            for row in found
        ]

    def revoke(self, account_id: str, key_id: str) -> bool:
        """True when a working key stopped working; revoking again, or what is not there, changes nothing."""
        query = update(keys).where(owned(keys, account_id), keys.c.id == key_id, keys.c.revoked_at.is_(None))
        with self._database.write() as connection:
            return connection.execute(query.values(revoked_at=self._database.now())).rowcount == 1

    def examine(self, secret: str) -> Principal | Refusal:
        """Who a key is, or why it is nobody."""
        if not tokens.looks_like_a_key(secret):
            return Refusal.unknown
        query = (
            select(keys, accounts.c.tier, accounts.c.expires_at.label("account_expires_at"))
            .join(accounts, accounts.c.id == keys.c.account_id)
            .where(keys.c.prefix == tokens.lookup_prefix(secret))
        )
        with self._database.read() as connection:
            candidates = connection.execute(query).all()
        return judge(secret, candidates, self._database.now())
