"""Proving an address: a code goes there by mail, and comes back together with the challenge the browser was given.

Without the challenge (256 random bits, kept by the browser only) the six digits are worth nothing: nobody else can
use up the attempts, and a copy of the records does not reveal the code.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal

from sqlalchemy import Row, select, update

from whileai_registry import tokens
from whileai_registry.accounts import normalise_email
from whileai_registry.database import Database
from whileai_registry.errors import RegistryError
from whileai_registry.tables import email_codes

LIFETIME = timedelta(minutes=10)
DIGITS = 6
ATTEMPTS = 5

State = Literal["open", "used", "spent"]
Event = Literal["match", "miss", "last_miss"]

TRANSITIONS: dict[tuple[State, Event], State] = {
    ("open", "match"): "used",
    ("open", "miss"): "open",
    ("open", "last_miss"): "spent",
}


class CodeReason(StrEnum):
    wrong = "wrong"
    expired = "expired"
    used = "used"
    spent = "spent"


SENTENCES: dict[CodeReason, str] = {
    CodeReason.wrong: "that is not the code that was sent; check it and try again",
    CodeReason.expired: "the code has expired; ask for a new one",
    CodeReason.used: "the code was already used; ask for a new one",
    CodeReason.spent: "too many wrong codes; ask for a new one",
}
_CLOSED: dict[State, CodeReason] = {"used": CodeReason.used, "spent": CodeReason.spent}


class CodeRefused(RegistryError):
    def __init__(self, reason: CodeReason) -> None:
        super().__init__(SENTENCES[reason])
        self.reason = reason


@dataclass(frozen=True)
class Challenge:
    """`challenge` goes to the browser, `code` to the address and nowhere else."""

    challenge: str
    code: str
    email: str
    expires_at: datetime


def event_of(row: Row[Any], code: str, challenge: str) -> Event:
    if tokens.same_digest(row.code_digest, _code_digest(challenge, code)):
        return "match"
    return "last_miss" if row.misses + 1 >= ATTEMPTS else "miss"


class EmailCodes:
    def __init__(self, database: Database) -> None:
        self._database = database

    def request(self, address: str) -> Challenge:
        email = normalise_email(address)
        now = self._database.now()
        challenge = tokens.new_secret("")
        code = f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
        with self._database.write() as connection:
            connection.execute(
                email_codes.insert().values(
                    id=tokens.new_id("code"),
                    challenge_digest=tokens.digest(challenge),
                    email=email,
                    code_digest=_code_digest(challenge, code),
                    state="open",
                    misses=0,
                    created_at=now,
                    expires_at=now + LIFETIME,
                )
            )
        return Challenge(challenge, code, email, now + LIFETIME)

    def redeem(self, challenge: str, code: str) -> str:
        """The proven address, or CodeRefused. A wrong code counts even though the call fails."""
        outcome = self._attempt(challenge, "".join(code.split()))
        if isinstance(outcome, CodeReason):
            raise CodeRefused(outcome)
        return outcome

    def _attempt(self, challenge: str, code: str) -> str | CodeReason:
        mine = email_codes.c.challenge_digest == tokens.digest(challenge)
        with self._database.write() as connection:
            row = connection.execute(select(email_codes).where(mine).with_for_update()).one_or_none()
            if row is None or row.expires_at <= self._database.now():
                return CodeReason.expired
            if row.state in _CLOSED:
                return _CLOSED[row.state]
            event = event_of(row, code, challenge)
            state = TRANSITIONS[row.state, event]
            misses = row.misses + (event != "match")
            connection.execute(update(email_codes).where(mine).values(state=state, misses=misses))
        email: str = row.email
        return email if event == "match" else _CLOSED.get(state, CodeReason.wrong)


def _code_digest(challenge: str, code: str) -> str:
    return tokens.digest(f"{challenge}:{code}")
