"""The account behind the key: tier, limits, usage; and which key is in use, without showing it."""

from typing import Any

from whileai import credentials, environment, transport
from whileai.errors import LoginError, PlatformError
from whileai.sign_in import is_pending


def account(api_key: str | None = None) -> dict[str, Any]:
    """Tier, limits and usage of the account."""
    base = environment.api_url()
    try:
        credential = credentials.require("account", api_key, base)
        return transport.call("GET", f"{base}/me", credential=credential, timeout=30)
    except PlatformError as problem:
        raise LoginError(str(problem), status=problem.status, reason=problem.reason) from problem


def keys(api_key: str | None = None) -> dict[str, Any]:
    """The account's keys, each by its name and its beginning, and how many it may have."""
    base = environment.platform_url()
    credential = credentials.require("account", api_key, environment.api_url())
    return transport.call("GET", f"{base}/keys", credential=credential, timeout=30)


def status(api_key: str | None = None) -> dict[str, Any]:
    """Which service and which key are in use, and what the service says about them.

    Never raises for a missing key or an absent service: `configured` and `error` say so.
    """
    base = environment.api_url()
    shown: dict[str, Any] = {
        "api_url": base,
        "configured": False,
        "source": None,
        "path": str(credentials.path()),
        "pending": is_pending(base),
    }
    try:
        found = credentials.resolve("account", api_key, base)
        file = credentials.stored() or {}
        if found is None:
            credentials.require("account", api_key, base)
            return shown
        from_file = found.key == file.get("api_key")
        shown |= {
            "configured": True,
            "source": found.source,
            "key": credentials.masked(found.key),
            "name": file.get("name") if from_file else None,
        }
        me = account(api_key)
    except PlatformError as problem:
        return {**shown, "tier": None, "error": str(problem)}
    trial = me.get("trial") or {}
    return {
        **shown,
        "tier": me.get("tier"),
        **{name: trial[key] for name, key in (("trial_expires_at", "expires_at"), ("lift", "lift")) if trial.get(key)},
    }
