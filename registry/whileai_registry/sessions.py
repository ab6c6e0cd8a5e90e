"""Sessions of people who signed in on the pages: a token in a cookie, its digest here, an end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select

from whileai_registry import tokens
from whileai_registry.accounts import find_account
from whileai_registry.database import Database
from whileai_registry.rows import columns_of, record
from whileai_registry.tables import sessions
from whileai_registry.tenant import owned

LIFETIME = timedelta(days=14)


@dataclass(frozen=True)
class Session:
    id: str
    account_id: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class NewSession:
    """A session at the only moment when its token is known."""

    session: Session
    token: str


class Sessions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, account_id: str) -> NewSession:
        now = self._database.now()
        token = tokens.new_secret(tokens.SESSION_PREFIX)
        session = Session(tokens.new_id("ses"), account_id, now, now + LIFETIME)
        with self._database.write() as connection:
            find_account(connection, account_id)
            connection.execute(sessions.insert().values(**vars(session), digest=tokens.digest(token)))
        return NewSession(session, token)

    def find(self, token: str) -> Session | None:
        """The session of a token, while it lasts. The digest is of 256 random bits, so looking it up tells nothing."""
        query = select(*columns_of(Session, sessions)).where(sessions.c.digest == tokens.digest(token))
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        found = None if row is None else record(Session, row)
        return found if found is not None and found.expires_at > self._database.now() else None

    def end(self, token: str) -> None:
        """Signing out; ending what has ended changes nothing."""
        with self._database.write() as connection:
            connection.execute(delete(sessions).where(sessions.c.digest == tokens.digest(token)))

    def end_all(self, account_id: str) -> int:
        """Signing out everywhere."""
        with self._database.write() as connection:
            return connection.execute(delete(sessions).where(owned(sessions, account_id))).rowcount
