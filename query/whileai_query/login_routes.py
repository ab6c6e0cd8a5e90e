"""Routes that give out keys: the device flow (RFC 8628), sign-up, delegated credentials, and the account's own keys.

The person's half, signing in and approving a device, is the work of the pages: the links lead to `/device` and
`/sign-in`.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from whileai_query.answers import Json
from whileai_query.auth import Administrator, Reader, SignedIn
from whileai_query.bodies import read_body, read_model
from whileai_query.describing import takes
from whileai_query.errors import TooOften
from whileai_query.grants import origin_of
from whileai_query.services import Services, ServicesDep
from whileai_query.times import iso_of
from whileai_registry import SCOPES, Collected, Delegated, Limits, SignedUp, SignupReason, SignupRefused

router = APIRouter(tags=["login"])

LARGEST_REQUEST = 64 << 10
# The words of the protocol are the whole answer; the published client has a sentence of its own for each.
_SIGNUP_STATUSES = {
    SignupReason.account_exists: 409,
    SignupReason.invalid_email: 400,
    SignupReason.too_many_signups: 429,
}


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class DeviceCodeRequest(_Body):
    """Who asks: a name for the key."""

    name: str = Field("cli", max_length=200)


class DeviceTokenRequest(_Body):
    """The two codes that a device was given."""

    device_code: str = Field(max_length=400)
    user_code: str = Field(max_length=40)


class SignupRequest(_Body):
    """An address, and what to call the account."""

    email: str = Field(max_length=400)
    name: str = Field("", max_length=200)


class UsageRequest(_Body):
    """Tokens of hosted calls since the last report."""

    input_tokens: int = 0
    output_tokens: int = 0


class IssueRequest(_Body):
    """A credential that ends by itself."""

    name: str = Field("sdk-default", max_length=100)
    ttlSeconds: int = 3600


class RefreshRequest(_Body):
    """The credential that is to live longer."""

    credential: str = Field(max_length=400)
    ttlSeconds: int = 3600


class RevokeRequest(_Body):
    """The credential that is to end."""

    credential: str = Field(max_length=400)


class KeyRequest(_Body):
    """A new account key."""

    name: str = Field(min_length=1, max_length=100)
    scopes: list[str] = list(SCOPES)


@router.post("/device/code", openapi_extra=takes(body=DeviceCodeRequest))
async def device_code(request: Request, services: ServicesDep) -> Response:
    """Begin a login on a device: a link for the person, a secret for the device."""
    said = read_model(DeviceCodeRequest, await read_body(request, LARGEST_REQUEST))
    await run_in_threadpool(knock, services, "device_start", client_of(request))
    start = await run_in_threadpool(services.registry.devices.start, said.name)
    page = f"{origin_of(services, request)}/device"
    return Json(
        {
            "device_code": start.device_code,
            "user_code": start.user_code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}?code={quote(start.user_code)}",
            "expires_in": start.expires_in,
            "interval": start.interval,
        }
    )


@router.post("/device/token", openapi_extra=takes(body=DeviceTokenRequest))
async def device_token(request: Request, services: ServicesDep) -> Response:
    """The key, once a person approved; until then why not, in the words of the protocol."""
    said = read_model(DeviceTokenRequest, await read_body(request, LARGEST_REQUEST))
    outcome = await run_in_threadpool(services.registry.devices.poll, said.device_code, said.user_code)
    if not isinstance(outcome, Collected):
        return Json({"error": outcome.value}, 400)
    return Json({"api_key": outcome.secret, "name": outcome.name, "user_id": outcome.account_id})


@router.post("/signup", openapi_extra=takes(body=SignupRequest))
async def signup(request: Request, services: ServicesDep) -> Response:
    """A trial account and its key, which works at once."""
    said = read_model(SignupRequest, await read_body(request, LARGEST_REQUEST))
    try:
        made = await run_in_threadpool(_sign_up, services, said, client_of(request))
    except SignupRefused as refused:
        headers = {"retry-after": str(refused.retry_after_seconds)} if refused.retry_after_seconds else None
        return Json({"error": refused.reason.value}, _SIGNUP_STATUSES[refused.reason], headers)
    account = made.account
    answer: dict[str, Any] = {
        "api_key": made.key.secret,
        "name": account.name,
        "user_id": account.id,
        "email": account.email,
        "tier": account.tier,
    }
    if account.expires_at is not None:
        lift = f"{origin_of(services, request)}/sign-in"
        answer["trial"] = {**limits_view(account.limits), "expires_at": iso_of(account.expires_at), "lift": lift}
    return Json(answer, 201)


@router.post("/usage", openapi_extra=takes(body=UsageRequest))
async def usage(request: Request, services: ServicesDep, caller: Reader) -> Response:
    """Count tokens of hosted calls against the day."""
    said = read_model(UsageRequest, await read_body(request, LARGEST_REQUEST))
    await run_in_threadpool(
        services.registry.usage.add,
        caller.account_id,
        input_tokens=said.input_tokens,
        output_tokens=said.output_tokens,
    )
    return Json({})


@router.post("/auth/issue-credential", openapi_extra=takes(body=IssueRequest))
async def issue(request: Request, services: ServicesDep, account: SignedIn) -> Response:
    """A short-lived credential for a program, from a signed-in session."""
    said = read_model(IssueRequest, await read_body(request, LARGEST_REQUEST))
    await run_in_threadpool(knock, services, "credential_issue", account)
    made = await run_in_threadpool(services.registry.delegated.issue, account, said.name, said.ttlSeconds)
    return Json(_credential(made))


@router.post("/auth/refresh-credential", openapi_extra=takes(body=RefreshRequest))
async def refresh(request: Request, services: ServicesDep, account: SignedIn) -> Response:
    """The same credential, for longer."""
    said = read_model(RefreshRequest, await read_body(request, LARGEST_REQUEST))
    made = await run_in_threadpool(services.registry.delegated.refresh, account, said.credential, said.ttlSeconds)
    return Json(_credential(made))


@router.post("/auth/revoke-credential", openapi_extra=takes(body=RevokeRequest))
async def revoke(request: Request, services: ServicesDep, account: SignedIn) -> Response:
    """End a credential; one that has ended stays so."""
    said = read_model(RevokeRequest, await read_body(request, LARGEST_REQUEST))
    await run_in_threadpool(services.registry.delegated.revoke, account, said.credential)
    return Json({"revoked": True})


@router.post("/keys", openapi_extra=takes(body=KeyRequest))
async def create_key(request: Request, services: ServicesDep, caller: Administrator) -> Response:
    """A new key, shown this once."""
    said = read_model(KeyRequest, await read_body(request, LARGEST_REQUEST))
    made = await run_in_threadpool(services.registry.keys.create, caller.account_id, said.name, said.scopes)
    shown = {"id": made.key.id, "name": made.key.name, "scopes": sorted(made.key.scopes)}
    return Json({**shown, "api_key": made.secret}, 201)


@router.delete("/keys/{key_id}", status_code=204)
def revoke_key(key_id: str, services: ServicesDep, caller: Administrator) -> Response:
    """Revoke a key; it stops within seconds."""
    services.registry.keys.revoke(caller.account_id, key_id)
    return Response(status_code=204)


def knock(services: Services, rule: str, subject: str) -> None:
    """Raises `TooOften` when this subject did this too often lately."""
    allowance = services.registry.rates.take(rule, subject)
    if not allowance.allowed:
        raise TooOften(f"too many tries; try again in {allowance.retry_after_seconds} s", allowance.retry_after_seconds)


def client_of(request: Request) -> str:
    """Where a request comes from, as far as the connection tells."""
    return request.client.host if request.client else "unknown"


def limits_view(limits: Limits) -> dict[str, Any]:
    """What a tier may use, under the names of the published client."""
    return {
        "daily_input_tokens": limits.daily_input_tokens,
        "daily_output_tokens": limits.daily_output_tokens,
        "storage_bytes": limits.storage_bytes,
        "datasets": limits.datasets,
    }


def _sign_up(services: Services, said: SignupRequest, client: str) -> SignedUp:
    return services.registry.signup.create(said.email, said.name, client=client)


def _credential(made: Delegated) -> dict[str, Any]:
    return {
        "id": made.id,
        "credential": made.credential,
        "name": made.name,
        "scopes": sorted(made.scopes),
        "expiresAt": iso_of(made.expires_at),
    }
