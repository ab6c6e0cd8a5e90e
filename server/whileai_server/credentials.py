"""The first key, written where the command and the client on this machine look for it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from whileai_server.folder import write_private

NAME = "credentials.json"


def write_first(data: Path, home: Path, api_key: str, api_url: str) -> None:
    """`<data>/credentials.json`, and `<home>/credentials.json` when none is there."""
    text = (
        json.dumps(
            {
                "api_key": api_key,
                "api_url": api_url,
                "name": "local",
                "user_id": "local",
                "created_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            },
            indent=2,
        )
        + "\n"
    )
    write_private(data / NAME, text)
    if not (home / NAME).exists():
        write_private(home / NAME, text)
