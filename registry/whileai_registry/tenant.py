"""The one place that says whose rows a statement may see."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Table


def owned(table: Table, account_id: str) -> ColumnElement[bool]:
    """The filter that every statement on an account's rows carries."""
    account: ColumnElement[str] = table.c.account_id
    return account == account_id
