"""Request bodies: bounded while they are read, and JSON checked by a pydantic model."""

from __future__ import annotations

import json
import math
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from whileai_query.errors import BadRequest, BodyTooLarge

LARGEST_BODY = 64 << 20
# What is stored as it came must be encodable again, which ends at some depth in every encoder.
DEEPEST_BODY = 64

Model = TypeVar("Model", bound=BaseModel)


async def read_body(request: Request, most: int = LARGEST_BODY) -> bytes:
    """The whole body. Raises `BodyTooLarge` before it takes more memory than that."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > most:
        raise BodyTooLarge(f"the body has {announced} bytes; this call takes {most}")
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise BodyTooLarge(f"the body has more than the {most} bytes that this call takes")
        parts.append(part)
    return b"".join(parts)


def read_model(model: type[Model], body: bytes, *, strict: bool | None = None) -> Model:
    """The body as this model. Raises `BadRequest` naming the first field that does not fit."""
    return checked(model, read_json(body or b"{}"), strict=strict)


def read_models(model: type[Model], body: bytes, most: int) -> list[Model]:
    """The body as a list of these, strictly. Raises `BadRequest` naming the first item that does not fit."""
    document = read_json(body)
    if not isinstance(document, list) or len(document) > most:
        raise BadRequest(f"the body must be a JSON array of at most {most} items")
    return [checked(model, item, strict=True, item=f"item {number}") for number, item in enumerate(document)]


def read_json(body: bytes) -> Any:
    """The JSON of a body, without numbers that JSON has not, nor deeper than what can be written again."""
    try:
        document = json.loads(body, parse_float=_finite, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is not JSON: {str(error)[:120]}") from None
    if _deeper(document, DEEPEST_BODY):
        raise BadRequest(f"the body is nested more than {DEEPEST_BODY} deep")
    return document


def checked(model: type[Model], document: Any, *, strict: bool | None = None, item: str = "") -> Model:
    """A document as this model. Raises `BadRequest`, naming the item when one is given."""
    try:
        return model.model_validate(document, strict=strict)
    except ValidationError as error:
        raise BadRequest(f"{item}: {first_problem(error)}" if item else first_problem(error)) from None


def _finite(text: str) -> float:
    return value if math.isfinite(value := float(text)) else _no_number(text)


def _no_number(text: str) -> float:
    raise ValueError(f"{text[:40]} is no number that JSON can carry")


def _deeper(document: Any, room: int) -> bool:
    """Whether it is nested more than `room` deep; level by level, so that no depth overflows anything."""
    level = [document]
    for _ in range(room + 1):
        level = [
            item
            for held in level
            if isinstance(held, dict | list)
            for item in (held.values() if isinstance(held, dict) else held)
        ]
        if not level:
            return False
    return True


def first_problem(error: ValidationError) -> str:
    """The first thing that a model did not accept, by the name of its field."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the body"
    return f"{place}: {first['msg']}"
