"""Rows into records: a frozen dataclass is filled from the columns of the same names, and from no others."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Row, Table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

R = TypeVar("R", bound="DataclassInstance")


def record(cls: type[R], row: Row[Any]) -> R:
    return cls(**{field.name: row._mapping[field.name] for field in fields(cls)})


def columns_of(cls: type[DataclassInstance], table: Table) -> list[Any]:
    """The columns to select for `record(cls, …)`."""
    return [table.c[field.name] for field in fields(cls)]
