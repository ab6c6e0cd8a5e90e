"""How answers go over the wire: JSON that always encodes, and errors as `{"error": "…"}` under 400 bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response

# The published client reads the first 400 characters of an error body as JSON; a longer one is shown raw.
ERROR_BYTES = 399
# A model may write arguments as deep as it likes; one such run must not fail the page or the cut it is in.
DEEPEST = 200
TOO_DEEP = f"(nested more than {DEEPEST} deep)"


def encode_json(content: Any) -> bytes:
    """Compact JSON. Text that is not valid Unicode (a lone surrogate out of a span's JSON) goes as an escape."""
    try:
        return orjson.dumps(content)
    except TypeError:
        return json.dumps(_plain(content), separators=(",", ":"), default=str).encode()


def _plain(value: Any, room: int = DEEPEST) -> Any:
    """What is no number in JSON becomes null, as the fast encoder has it; what is too deep for any encoder, a note."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if not isinstance(value, dict | list | tuple):
        return value
    if not room:
        return TOO_DEEP
    if isinstance(value, dict):
        return {str(key): _plain(item, room - 1) for key, item in value.items()}
    return [_plain(item, room - 1) for item in value]


class Json(Response):
    """A JSON object."""

    media_type = "application/json"

    def __init__(self, content: Any, status_code: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(content, status_code, headers)

    def render(self, content: Any) -> bytes:
        return encode_json(content)


def error_answer(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """The one shape of every error. A message too long for it is cut."""
    text = " ".join(message.split()) or "the request failed"
    body = encode_json({"error": text})
    while len(body) > ERROR_BYTES:
        text = text[: max(1, len(text) - max(1, (len(body) - ERROR_BYTES) // 4) - 1)].rstrip("…") + "…"
        body = encode_json({"error": text})
    return Response(body, status, dict(headers or {}), "application/json")
