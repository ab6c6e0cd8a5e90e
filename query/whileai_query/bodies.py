"""Request bodies: bounded while they are read, and JSON objects checked by a pydantic model."""

from __future__ import annotations

import json
from typing import TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from whileai_query.errors import BadRequest, BodyTooLarge

LARGEST_BODY = 64 << 20

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


def read_model(model: type[Model], body: bytes) -> Model:
    """The body as this model. Raises `BadRequest` naming the first field that does not fit."""
    try:
        document = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is not JSON: {str(error)[:120]}") from None
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise BadRequest(first_problem(error)) from None


def first_problem(error: ValidationError) -> str:
    """The first thing that a model did not accept, by the name of its field."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the body"
    return f"{place}: {first['msg']}"
