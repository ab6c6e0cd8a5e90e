"""Short-lived credentials, minted from a signed-in session: what a job gets instead of the account's own key."""

from typing import Any

from whileai import environment, transport
from whileai.errors import PlatformError


def issue_delegated_credential(
    clerk_token: str | None, *, ttl_seconds: int = 3600, name: str = "sdk-default", timeout: float = 120
) -> dict[str, Any]:
    """A new credential under `credential`, to be exported as WHILEAI_DELEGATED_CREDENTIAL.

    The token is that of a signed-in session of the service's pages.
    """
    return _ask("issue", clerk_token, {"name": name, "ttlSeconds": ttl_seconds}, timeout)


def refresh_delegated_credential(
    clerk_token: str | None, credential: str, *, ttl_seconds: int = 3600, timeout: float = 120
) -> dict[str, Any]:
    """More time for a credential."""
    return _ask("refresh", clerk_token, {"credential": credential, "ttlSeconds": ttl_seconds}, timeout)


def revoke_delegated_credential(clerk_token: str | None, credential: str, *, timeout: float = 120) -> dict[str, Any]:
    """End a credential now."""
    return _ask("revoke", clerk_token, {"credential": credential}, timeout)


def _ask(what: str, token: str | None, body: dict[str, Any], timeout: float) -> dict[str, Any]:
    if not token:
        raise PlatformError(f"a session token is needed to {what} a credential: sign in on the pages of the service")
    return transport.call(
        "POST",
        f"{environment.api_url()}/auth/{what}-credential",
        json=body,
        headers={"Authorization": f"Bearer {token}"},
        timeout=timeout,
    )
