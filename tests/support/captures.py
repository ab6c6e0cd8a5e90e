"""The captured exports of real frameworks, as requests to send."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import httpx

FOLDER = Path(__file__).parents[1] / "fixtures" / "otlp"
_TYPES = {"pb": "application/x-protobuf", "json": "application/json"}


def requests_of(flavour: str) -> Iterator[tuple[str, str, bytes]]:
    """(path, content type, body) of each request of a flavour, in the order in which they arrived."""
    for file in sorted((FOLDER / flavour).glob("*.gz")):
        _, signal, form, _ = file.name.split(".")
        yield f"/v1/{signal}", _TYPES[form], gzip.decompress(file.read_bytes())


def send_capture(client: httpx.Client, flavour: str) -> dict[str, str]:
    """Send a flavour's requests as they were; the trace id of each of its scenarios."""
    for path, content_type, body in requests_of(flavour):
        client.post(path, content=body, headers={"content-type": content_type}).raise_for_status()
    truth = json.loads((FOLDER / flavour / "truth.json").read_text())
    return {run["scenario"]: run["traceId"] for run in truth["runs"]}
