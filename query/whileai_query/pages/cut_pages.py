"""Making training data out of traces: what a cut would hold, task by task, and then the button that makes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from whileai.cut_words import format_cuts
from whileai_query.cut_maker import Asked, make_cut
from whileai_query.cut_report import Counted, report_of, warnings_of
from whileai_query.cut_sources import count_tasks
from whileai_query.cutting import (
    DEFAULT_HIGH,
    DEFAULT_HOLDOUT,
    DEFAULT_LOW,
    KINDS,
    Kind,
    Rules,
    chosen,
    task_view,
    why_nothing,
)
from whileai_query.errors import ApiError, BadRequest
from whileai_query.filters import FILTERS, read_filters
from whileai_query.pages.forms import OwnForm
from whileai_query.pages.people import SignedIn
from whileai_query.pages.render import render
from whileai_query.pages.trace_pages import LABELS
from whileai_query.parameters import checked_query, read_fraction
from whileai_query.services import Services, ServicesDep
from whileai_query.sessions import Person

router = APIRouter()

CUT = "/ui/cut"
TASKS_SHOWN = 200
LONGEST_NAME = 200
_RULES = ("lo", "hi", "holdout")
_TAKES = (*FILTERS, *_RULES, "kind", "name")
BUCKETS = {
    "in_band": "in the band",
    "solved": "above the band",
    "never": "below the band",
    "too_few": "too few graded runs",
    "ungraded": "not graded",
}


@router.get(CUT)
def look(request: Request, services: ServicesDep, person: SignedIn) -> Response:
    """What these rules would make of these runs. Nothing is made."""
    query = checked_query(request.query_params.multi_items(), _TAKES)
    return _page(request, services, person, {name: value for name, value in query.items() if value})


@router.post(CUT)
def make(request: Request, services: ServicesDep, form: OwnForm) -> Response:
    """Make both sets, and show the train set; what prevents it is said on the same page."""
    query = {name: form.text(name) for name in _TAKES if form.text(name)}
    account = form.person.account_id
    try:
        filters, rules, kind = _read(query)
        services.settle()
        now = services.now()
        asked = Asked(filters, read_filters(filters, now), kind, rules, query.get("name", "")[:LONGEST_NAME] or None)
        made = make_cut(services, account, asked, now)["made"]
    except ApiError as refused:
        return _page(request, services, form.person, query, str(refused), refused.status)
    return RedirectResponse(f"/ui/datasets/{made[0]['datasetId']}?made=1", 303)


def _page(
    request: Request,
    services: Services,
    person: Person,
    query: Mapping[str, str],
    problem: str = "",
    status: int = 200,
) -> Response:
    try:
        filters, rules, kind = _read(query)
        services.settle()
        now = services.now()
        counted = count_tasks(services.ingest.store, person.account_id, read_filters(filters, now), now)
    except BadRequest as wrong:
        filters, rules, kind, counted = {}, Rules(), KINDS[0], Counted(())
        problem, status = problem or str(wrong), 400
    return render(
        request,
        "cut.html",
        person,
        status=status,
        problem=problem,
        filters=filters,
        labels=LABELS,
        kind=kind,
        rules=rules,
        name=query.get("name", ""),
        back=urlencode(filters),
        **_preview(counted, rules, filters, kind),
    )


def _preview(counted: Counted, rules: Rules, filters: Mapping[str, str], kind: Kind) -> dict[str, Any]:
    """The numbers of `GET /traces/cuts` and the rows of `GET /traces/cuts/tasks`, those that the cut takes first."""
    report = report_of(counted, rules, filters)
    views = sorted((task_view(task, rules) for task in counted.tasks), key=lambda view: not view[kind]["included"])
    nothing = why_nothing(counted.tasks, kind, rules, runs=counted.runs, incomplete=counted.incomplete)
    buckets = Counter(view["bucket"] for view in views)
    return {
        "report": report,
        "warnings": warnings_of(counted, rules),
        "sentence": format_cuts(report, agent=filters.get("agent")),
        "tasks": views[:TASKS_SHOWN],
        "more": max(0, len(views) - TASKS_SHOWN),
        "buckets": [(words, buckets[bucket]) for bucket, words in BUCKETS.items() if buckets[bucket]],
        "nothing": "" if chosen(counted.tasks, kind, rules) else nothing,
    }


def _read(query: Mapping[str, str]) -> tuple[dict[str, str], Rules, Kind]:
    """Filter, rules and kind. Raises `BadRequest` naming what makes no sense."""
    given = query.get("kind") or KINDS[0]
    kind = next((kind for kind in KINDS if kind == given), None)
    if kind is None:
        raise BadRequest(f"kind={given[:40]!r} must be {' or '.join(KINDS)}")
    low, high, holdout = (read_fraction(query, name) for name in _RULES)
    rules = Rules(
        DEFAULT_LOW if low is None else low,
        DEFAULT_HIGH if high is None else high,
        DEFAULT_HOLDOUT if holdout is None else holdout,
    )
    return {name: query[name] for name in FILTERS if query.get(name)}, rules, kind
