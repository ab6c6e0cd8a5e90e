"""Signing a command line in (RFC 8628): a device asks, a signed-in person approves, the device collects its key once.

The key is made when it is collected, because a key is kept only as a digest. A device that asks again (its answer
got lost on the way) gets another key, and the lost one stops working; a key that was revoked stays so.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, select, update

from whileai_registry import tokens
from whileai_registry.accounts import find_account
from whileai_registry.database import Database
from whileai_registry.errors import NotAllowed, NotFound
from whileai_registry.keys import add_key, ensure_room_for_a_key
from whileai_registry.tables import device_logins, keys
from whileai_registry.tenant import owned

LIFETIME = timedelta(minutes=15)
INTERVAL_SECONDS = 5
SLOW_DOWN_SECONDS = 5  # RFC 8628, 3.5: added to the interval each time
EARLY_SECONDS = 1  # a poll may be this early: the network shortens some intervals
LONGEST_NAME = 50

# Consonants only: no word comes out by accident, and no letter looks like another.
USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
USER_CODE_LENGTH = 8

State = Literal["pending", "approved", "denied", "collected"]
Event = Literal["approve", "deny", "collect"]

TRANSITIONS: dict[tuple[State, Event], State] = {
    ("pending", "approve"): "approved",
    ("pending", "deny"): "denied",
    ("approved", "collect"): "collected",
    ("collected", "collect"): "collected",
}


class Waiting(StrEnum):
    """Why a device has no key (yet), in the words of the protocol."""

    authorization_pending = "authorization_pending"
    slow_down = "slow_down"
    expired_token = "expired_token"
    access_denied = "access_denied"


REFUSALS: dict[State, Waiting] = {"pending": Waiting.authorization_pending, "denied": Waiting.access_denied}


@dataclass(frozen=True)
class DeviceStart:
    """What the device is told; `device_code` is its secret, `user_code` is for the person to read."""

    device_code: str
    user_code: str
    expires_at: datetime
    expires_in: int
    interval: int


@dataclass(frozen=True)
class DeviceLogin:
    """What the page shows before a person approves."""

    user_code: str
    name: str
    state: State
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class Collected:
    account_id: str
    name: str
    secret: str


def new_user_code() -> str:
    letters = "".join(secrets.choice(USER_CODE_LETTERS) for _ in range(USER_CODE_LENGTH))
    return f"{letters[:4]}-{letters[4:]}"


def normalise_user_code(text: str) -> str:
    """As a person may type it: any case, with or without the dash."""
    letters = "".join(char for char in text.upper() if char.isalnum())
    return f"{letters[:4]}-{letters[4:]}"


def judge_poll(row: Row[Any], now: datetime) -> Waiting | None:
    """None when the device may collect."""
    if row.expires_at <= now:
        return Waiting.expired_token
    if (row.state, "collect") in TRANSITIONS:
        return None
    early = row.polled_at is not None and now < row.polled_at + timedelta(seconds=row.interval_seconds - EARLY_SECONDS)
    return Waiting.slow_down if early and row.state == "pending" else REFUSALS[row.state]


class Devices:
    def __init__(self, database: Database) -> None:
        self._database = database

    def start(self, name: str) -> DeviceStart:
        now = self._database.now()
        device_code = tokens.new_secret("")
        with self._database.write() as connection:
            user_code = _unused_user_code(connection)
            connection.execute(
                device_logins.insert().values(
                    id=tokens.new_id("dev"),
                    digest=tokens.digest(device_code),
                    user_code=user_code,
                    name=name[:LONGEST_NAME],
                    state="pending",
                    interval_seconds=INTERVAL_SECONDS,
                    created_at=now,
                    expires_at=now + LIFETIME,
                )
            )
        return DeviceStart(device_code, user_code, now + LIFETIME, int(LIFETIME.total_seconds()), INTERVAL_SECONDS)

    def find(self, user_code: str) -> DeviceLogin | None:
        """The login behind a code that a person opened, unless it has expired."""
        with self._database.read() as connection:
            row = _find(connection, device_logins.c.user_code == normalise_user_code(user_code))
        if row is None or row.expires_at <= self._database.now():
            return None
        return DeviceLogin(row.user_code, row.name, row.state, row.created_at, row.expires_at)

    def approve(self, account_id: str, user_code: str) -> None:
        with self._database.write() as connection:
            ensure_room_for_a_key(connection, find_account(connection, account_id, lock=True))
            self._decide(connection, account_id, user_code, "approve")

    def deny(self, account_id: str, user_code: str) -> None:
        with self._database.write() as connection:
            self._decide(connection, account_id, user_code, "deny")

    def poll(self, device_code: str, user_code: str) -> Collected | Waiting:
        now = self._database.now()
        with self._database.write() as connection:
            row = _find(connection, device_logins.c.digest == tokens.digest(device_code), lock=True)
            if row is None or row.user_code != normalise_user_code(user_code):
                return Waiting.expired_token
            waiting = judge_poll(row, now)
            slower = SLOW_DOWN_SECONDS if waiting is Waiting.slow_down else 0
            change = update(device_logins).where(device_logins.c.id == row.id)
            connection.execute(change.values(polled_at=now, interval_seconds=row.interval_seconds + slower))
            return self._collect(connection, row, now) if waiting is None else waiting

    def _collect(self, connection: Connection, row: Row[Any], now: datetime) -> Collected | Waiting:
        account = find_account(connection, row.account_id)
        if row.key_id is not None:
            lost = update(keys).where(owned(keys, account.id), keys.c.id == row.key_id, keys.c.revoked_at.is_(None))
            if connection.execute(lost.values(revoked_at=now)).rowcount == 0:
                return Waiting.access_denied  # somebody revoked it, and meant it
        made = add_key(connection, now, account.id, name=row.name)
        change = update(device_logins).where(device_logins.c.id == row.id)
        connection.execute(change.values(state=TRANSITIONS[row.state, "collect"], key_id=made.key.id))
        return Collected(account.id, account.name, made.secret)

    def _decide(self, connection: Connection, account_id: str, user_code: str, event: Event) -> None:
        code = normalise_user_code(user_code)
        row = _find(connection, device_logins.c.user_code == code, lock=True)
        if row is None or row.expires_at <= self._database.now():
            raise NotFound(f"there is no login waiting under the code {code[:9]}; start it again on the device")
        if (row.state, event) not in TRANSITIONS:
            raise NotAllowed(f"the login {code} was already {row.state}; start it again on the device")
        change = update(device_logins).where(device_logins.c.id == row.id)
        connection.execute(change.values(state=TRANSITIONS[row.state, event], account_id=account_id))


def _find(connection: Connection, which: ColumnElement[bool], *, lock: bool = False) -> Row[Any] | None:
    query = select(device_logins).where(which)
    return connection.execute(query.with_for_update() if lock else query).one_or_none()


def _unused_user_code(connection: Connection) -> str:
    """One of 25 billion; a collision is not expected, but would let a person approve the wrong device."""
    while True:
        code = new_user_code()
        if _find(connection, device_logins.c.user_code == code) is None:
            return code
