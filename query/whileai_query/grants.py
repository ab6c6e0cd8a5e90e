"""Permission in a URL: where the parts of a dataset can be fetched without a key, for a while.

The URL is absolute, on the address by which clients reach the service. The signature stands in the query, never in the
path: the published client shows paths in its messages, and searches them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from fastapi import Request

from whileai_query.errors import Forbidden, Missing
from whileai_query.services import Services

DOWNLOAD = "download"
LIFETIME = timedelta(hours=12)


def origin_of(services: Services, request: Request) -> str:
    """`https://host` or `https://host/prefix`, without a slash at the end."""
    return (services.public_url or str(request.base_url)).rstrip("/")


def part_url(services: Services, request: Request, account: str, dataset_id: str) -> str:
    """Where the rows of this set are."""
    expiry = datetime.fromtimestamp(services.clock() / 1e9, UTC) + LIFETIME
    grant = services.signer.sign(DOWNLOAD, f"{account}/{dataset_id}", expiry)
    return f"{origin_of(services, request)}/datasets/{quote(dataset_id)}/parts/0?grant={quote(grant)}"


def holder_of(services: Services, grant: str, dataset_id: str) -> str:
    """The account whose set may be fetched. Raises `CapabilityRefused`, or `Forbidden` for another set's grant."""
    now = datetime.fromtimestamp(services.clock() / 1e9, UTC)
    account, _, granted = services.signer.verify(DOWNLOAD, grant, now).partition("/")
    if granted != dataset_id:
        raise Forbidden("this download link is for another dataset; ask for a new one")
    return account


def only_part(number: str) -> None:
    """Every set has one part so far. Raises `Missing` for another number."""
    if number != "0":
        raise Missing(f"there is no part {number[:20]!r}")
