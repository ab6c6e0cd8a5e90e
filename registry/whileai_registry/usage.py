"""What an account uses of what it may: tokens of hosted calls by UTC day, storage, datasets, keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date

from sqlalchemy import Connection, func, select

from whileai_registry.accounts import Account, find_account
from whileai_registry.database import Database
from whileai_registry.datasets import dataset_count, used_storage
from whileai_registry.errors import InvalidInput, LimitReached
from whileai_registry.keys import live_keys
from whileai_registry.tables import usage_days
from whileai_registry.tenant import owned

MOST_TOKENS = 10**12  # in one report; keeps a nonsense number from overflowing the sum


@dataclass(frozen=True)
class Tokens:
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Overview:
    account: Account
    today: Tokens
    storage_bytes: int
    datasets: int
    keys: int


def exhausted(account: Account, used: Tokens) -> str | None:
    """The name of the daily limit that is used up, if one is."""
    pairs = {
        "daily_input_tokens": (used.input_tokens, account.limits.daily_input_tokens),
        "daily_output_tokens": (used.output_tokens, account.limits.daily_output_tokens),
    }
    return next((name for name, (count, limit) in pairs.items() if limit is not None and count >= limit), None)


class Usage:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, account_id: str, *, input_tokens: int, output_tokens: int) -> None:
        counts = {"input_tokens": input_tokens, "output_tokens": output_tokens}
        for name, count in counts.items():
            if not 0 <= count <= MOST_TOKENS:
                raise InvalidInput(f"{name} must be between 0 and {MOST_TOKENS}, not {count}")
        first = self._database.insert(usage_days).values(account_id=account_id, day=self._today(), **counts)
        add = first.on_conflict_do_update(
            index_elements=["account_id", "day"],
            set_={name: usage_days.c[name] + count for name, count in counts.items()},
        )
        with self._database.write() as connection:
            find_account(connection, account_id)
            connection.execute(add)

    def ensure_tokens_left(self, account_id: str) -> None:
        """Before a hosted call; LimitReached names the daily limit that is used up."""
        with self._database.read() as connection:
            account = find_account(connection, account_id)
            limit = exhausted(account, self._used(connection, account_id))
        if limit is not None:
            raise LimitReached(limit, f"quota exceeded: {limit} of a {account.tier} account; try again after 0:00 UTC")

    def overview(self, account_id: str) -> Overview:
        with self._database.read() as connection:
            return Overview(
                account=find_account(connection, account_id),
                today=self._used(connection, account_id),
                storage_bytes=used_storage(connection, account_id),
                datasets=dataset_count(connection, account_id),
                keys=live_keys(connection, account_id),
            )

    def _used(self, connection: Connection, account_id: str) -> Tokens:
        total = (func.coalesce(func.sum(usage_days.c[name]), 0) for name in ("input_tokens", "output_tokens"))
        query = select(*total).where(owned(usage_days, account_id), usage_days.c.day == self._today())
        input_tokens, output_tokens = connection.execute(query).one()
        return Tokens(int(input_tokens), int(output_tokens))

    def _today(self) -> date:
        return self._database.now().astimezone(UTC).date()
