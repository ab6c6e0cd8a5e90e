"""Routes of live traffic: once, and as a stream."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from whileai_query.answers import Json
from whileai_query.auth import Reader
from whileai_query.describing import takes
from whileai_query.parameters import checked_query
from whileai_query.services import ServicesDep
from whileai_query.traffic import PARAMETERS, traffic
from whileai_query.traffic_stream import events

router = APIRouter(tags=["traffic"])


@router.get("/traffic", openapi_extra=takes(PARAMETERS))
def once(request: Request, services: ServicesDep, caller: Reader) -> Response:
    """Runs, errors, tokens, cost and latency over a window."""
    query = checked_query(request.query_params.multi_items(), PARAMETERS)
    services.settle()
    return Json(traffic(services.ingest.store, caller.account_id, query, services.now()))


# Not in the document: what calls everything in it would wait here for ever.
@router.get("/traffic/stream", include_in_schema=False)
async def stream(request: Request, services: ServicesDep, caller: Reader) -> Response:
    """The same, again whenever it changes."""
    query = checked_query(request.query_params.multi_items(), PARAMETERS)

    def look() -> dict[str, Any]:
        services.settle()
        return traffic(services.ingest.store, caller.account_id, query, services.now())

    await run_in_threadpool(look)  # what is wrong with the request is said before the stream begins
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(events(look), headers=headers, media_type="text/event-stream")
