"""Accounts elsewhere that an account is connected to, one per provider. Tokens come sealed and go sealed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from whileai_registry.database import Database
from whileai_registry.rows import columns_of, record
from whileai_registry.tables import connections
from whileai_registry.tenant import owned


@dataclass(frozen=True)
class Connection:
    """`sealed` opens with the service's `Vault` only."""

    provider: str
    username: str
    sealed: str
    created_at: datetime


class Connections:
    def __init__(self, database: Database) -> None:
        self._database = database

    def connect(self, account_id: str, provider: str, username: str, sealed: str) -> None:
        """Remember the token; an earlier one of the same provider is forgotten."""
        values = {"username": username, "sealed": sealed, "created_at": self._database.now()}
        first = self._database.insert(connections).values(account_id=account_id, provider=provider, **values)
        with self._database.write() as connection:
            connection.execute(first.on_conflict_do_update(index_elements=["account_id", "provider"], set_=values))

    def find(self, account_id: str, provider: str) -> Connection | None:
        query = select(*columns_of(Connection, connections)).where(
            owned(connections, account_id), connections.c.provider == provider
        )
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else record(Connection, row)

    def disconnect(self, account_id: str, provider: str) -> bool:
        """True when there was a connection."""
        query = delete(connections).where(owned(connections, account_id), connections.c.provider == provider)
        with self._database.write() as connection:
            return connection.execute(query).rowcount == 1
