"""Which key a call carries: the order of the places it may come from, and the file of the saved one.

A stored key is taken only for the service it was stored with, so that pointing the client elsewhere never hands it out.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from whileai import configuration, environment
from whileai.errors import PlatformError

Caller = Literal["account", "data"]

# "account": the account itself, trace ingest, tracked agents. "data": datasets, scores, cuts, agents, training.
ORDER: Mapping[Caller, Sequence[str]] = {
    "account": ("argument", "configured", "environment", "file"),
    "data": ("argument", "delegated", "environment", "file"),
}


@dataclass(frozen=True)
class Credential:
    """A key and, in words, where it came from."""

    key: str
    source: str

    def __repr__(self) -> str:
        return f"Credential({masked(self.key)!r}, source={self.source!r})"


def resolve(caller: Caller, explicit: str | None, base: str) -> Credential | None:
    """The first key in the caller's order, or None."""
    places: Mapping[str, Callable[[], Credential | None]] = {
        "argument": lambda: Credential(explicit, "api_key=") if explicit else None,
        "configured": _configured,
        "delegated": lambda: _from_environment("DELEGATED_CREDENTIAL"),
        "environment": lambda: _from_environment("API_KEY"),
        "file": lambda: _from_file(base),
    }
    return next((found for place in ORDER[caller] if (found := places[place]())), None)


def require(caller: Caller, explicit: str | None, base: str) -> Credential:
    """The key of `resolve`, or an error that says where a key would be looked for."""
    found = resolve(caller, explicit, base)
    if found is None:
        raise PlatformError(_no_key(base), status=401)
    return found


def resolve_api_key(explicit: str | None = None) -> str | None:
    """The account key that calls would carry now, or None."""
    found = resolve("account", explicit, environment.api_url())
    return found.key if found else None


def masked(key: str) -> str:
    """Enough of a key to tell it from another, and no more."""
    return f"{key[:7]}…{key[-4:]}" if len(key) >= 24 else "…"


def path() -> Path:
    return environment.home() / "credentials.json"


def stored() -> dict[str, Any] | None:
    """The credentials file, or None when there is none."""
    try:
        text = path().read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise PlatformError(
            f"{path()} cannot be read ({problem.strerror}); mend it or set WHILEAI_API_KEY"
        ) from problem
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict) or not isinstance(value.get("api_key"), str) or not value["api_key"]:
        raise PlatformError(f"{path()} holds no api_key; delete it and run `whileai login`, or set WHILEAI_API_KEY")
    return value


def store(value: Mapping[str, Any]) -> Path:
    """Write the credentials file for its owner alone, whole or not at all."""
    return write_private(path(), value)


def forget() -> bool:
    """Remove the credentials file; False when there was none."""
    try:
        path().unlink()
    except FileNotFoundError:
        return False
    return True


def write_private(target: Path, value: Mapping[str, Any]) -> Path:
    """JSON that only its owner may read, swapped in so that no reader sees half a file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(target.suffix + ".tmp")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(json.dumps(value, indent=2) + "\n")
    os.replace(partial, target)
    return target


def same_service(one: Any, other: str) -> bool:
    """Whether two base URLs name one service; every spelling of this machine's loopback is the same machine."""
    try:
        return isinstance(one, str) and _place(one) == _place(other)
    except ValueError:  # a port that is no number, for one: not an address at all
        return False


def _place(url: str) -> tuple[str, str, int | None, str]:
    parts = urlsplit(url.strip())
    host = parts.hostname or ""
    scheme = parts.scheme.lower()
    port = parts.port or {"http": 80, "https": 443}.get(scheme)
    return scheme, "127.0.0.1" if host in {"localhost", "::1"} else host, port, parts.path.rstrip("/")


def _configured() -> Credential | None:
    key = configuration.current().api_key
    return Credential(key, "whileai.configure(api_key=)") if key else None


def _from_environment(name: str) -> Credential | None:
    key = environment.variable(name)
    return Credential(key, environment.variable_name(name)) if key else None


def _from_file(base: str) -> Credential | None:
    value = stored()
    if value is None or (value.get("api_url") and not same_service(value["api_url"], base)):
        return None
    return Credential(value["api_key"], str(path()))


def _no_key(base: str) -> str:
    value = stored()
    if value is not None:
        return (
            f"no key for {base}: the key in {path()} belongs to {value['api_url']}; "
            "set WHILEAI_API_URL to that address, or WHILEAI_API_KEY to a key of this one"
        )
    return (
        f"no key for {base}: set WHILEAI_API_KEY, run `whileai login`, "
        f"or start a service on this machine with `whileai serve` (it writes {path()})"
    )
