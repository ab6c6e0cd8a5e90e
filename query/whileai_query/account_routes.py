"""Routes of the account itself: who am I, which keys are there, what was refused."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from whileai_query.answers import Json
from whileai_query.auth import Reader
from whileai_query.describing import takes
from whileai_query.grants import origin_of
from whileai_query.login_routes import limits_view
from whileai_query.parameters import checked_query
from whileai_query.rejections import LIST_PARAMETERS, list_rejections
from whileai_query.services import ServicesDep
from whileai_query.times import iso_of

router = APIRouter(tags=["account"])


@router.get("/me")
def me(request: Request, services: ServicesDep, caller: Reader) -> Response:
    """The account, its tier, its limits, and what is used of them."""
    found = services.registry.usage.overview(caller.account_id)
    account = found.account
    answer: dict[str, Any] = {
        "accountId": account.id,
        "name": account.name,
        "email": account.email,
        "tier": account.tier,
        "createdAt": iso_of(account.created_at),
        "scopes": sorted(caller.scopes),
        "limits": limits_view(account.limits),
        "usage": {**asdict(found.today), "storage_bytes": found.storage_bytes, "datasets": found.datasets},
    }
    if account.expires_at is not None:
        lift = f"{origin_of(services, request)}/sign-in"
        answer["trial"] = {**limits_view(account.limits), "expires_at": iso_of(account.expires_at), "lift": lift}
    return Json(answer)


@router.get("/keys")
def keys(services: ServicesDep, caller: Reader) -> Response:
    """The working keys, masked."""
    account = services.registry.accounts.get(caller.account_id)
    return Json(
        {
            "keys": [
                {
                    "id": key.id,
                    "name": key.name,
                    "key": key.masked,
                    "tier": account.tier,
                    "scopes": sorted(key.scopes),
                    "createdAt": iso_of(key.created_at),
                }
                for key in services.registry.keys.list_all(caller.account_id)
            ],
            "limit": account.limits.keys,
        }
    )


@router.get("/rejections", openapi_extra=takes(LIST_PARAMETERS))
def rejections(request: Request, services: ServicesDep, caller: Reader) -> Response:
    """What the door refused, and why."""
    query = checked_query(request.query_params.multi_items(), LIST_PARAMETERS)
    services.settle()
    return Json(list_rejections(services.ingest.store, caller.account_id, query))
