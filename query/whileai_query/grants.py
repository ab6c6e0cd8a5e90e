"""Permission in a URL: to fetch the rows of a set, or to send the file of one, without a key and for a while.

The URL is absolute, on the address by which clients reach the service. The signature stands in the query, never in the
path: the published client shows paths in its messages, and searches them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from fastapi import Request

from whileai_query.errors import Forbidden, Missing
from whileai_query.services import Services

LIFETIME = timedelta(hours=12)

_DOWNLOAD = "download"
_UPLOAD = "upload"


def origin_of(services: Services, request: Request) -> str:
    """`https://host` or `https://host/prefix`, without a slash at the end."""
    return (services.public_url or str(request.base_url)).rstrip("/")


def part_url(services: Services, request: Request, account: str, dataset_id: str) -> str:
    """Where the rows of this set are."""
    grant = _sign(services, _DOWNLOAD, dataset_id, account)
    return f"{origin_of(services, request)}/datasets/{quote(dataset_id)}/parts/0?grant={grant}"


def upload_url(services: Services, request: Request, account: str, dataset_id: str, upload_id: str) -> str:
    """Where the file of this set is to be sent."""
    grant = _sign(services, _UPLOAD, dataset_id, f"{account}/{upload_id}")
    return f"{origin_of(services, request)}/datasets/{quote(dataset_id)}/file?grant={grant}"


def reader_of(services: Services, grant: str, dataset_id: str) -> str:
    """The account whose set may be fetched. Raises `CapabilityRefused`, or `Forbidden` for another set's link."""
    return _verify(services, _DOWNLOAD, grant, dataset_id)


def sender_of(services: Services, grant: str, dataset_id: str) -> tuple[str, str]:
    """The account and the upload that may send this set's file; raises as `reader_of`."""
    account, _, upload_id = _verify(services, _UPLOAD, grant, dataset_id).partition("/")
    return account, upload_id


def only_part(number: str) -> None:
    """Every set has one part so far. Raises `Missing` for another number."""
    if number != "0":
        raise Missing(f"there is no part {number[:20]!r}")


def _sign(services: Services, purpose: str, dataset_id: str, whose: str) -> str:
    expiry = datetime.fromtimestamp(services.clock() / 1e9, UTC) + LIFETIME
    return quote(services.signer.sign(purpose, f"{dataset_id}/{whose}", expiry))


def _verify(services: Services, purpose: str, grant: str, dataset_id: str) -> str:
    now = datetime.fromtimestamp(services.clock() / 1e9, UTC)
    granted, _, whose = services.signer.verify(purpose, grant, now).partition("/")
    if granted != dataset_id:
        raise Forbidden(f"this {purpose} link is for another dataset; ask for a new one")
    return whose
