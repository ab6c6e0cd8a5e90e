"""The rows of a container: a list, and also callable, because both `data.rows` and `data.rows()` are written."""

from typing import Any


class RowList(list[dict[str, Any]]):
    """A list of rows that gives itself when called.

    >>> rows = RowList([{"prompt": "hi"}])
    >>> rows() == rows
    True
    """

    def __call__(self) -> "RowList":
        return self
