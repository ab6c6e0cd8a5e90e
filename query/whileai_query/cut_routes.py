"""Routes of cuts: what a cut would hold, task by task, and making one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, StrictFloat, StrictInt, StrictStr
from starlette.responses import Response

from whileai_query.answers import Json
from whileai_query.auth import Reader, Writer
from whileai_query.bodies import read_body, read_model
from whileai_query.cursors import read_cursor, write_cursor
from whileai_query.cut_maker import Asked, make_cut
from whileai_query.cut_report import report_of, warnings_of
from whileai_query.cut_sources import count_tasks, page_of_tasks
from whileai_query.cutting import DEFAULT_HIGH, DEFAULT_HOLDOUT, DEFAULT_LOW, KINDS, Rules, task_view
from whileai_query.describing import takes
from whileai_query.errors import BadRequest
from whileai_query.filters import FILTERS, read_filters
from whileai_query.parameters import checked_query, read_fraction, read_limit
from whileai_query.services import ServicesDep

router = APIRouter(tags=["cuts"])

_RULES = ("lo", "hi", "holdout")
REPORT_PARAMETERS = (*FILTERS, *_RULES)
TASK_PARAMETERS = (*REPORT_PARAMETERS, "limit", "cursor")
LARGEST_REQUEST = 1 << 20
LONGEST_NAME = 200


class CutRequest(BaseModel):
    """The body of `POST /datasets/cut`."""

    model_config = ConfigDict(extra="forbid")

    filter: dict[str, StrictStr | StrictInt | StrictFloat | None] = {}
    kind: StrictStr = "rl"
    holdout: StrictFloat | StrictInt | None = None
    lo: StrictFloat | StrictInt | None = None
    hi: StrictFloat | StrictInt | None = None
    name: StrictStr | None = None


@router.get("/traces/cuts", openapi_extra=takes(REPORT_PARAMETERS))
def cuts(request: Request, services: ServicesDep, caller: Reader) -> Response:
    """What a cut of the runs that meet the filter would hold."""
    query = checked_query(request.query_params.multi_items(), REPORT_PARAMETERS)
    rules, asked = _rules(query), _filters(query)
    services.settle()
    now = services.now()
    counted = count_tasks(services.ingest.store, caller.account_id, read_filters(asked, now), now)
    return Json({**report_of(counted, rules, asked), "warnings": warnings_of(counted, rules)})


@router.get("/traces/cuts/tasks", openapi_extra=takes(TASK_PARAMETERS))
def tasks(request: Request, services: ServicesDep, caller: Reader) -> Response:
    """The tasks of these runs, in the order of their ids, each with why it is or is not in each cut."""
    query = checked_query(request.query_params.multi_items(), TASK_PARAMETERS)
    rules, limit = _rules(query), read_limit(query)
    after = str(read_cursor(query["cursor"], (str,))[0]) if query.get("cursor") else None
    services.settle()
    now = services.now()
    conditions = read_filters(_filters(query), now)
    found = page_of_tasks(services.ingest.store, caller.account_id, conditions, now, after, limit + 1)
    page = found[:limit]
    return Json(
        {
            "tasks": [task_view(task, rules) for task in page],
            "next": write_cursor([page[-1].scenario_id]) if len(found) > limit else None,
        }
    )


@router.post("/datasets/cut", openapi_extra=takes(body=CutRequest))
async def cut(request: Request, services: ServicesDep, caller: Writer) -> Response:
    """Make the train and the holdout set."""
    body = read_model(CutRequest, await read_body(request, LARGEST_REQUEST))
    now = services.now()
    asked = _asked(body, now)
    return Json(await run_in_threadpool(_make, services, caller.account_id, asked, now))


def _make(services: ServicesDep, account: str, asked: Asked, now: int) -> dict[str, Any]:
    services.settle()
    return make_cut(services, account, asked, max(now, services.now()))


def _asked(body: CutRequest, now: int) -> Asked:
    kind = next((kind for kind in KINDS if kind == body.kind.lower()), None)
    if kind is None:
        raise BadRequest(f"kind={body.kind[:40]!r} must be {' or '.join(KINDS)}")
    if body.name is not None and not 0 < len(body.name.strip()) <= LONGEST_NAME:
        raise BadRequest(f"name must have 1 to {LONGEST_NAME} characters")
    told = {name: str(value) for name, value in body.filter.items() if value is not None and value != ""}
    rules = Rules(
        DEFAULT_LOW if body.lo is None else _share(body.lo),
        DEFAULT_HIGH if body.hi is None else _share(body.hi),
        DEFAULT_HOLDOUT if body.holdout is None else _share(body.holdout),
    )
    return Asked(told, read_filters(told, now), kind, rules, body.name)


def _share(given: float) -> float:
    try:
        return float(given)
    except OverflowError:  # JSON's integers have no end
        return math.inf


def _filters(query: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if name in FILTERS and value}


def _rules(query: Mapping[str, str]) -> Rules:
    low, high, holdout = (read_fraction(query, name) for name in _RULES)
    return Rules(
        DEFAULT_LOW if low is None else low,
        DEFAULT_HIGH if high is None else high,
        DEFAULT_HOLDOUT if holdout is None else holdout,
    )
