"""Static files: small, in memory, under an address that carries their digest, so that a browser keeps them for ever."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.responses import Response

from whileai_query.errors import Missing
from whileai_query.pages.plotly_bundle import plotly_script

router = APIRouter()

_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_FOR_EVER = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
_PLOTLY = "plotly.min.js"


@dataclass(frozen=True, slots=True)
class Asset:
    """One file, and the same compressed."""

    media_type: str
    plain: bytes
    gzipped: bytes


@cache
def static_base() -> str:
    """`/static/<digest of all files>`; modules import each other relatively below it."""
    digest = hashlib.sha256()
    for name, data in sorted(_own_files().items()):
        digest.update(name.encode() + b"\0" + data)
    digest.update(str(len(plotly_script())).encode())
    return f"/static/{digest.hexdigest()[:12]}"


@router.get("/static/{digest}/{name}")
def static(digest: str, name: str, request: Request) -> Response:  # noqa: ARG001 - an old page gets the new file
    """One file."""
    found = _asset(name)
    if found is None:
        raise Missing(f"there is no file {name[:60]!r}")
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.gzipped, 200, {**_FOR_EVER, "content-encoding": "gzip"}, found.media_type)
    return Response(found.plain, 200, _FOR_EVER, found.media_type)


@router.get("/favicon.ico")
def mark() -> Response:
    """For a browser that shows something other than our pages, such as a text."""
    return Response(_own_files()["mark.svg"], 200, {"cache-control": "public, max-age=86400"}, _TYPES["svg"])


@cache
def _own_files() -> dict[str, bytes]:
    folder = files("whileai_query.pages") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in _TYPES}


@lru_cache(maxsize=64)
def _asset(name: str) -> Asset | None:
    data = plotly_script() if name == _PLOTLY else _own_files().get(name)
    if data is None:
        return None
    return Asset(_TYPES[name.rpartition(".")[2]], data, gzip.compress(data, 6))
