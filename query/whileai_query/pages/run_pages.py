"""One run: the conversation, the waterfall beside it, scores, and the raw spans; followed while it is still going."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from whileai_query.answers import Json
from whileai_query.errors import Missing
from whileai_query.filters import Conditions
from whileai_query.made_from import sets_made_from
from whileai_query.pages.forms import OwnForm
from whileai_query.pages.people import SignedIn
from whileai_query.pages.render import fragment, render
from whileai_query.pages.steps import STEPS_SHOWN, text_at, turns_of
from whileai_query.pages.streams import stream
from whileai_query.pages.waterfall import waterfall
from whileai_query.run_view import run_view
from whileai_query.runs import select_runs
from whileai_query.services import Services, ServicesDep
from whileai_query.sessions import Person
from whileai_query.span_view import span_views
from whileai_query.trace_ids import find_trace, well_formed
from whileai_query.traces import Opened, open_runs

router = APIRouter()

_RUN = "/ui/traces/{trace_id}"
# What a run's row says of its being new: anything that moves one of these moves `version`.
_STANDING = "version, span_count, completed_at <= {now:UInt64}"


@dataclass(frozen=True, slots=True)
class _Shown:
    """A run that was opened, and how the API shows it."""

    opened: Opened
    view: dict[str, Any]


@router.get(_RUN)
def run(trace_id: str, request: Request, services: ServicesDep, person: SignedIn, steps: str = "") -> Response:
    """The page. Spans come by a request of their own, so that a large trace does not hold up the conversation."""
    shown = _open(services, person.account_id, trace_id)
    return render(
        request,
        "run.html",
        person,
        body=_body(services, shown, person, everything=steps == "all"),
        view=shown.view,
        running=shown.view["state"] == "running",
    )


@router.get(f"{_RUN}/body")
def body(trace_id: str, services: ServicesDep, person: SignedIn) -> Response:
    """The part of the page that changes while a run goes on."""
    shown = _open(services, person.account_id, trace_id)
    return HTMLResponse(_body(services, shown, person, everything=False))


@router.get(f"{_RUN}/waterfall")
def bars(trace_id: str, services: ServicesDep, person: SignedIn) -> Response:
    """Every span in short."""
    return Json(waterfall(list(_open(services, person.account_id, trace_id).opened.items.spans.values())))


@router.get(f"{_RUN}/spans/{{span_id}}")
def span(trace_id: str, span_id: str, services: ServicesDep, person: SignedIn) -> Response:
    """One span with everything that was sent of it."""
    items = _open(services, person.account_id, trace_id).opened.items
    found = items.spans.get(span_id.lower())
    if found is None:
        raise Missing(f"there is no span {span_id[:40]!r} in this run")
    (view,), _ = span_views([found], [log for log in items.logs.values() if log.span_id == found.span_id])
    return HTMLResponse(fragment("span.html", span=view))


@router.get(f"{_RUN}/text")
def text(trace_id: str, services: ServicesDep, person: SignedIn, at: str = "") -> Response:
    """A whole text of the run, as nothing but text."""
    found = text_at(_open(services, person.account_id, trace_id).view, at)
    if found is None:
        raise Missing(f"this run has no text at {at[:60]!r}")
    return PlainTextResponse(found.encode("utf-8", "replace"), media_type="text/plain; charset=utf-8")


@router.get(f"{_RUN}/stream")
async def follow(trace_id: str, request: Request, services: ServicesDep, person: SignedIn) -> Response:
    """Says that there is more to see; the page then asks for it."""

    def look() -> dict[str, Any]:
        services.settle()
        return _standing(services, person.account_id, trace_id)

    await run_in_threadpool(look)
    return stream(request, look)


@router.post(f"{_RUN}/delete")
async def delete(trace_id: str, services: ServicesDep, form: OwnForm) -> Response:
    """Remove the run, as `DELETE /traces/{id}` does."""
    found = well_formed(trace_id)
    if found is not None:
        await services.ingest.accept_deletion(form.person.account_id, [found])
    return RedirectResponse("/ui/traces", 303)


def _open(services: Services, account: str, trace_id: str) -> _Shown:
    services.settle()
    store = services.ingest.store
    found = find_trace(store, account, trace_id)
    opened = open_runs(store, account, [found]).get(found)
    if opened is None:
        raise Missing(f"There is no run {found}. It may have been deleted, or belong to another account.")
    completed_at = opened.items.completed_at(round(services.run_quiet_seconds * 1e9))
    return _Shown(opened, run_view(opened.run, completed_at, services.now()))


def _body(services: Services, shown: _Shown, person: Person, *, everything: bool) -> str:
    view = shown.view
    turns = turns_of(view)
    return fragment(
        "run_body.html",
        view=view,
        turns=turns if everything else turns[:STEPS_SHOWN],
        more=0 if everything else max(0, len(turns) - STEPS_SHOWN),
        text=f"/ui/traces/{quote(view['traceId'])}/text?at=",
        csrf=person.csrf,
        datasets=sets_made_from(services, person.account_id, view["traceId"]),
    )


def _standing(services: Services, account: str, trace_id: str) -> dict[str, Any]:
    only = Conditions(("trace_id = {trace_id:String}",), {"trace_id": trace_id.lower()})
    rows = select_runs(services.ingest.store, account, _STANDING, only, values={"now": services.now()})
    if not rows:
        raise Missing("This run was deleted.")
    version, spans, complete = rows[0]
    return {"version": str(version), "spans": spans, "complete": bool(complete)}
