"""What `/openapi.json` says beyond paths: the parameters of each call, its body, the key, and the shape of an error.

Query strings are read by `checked_query`, which refuses what a call does not take; the same tuples of names describe
them here, so that the document cannot promise a parameter that is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from whileai_query.parameters import LARGEST_LIMIT

Json = dict[str, Any]

_TEXT: Json = {"type": "string"}
_MOMENT: Json = {"type": "string", "examples": ["all", "15m", "7d", "2026-03-01T12:00:00Z"]}
_FLAG: Json = {"type": "string", "enum": ["0", "1"]}
_SHARE: Json = {"type": "number", "minimum": 0, "maximum": 1}


def _one_of(*words: str) -> Json:
    return {"type": "string", "enum": list(words)}


# parameter -> what it means, and what its value may be.
_PARAMETERS: dict[str, tuple[str, Json]] = {
    "agent": ("of this agent, in any case", _TEXT),
    "service": ("of this service.name", _TEXT),
    "from": ("started at or after this moment", _MOMENT),
    "to": ("started before this moment", _MOMENT),
    "model": ("of this model", _TEXT),
    "version": ("of this version of the weights", _TEXT),
    "tool": ("runs that called this tool", _TEXT),
    "evalSet": ("runs tagged with this eval set", _TEXT),
    "measure": ("runs that carry a measurement of this name", _TEXT),
    "scenario": ("runs of this task", _TEXT),
    "verdict": ("runs with this verdict", _one_of("pass", "fail", "none")),
    "status": ("how the run ended", _one_of("ok", "error")),
    "state": ("whether the run has ended", _one_of("running", "complete")),
    "q": ("text in prompt, answer, agent or scenario", _TEXT),
    "order": ("newest start first, or by the moment of completion", _one_of("started", "arrived")),
    "limit": ("rows of a page", {"type": "integer", "minimum": 1, "maximum": LARGEST_LIMIT}),
    "cursor": ("`next` of the page before", _TEXT),
    "page": ("a page by its number, from 1", {"type": "integer", "minimum": 1}),
    "purpose": ("sets of this purpose", _one_of("train", "holdout", "eval")),
    "lo": ("lower edge of the band of pass rates", _SHARE),
    "hi": ("upper edge of the band of pass rates", _SHARE),
    "holdout": ("share of the tasks that is held out", _SHARE),
    "spans": ("0 leaves the spans out", _FLAG),
    "format": ("json, or otlp: the spans as they came", _one_of("json", "otlp")),
    "behavior": ("what to compare versions on; else what the newest run is after", _TEXT),
    "force": ("1 counts again", _FLAG),
    "window": ("how far back", {"type": "string", "examples": ["1h", "24h"]}),
    "step": ("length of one point", {"type": "string", "examples": ["1m", "1h"]}),
}

_ERROR: Json = {
    "description": "What was wrong, and the way out",
    "content": {
        "application/json": {
            "schema": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
        }
    },
}
_KEYS: Json = {
    "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    "bearer": {"type": "http", "scheme": "bearer"},
}


def takes(
    parameters: Collection[str] = (), *, body: type[BaseModel] | Json | None = None, media: str = "application/json"
) -> Json:
    """The `openapi_extra` of a route that takes these query parameters and this body."""
    extra: Json = {}
    if parameters:
        extra["parameters"] = [
            {"name": name, "in": "query", "required": False, "description": told, "schema": schema}
            for name in parameters
            for told, schema in [_PARAMETERS[name]]
        ]
    if body is not None:
        schema = _inlined(body if isinstance(body, dict) else body.model_json_schema())
        extra["requestBody"] = {"required": True, "content": {media: {"schema": schema}}}
    return extra


def _inlined(schema: Json) -> Json:
    """The schema without references: they would be looked for in the whole document, where its parts are not."""
    parts = schema.get("$defs", {})

    def inlined(value: Any) -> Any:
        if isinstance(value, list):
            return [inlined(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            return inlined(parts[value["$ref"].rsplit("/", 1)[-1]])
        return {name: inlined(item) for name, item in value.items() if name != "$defs"}

    return {name: inlined(value) for name, value in schema.items() if name != "$defs"}


def list_of(model: type[BaseModel], most: int) -> Json:
    """The schema of a body that is an array of these."""
    return {"type": "array", "maxItems": most, "items": _inlined(model.model_json_schema())}


def described(app: FastAPI) -> Callable[[], Json]:
    """The document of this application, made once: keys and errors are the same everywhere."""

    @cache
    def document() -> Json:
        made = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        made.setdefault("components", {})["securitySchemes"] = _KEYS
        made["security"] = [{name: []} for name in _KEYS]
        for path in made["paths"].values():
            for operation in path.values():
                # FastAPI's own 422 is never sent: what does not fit is a 400 in our shape.
                operation["responses"].pop("422", None)
                operation["responses"]["default"] = _ERROR
        for unused in ("HTTPValidationError", "ValidationError"):
            made["components"].get("schemas", {}).pop(unused, None)
        return made

    return document
