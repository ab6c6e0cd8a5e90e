"""The first key, kept where the command and the client on this machine look for it, with the address it is good for."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whileai_server.folder import write_private

NAME = "credentials.json"


def write_first(data: Path, home: Path, api_key: str, api_url: str) -> None:
    """`<data>/credentials.json`, and `<home>/credentials.json` when none is there."""
    told = {
        "api_key": api_key,
        "api_url": api_url,
        "name": "local",
        "user_id": "local",
        "created_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    _write(data / NAME, told)
    if not (home / NAME).exists():
        _write(home / NAME, told)


def follow_address(data: Path, home: Path, api_url: str) -> None:
    """A later start may listen elsewhere: the client takes a key only for the address it is stored with."""
    own = _read(data / NAME)
    for path in (data / NAME, home / NAME):
        told = _read(path)
        if own and told.get("api_key") == own["api_key"] and told.get("api_url") != api_url:
            _write(path, told | {"api_url": api_url})


def _read(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) and "api_key" in told else {}


def _write(path: Path, told: dict[str, Any]) -> None:
    write_private(path, json.dumps(told, indent=2) + "\n")
