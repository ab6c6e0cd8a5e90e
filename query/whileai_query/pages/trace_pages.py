"""The list of runs: every filter of the API in the address, pages by cursor, the cut sentence, grading in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import Response

from whileai.cut_words import format_cuts
from whileai_query.answers import Json
from whileai_query.cut_report import report_of
from whileai_query.cut_sources import count_tasks
from whileai_query.cutting import Rules
from whileai_query.errors import BadRequest
from whileai_query.filters import FILTERS, Conditions, read_filters
from whileai_query.pages.people import SignedIn
from whileai_query.pages.render import render
from whileai_query.parameters import checked_query
from whileai_query.run_list import LIST_PARAMETERS, list_runs
from whileai_query.runs import select_runs
from whileai_query.services import Services, ServicesDep

router = APIRouter()

# What the form shows at once; the other filters unfold.
FIRST_FILTERS = ("q", "agent", "model", "scenario", "verdict", "from")
CHOICES = {
    "verdict": ("pass", "fail", "none"),
    "status": ("ok", "error"),
    "state": ("complete", "running"),
    "from": ("15m", "1h", "24h", "7d", "30d"),
}
LABELS = {
    "q": "Search",
    "agent": "Agent",
    "service": "Service",
    "from": "Since",
    "to": "Until",
    "model": "Model",
    "tool": "Tool called",
    "evalSet": "Eval set",
    "measure": "Measurement",
    "scenario": "Scenario",
    "verdict": "Verdict",
    "status": "Outcome",
    "state": "State",
}
# Filters whose values can be looked up, by the column they are in.
_COLUMNS = {
    "agent": "groupUniqArrayIf(200)(assumeNotNull(agent), agent IS NOT NULL)",
    "model": "groupUniqArrayIf(200)(assumeNotNull(model), model IS NOT NULL)",
    "scenario": "groupUniqArrayIf(200)(assumeNotNull(scenario_id), scenario_id IS NOT NULL)",
    "service": "groupUniqArrayIf(200)(assumeNotNull(service), service IS NOT NULL)",
    "evalSet": "groupUniqArrayIf(200)(assumeNotNull(eval_set), eval_set IS NOT NULL)",
    "tool": "groupUniqArrayArray(200)(tools)",
    "measure": "groupUniqArrayArray(200)(measures)",
}
_PAGE_ROWS = "50"


@router.get("/ui/traces")
def traces(request: Request, services: ServicesDep, person: SignedIn) -> Response:
    """One page of runs. A filter that makes no sense is said beside the form, which keeps what was typed."""
    given = {name: value for name, value in request.query_params.items() if value}
    problem, found, report = "", _NO_ROWS, None
    try:
        query = checked_query(request.query_params.multi_items(), LIST_PARAMETERS)
        found, report = _find(services, person.account_id, {name: value for name, value in query.items() if value})
    except BadRequest as wrong:
        problem = str(wrong)
    filters = {name: value for name, value in given.items() if name in FILTERS}
    onward = {name: value for name, value in given.items() if name not in ("cursor", "page")}
    return render(
        request,
        "traces.html",
        person,
        status=400 if problem else 200,
        problem=problem,
        filters=filters,
        first=FIRST_FILTERS,
        others=[name for name in FILTERS if name not in FIRST_FILTERS],
        labels=LABELS,
        choices=CHOICES,
        looked_up=tuple(_COLUMNS),
        without={name: urlencode({key: value for key, value in filters.items() if key != name}) for name in filters},
        runs=found["traces"],
        older=urlencode({**onward, "cursor": found["next"]}) if found["next"] else "",
        newest=urlencode(onward) if "cursor" in given else None,
        sentence=format_cuts(report, agent=filters.get("agent")) if report else "",
        report=report,
        cut_query=urlencode(filters),
        here=request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        origin=str(request.base_url).rstrip("/"),
    )


@router.get("/ui/choices")
def choices(services: ServicesDep, person: SignedIn) -> Response:
    """The values that the filters can take, for the form's suggestions; asked for when a person goes to a field."""
    columns = ", ".join(_COLUMNS.values())
    (row,) = select_runs(services.ingest.store, person.account_id, columns, Conditions())
    return Json({name: sorted(values) for name, values in zip(_COLUMNS, row, strict=True)})


_NO_ROWS: Mapping[str, Any] = {"traces": [], "next": None}


def _find(
    services: Services, account: str, query: Mapping[str, str]
) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    """The page of runs and the report of a cut of all that match; the report goes with the first page only."""
    services.settle()
    store, now = services.ingest.store, services.now()
    found = list_runs(store, account, {"limit": _PAGE_ROWS, **query}, now)
    if query.get("cursor") or query.get("page"):
        return found, None
    told = {name: value for name, value in query.items() if name in FILTERS}
    counted = count_tasks(store, account, read_filters(told, now), now)
    return found, report_of(counted, Rules(), told)
