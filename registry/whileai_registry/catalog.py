"""The public catalog: published datasets of every account. The one reading that is bound to no tenant, on purpose."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select, update

from whileai_registry.database import Database
from whileai_registry.datasets import Dataset
from whileai_registry.errors import NotAllowed, NotFound
from whileai_registry.paging import Page, before, checked_limit, moment_cursor, page_of
from whileai_registry.rows import columns_of, record
from whileai_registry.tables import datasets
from whileai_registry.tenant import owned


class Catalog:
    def __init__(self, database: Database) -> None:
        self._database = database

    def publish(self, account_id: str, dataset_id: str, card: dict[str, Any]) -> Dataset:
        """Show a finished set with rows to everybody, under this card. Publishing again replaces the card."""
        with self._database.write() as connection:
            mine = select(*columns_of(Dataset, datasets))
            mine = mine.where(owned(datasets, account_id), datasets.c.id == dataset_id)
            row = connection.execute(mine.with_for_update()).one_or_none()
            if row is None:
                raise NotFound(f"there is no dataset {dataset_id[:80]!r}")
            if row.status != "ready" or row.rows == 0:
                state = f"{row.status} with {row.rows} rows"
                raise NotAllowed(f"dataset {dataset_id} is {state}; publish a finalized set that has rows")
            published_at = row.published_at or self._database.now()
            change = update(datasets).where(owned(datasets, account_id), datasets.c.id == dataset_id)
            connection.execute(change.values(card=card, published_at=published_at))
            return record(Dataset, connection.execute(mine).one())

    def unpublish(self, account_id: str, dataset_id: str) -> bool:
        """True when the set was public; the card is forgotten."""
        query = update(datasets).where(
            owned(datasets, account_id), datasets.c.id == dataset_id, datasets.c.published_at.is_not(None)
        )
        with self._database.write() as connection:
            return connection.execute(query.values(card=None, published_at=None)).rowcount == 1

    def find(self, dataset_id: str) -> Dataset | None:
        query = select(*columns_of(Dataset, datasets)).where(
            datasets.c.id == dataset_id, datasets.c.published_at.is_not(None)
        )
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else record(Dataset, row)

    def list_page(self, *, limit: int = 500, cursor: str | None = None) -> Page[Dataset]:
        """Newest publication first."""
        query = select(*columns_of(Dataset, datasets)).where(datasets.c.published_at.is_not(None))
        if cursor is not None:
            query = query.where(before(datasets, "published_at", cursor))
        query = query.order_by(datasets.c.published_at.desc(), datasets.c.id.desc()).limit(checked_limit(limit) + 1)
        with self._database.read() as connection:
            found = [record(Dataset, row) for row in connection.execute(query)]
        return page_of(found, limit, _cursor)


def _cursor(dataset: Dataset) -> str:
    return moment_cursor(dataset.published_at or dataset.created_at, dataset.id)
