"""Grading from a page: a pass or a fail with a note, through the same function as `POST /v1/scores`."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from whileai_query.answers import Json
from whileai_query.errors import BadRequest, Missing
from whileai_query.filters import Conditions
from whileai_query.pages.forms import Form, OwnForm
from whileai_query.pages.people import inside
from whileai_query.pages.render import fragment
from whileai_query.runs import select_runs
from whileai_query.score_items import read_items
from whileai_query.scores import record_scores
from whileai_query.services import Services, ServicesDep

router = APIRouter()

VALUES = {"pass": 1.0, "fail": 0.0}
LONGEST_NOTE = 2_000


@router.post("/ui/traces/{trace_id}/grade")
async def grade(trace_id: str, request: Request, services: ServicesDep, form: OwnForm) -> Response:
    """Record the verdict; to a script the run's new one, to a form the page it came from."""
    items = read_items(json.dumps(_measurement(trace_id, form)).encode())
    answer = await record_scores(services, form.person.account_id, items)
    if answer["rejected"]:
        raise BadRequest(answer["rejected"][0]["error"])
    if not answer["applied"]:
        raise Missing(f"there is no run {trace_id[:40]}; it may have been deleted")
    if "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(inside(form.text("then") or f"/ui/traces/{trace_id}"), 303)
    return Json(await run_in_threadpool(_standing, services, form.person.account_id, trace_id))


def _measurement(trace_id: str, form: Form) -> dict[str, Any]:
    said = form.text("verdict")
    if said not in VALUES:
        raise BadRequest(f"verdict={said[:20]!r} must be {' or '.join(VALUES)}")
    account = form.person.account
    note = form.text("note", LONGEST_NOTE)
    told = {"traceId": trace_id, "name": "score", "value": VALUES[said], "by": account.email or account.name}
    return {**told, "note": note} if note else told


def _standing(services: Services, account: str, trace_id: str) -> dict[str, Any]:
    services.settle()
    only = Conditions(("trace_id = {trace_id:String}",), {"trace_id": trace_id.lower()})
    rows = select_runs(services.ingest.store, account, "verdict, reward", only)
    verdict, reward = rows[0] if rows else ("", None)
    shown = {"verdict": verdict or None, "reward": reward}
    return {**shown, "html": fragment("verdict.html", **shown)}
