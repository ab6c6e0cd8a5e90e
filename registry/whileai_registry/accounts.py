"""Accounts: who owns everything else. An account has a tier, and one address at most."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select, update
from sqlalchemy.exc import IntegrityError

from whileai_registry.database import Database
from whileai_registry.errors import InvalidInput, NotAllowed, NotFound
from whileai_registry.rows import columns_of, record
from whileai_registry.tables import accounts
from whileai_registry.tiers import LIMITS, Limits, Tier
from whileai_registry.tokens import new_id

LONGEST_EMAIL = 254  # RFC 5321, 4.5.3.1.3: a path of 256 octets with its brackets

_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_EMAIL = re.compile(rf"[^@\s<>\"(),:;\\\[\]\x00-\x1f\x7f]{{1,64}}@(?:{_LABEL}\.)+{_LABEL}")


@dataclass(frozen=True)
class Account:
    id: str
    name: str
    email: str | None
    tier: Tier
    created_at: datetime
    expires_at: datetime | None

    @property
    def limits(self) -> Limits:
        return LIMITS[self.tier]


def normalise_email(address: str) -> str:
    """The form in which an address is compared: trimmed, lower case. One account per address means this form."""
    email = address.strip().lower()
    if len(email) > LONGEST_EMAIL or _EMAIL.fullmatch(email) is None:
        raise InvalidInput(f"email {address[:80]!r} is not an e-mail address")
    return email


def add_account(connection: Connection, now: datetime, *, name: str, email: str | None, tier: Tier) -> Account:
    """Insert an account inside the caller's transaction; a taken address raises IntegrityError."""
    lifetime = LIMITS[tier].lifetime
    account = Account(
        id=new_id("acc"),
        name=name,
        email=email,
        tier=tier,
        created_at=now,
        expires_at=None if lifetime is None else now + lifetime,
    )
    connection.execute(accounts.insert().values(**vars(account)))
    return account


def find_account(connection: Connection, account_id: str, *, lock: bool = False) -> Account:
    """`lock` makes two calls that count against a limit take turns (SQLite's writers do so anyway)."""
    query = select(*columns_of(Account, accounts)).where(accounts.c.id == account_id)
    row = connection.execute(query.with_for_update(key_share=True) if lock else query).one_or_none()
    if row is None:
        raise NotFound(f"there is no account {account_id!r}")
    return record(Account, row)


def find_by_email(connection: Connection, email: str) -> Account | None:
    row = connection.execute(select(*columns_of(Account, accounts)).where(accounts.c.email == email)).one_or_none()
    return None if row is None else record(Account, row)


class Accounts:
    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, account_id: str) -> Account:
        with self._database.read() as connection:
            return find_account(connection, account_id)

    def set_email(self, account_id: str, address: str) -> Account:
        """Give an account (the local one has none) the address with which a person signs in on the pages."""
        email = normalise_email(address)
        try:
            with self._database.write() as connection:
                connection.execute(update(accounts).where(accounts.c.id == account_id).values(email=email))
                return find_account(connection, account_id)
        except IntegrityError:
            raise NotAllowed(f"the address {email} already belongs to another account") from None

    def sign_in(self, address: str) -> Account:
        """The account of an address that was just proven by a code: a new one, or the old one with its trial lifted."""
        email = normalise_email(address)
        with self._database.write() as connection:
            fresh = self._database.insert(accounts).values(
                id=new_id("acc"), name=email, email=email, tier="standard", created_at=self._database.now()
            )
            connection.execute(fresh.on_conflict_do_nothing(index_elements=["email"]))
            lift = update(accounts).where(accounts.c.email == email, accounts.c.tier == "trial")
            connection.execute(lift.values(tier="standard", expires_at=None))
            account = find_by_email(connection, email)
        if account is None:
            raise NotFound(f"the account of {email} was deleted while it signed in; try again")
        return account
