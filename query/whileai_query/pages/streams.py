"""Server-sent events of pages: what a look says when it is new, until the session, the thing or the reader is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import Request
from starlette.responses import StreamingResponse

from whileai_query.answers import encode_json
from whileai_query.errors import ApiError
from whileai_query.pages.people import SignInNeeded, signed_in
from whileai_query.traffic_stream import events

# Short enough that a run is on the page within two seconds of its acknowledgement.
LOOK_SECONDS = 0.7


def stream(request: Request, look: Callable[[], Any]) -> StreamingResponse:
    """The answer of a stream. Each look asks for the session again: one that has ended ends its streams."""

    def look_again() -> Any:
        signed_in(request)
        return look()

    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_until_the_end(look_again), headers=headers, media_type="text/event-stream")


async def _until_the_end(look: Callable[[], Any]) -> AsyncIterator[bytes]:
    try:
        async for event in events(look, LOOK_SECONDS):
            yield event
    except SignInNeeded:
        yield b"event: signed-out\ndata: {}\n\n"
    except ApiError as error:
        yield b"event: ended\ndata: " + encode_json({"status": error.status, "error": str(error)}) + b"\n\n"
