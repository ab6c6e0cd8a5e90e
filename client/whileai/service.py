"""A call by path: the base URL and the key that belong to it, put together for the transport."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from whileai import environment, transport
from whileai.credentials import require


def api(
    method: str,
    path: str,
    *,
    api_key: str | None = None,
    json: Any = None,
    params: Mapping[str, str] | None = None,
    timeout: float = 120,
    idempotent: bool | None = None,
) -> dict[str, Any]:
    """Datasets, scores, cuts, agents: everything that takes a delegated credential too."""
    base = environment.api_url()
    return transport.call(
        method,
        base + path,
        credential=require("data", api_key, base),
        json=json,
        params=params,
        timeout=timeout,
        idempotent=idempotent,
    )


def segment(value: str) -> str:
    """An id as one piece of a path, whatever is in it."""
    return quote(value, safe="")


def given(**fields: Any) -> dict[str, Any]:
    """The fields that were given, for a request body that leaves the others out."""
    return {name: value for name, value in fields.items() if value is not None}
