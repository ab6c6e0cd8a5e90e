"""Routes of runs: the list, one run, its spans as OTLP, its deletion, and grading."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from whileai_query.answers import Json
from whileai_query.auth import Grader, Reader, Writer
from whileai_query.bodies import read_body
from whileai_query.describing import takes
from whileai_query.errors import BadRequest, Missing
from whileai_query.ingested import traces_by_dataset
from whileai_query.otlp_export import otlp_json, otlp_protobuf
from whileai_query.parameters import checked_query
from whileai_query.run_list import LIST_PARAMETERS, list_runs
from whileai_query.run_view import run_view
from whileai_query.score_items import SCORES_SCHEMA, read_items
from whileai_query.scores import record_scores
from whileai_query.services import ServicesDep
from whileai_query.span_view import span_views
from whileai_query.trace_ids import PREFIX_DIGITS, find_trace, well_formed
from whileai_query.traces import open_runs, trainer_row

router = APIRouter(tags=["traces"])

RUN_PARAMETERS = ("spans", "format")
_PROTOBUF = "application/x-protobuf"


@router.get("/traces", openapi_extra=takes(LIST_PARAMETERS))
def traces(request: Request, services: ServicesDep, caller: Reader) -> Response:
    """Runs, newest first, when any filter is given; else the ingested datasets by name and day."""
    query = checked_query(request.query_params.multi_items(), LIST_PARAMETERS)
    services.settle()
    store = services.ingest.store
    if not query:
        return Json(traces_by_dataset(store, caller.account_id))
    return Json(list_runs(store, caller.account_id, query, services.now()))


@router.get("/traces/rows", openapi_extra=takes(LIST_PARAMETERS))
def trace_rows(request: Request, services: ServicesDep, caller: Reader) -> Response:
    """A page of the same list as rows that a trainer loads: the whole conversation, tools, reward, tokens."""
    query = checked_query(request.query_params.multi_items(), LIST_PARAMETERS)
    services.settle()
    store, account = services.ingest.store, caller.account_id
    listed = list_runs(store, account, query, services.now())
    opened = open_runs(store, account, [run["traceId"] for run in listed["traces"]])
    rows = [trainer_row(opened[run["traceId"]].run) for run in listed["traces"] if run["traceId"] in opened]
    return Json({"rows": rows, "next": listed["next"], "pages": listed["pages"]})


@router.get("/traces/{trace_id}", openapi_extra=takes(RUN_PARAMETERS))
def trace(trace_id: str, request: Request, services: ServicesDep, caller: Reader) -> Response:
    """One run as the platform understood it, or (`format=otlp`) its spans as they came."""
    query = checked_query(request.query_params.multi_items(), RUN_PARAMETERS)
    if query.get("format", "") not in ("", "json", "otlp"):
        raise BadRequest(f"format={query['format'][:40]!r} must be json or otlp")
    if query.get("spans", "") not in ("", "0", "1"):
        raise BadRequest(f"spans={query['spans'][:40]!r} must be 0 or 1")
    services.settle()
    store, account = services.ingest.store, caller.account_id
    found = find_trace(store, account, trace_id)
    if query.get("format") == "otlp":
        return _otlp(otlp_protobuf(store, account, found), found, request.headers.get("accept", ""))
    opened = open_runs(store, account, [found]).get(found)
    if opened is None:
        raise _no_trace(found)
    completed_at = opened.items.completed_at(services.ingest.run_quiet_ns)
    view = run_view(opened.run, completed_at, services.now())
    if query.get("spans") != "0":
        view["spans"], view["logs"] = span_views(opened.items.spans.values(), opened.items.logs.values())
    return Json(view)


@router.delete("/traces/{trace_id}", status_code=204)
async def delete_trace(trace_id: str, services: ServicesDep, caller: Writer) -> Response:
    """Remove a run; one that is not there is removed already."""
    found = well_formed(trace_id)
    if found is not None and len(found) > PREFIX_DIGITS:
        await services.ingest.accept_deletion(caller.account_id, [found])
    return Response(status_code=204)


@router.post("/v1/scores", openapi_extra=takes(body=SCORES_SCHEMA))
async def scores(request: Request, services: ServicesDep, caller: Grader) -> Response:
    """Grade runs: one measurement, or many in `scores`."""
    items = read_items(await read_body(request))
    return Json(await record_scores(services, caller.account_id, items))


def _otlp(protobuf: bytes | None, trace_id: str, accept: str) -> Response:
    if protobuf is None:
        raise _no_trace(trace_id)
    if "json" in accept.lower() and "protobuf" not in accept.lower():
        return Json(otlp_json(protobuf))
    return Response(protobuf, media_type=_PROTOBUF)


def _no_trace(trace_id: str) -> Missing:
    return Missing(f"there is no trace {trace_id}")
