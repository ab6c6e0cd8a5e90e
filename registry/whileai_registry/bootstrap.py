"""The first account and its key. Happens once, whoever starts first; a later start changes nothing and shows no key."""

from __future__ import annotations

from dataclasses import dataclass

from whileai_registry import tokens
from whileai_registry.database import Database
from whileai_registry.errors import InvalidInput
from whileai_registry.keys import add_key
from whileai_registry.tables import accounts

LOCAL_ACCOUNT = "acc_local"
LOCAL_NAME = "local"


@dataclass(frozen=True)
class Bootstrap:
    account_id: str
    api_key: str | None


def check_bootstrap_key(key: str) -> str:
    fits = tokens.looks_like_a_key(key) and len(key) >= tokens.SHORTEST_KEY
    if not fits or key.startswith((tokens.DELEGATED_PREFIX, tokens.SESSION_PREFIX)):
        raise InvalidInput(
            f"WHILEAI_BOOTSTRAP_KEY must start with {tokens.KEY_PREFIX} and have {tokens.SHORTEST_KEY} to "
            f"{tokens.LONGEST_KEY} printable characters without spaces; it has {len(key)}. "
            "Leave it unset to get a random one"
        )
    return key


def bootstrap(database: Database, key: str | None) -> Bootstrap:
    secret = None if not key else check_bootstrap_key(key)
    first = database.insert(accounts).values(
        id=LOCAL_ACCOUNT, name=LOCAL_NAME, tier="standard", created_at=database.now()
    )
    with database.write() as connection:
        inserted = connection.execute(first.on_conflict_do_nothing(index_elements=["id"]).returning(accounts.c.id))
        if inserted.one_or_none() is None:
            return Bootstrap(LOCAL_ACCOUNT, None)
        made = add_key(connection, database.now(), LOCAL_ACCOUNT, name="bootstrap", secret=secret)
    return Bootstrap(LOCAL_ACCOUNT, made.secret)
