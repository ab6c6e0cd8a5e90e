"""One run: the conversation, the waterfall beside it, scores, and the raw spans; followed while it is still going."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from whileai_ingest.items import TraceItems
from whileai_ingest.reading import read_traces
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
from whileai_query.traces import run_of

router = APIRouter()

_RUN = "/ui/traces/{trace_id}"
# What a run's row says of its being new: anything that moves one of these moves `version`.
_STANDING = "version, span_count, completed_at <= {now:UInt64}"


@router.get(_RUN)
def run(trace_id: str, request: Request, services: ServicesDep, person: SignedIn, steps: str = "") -> Response:
    """The page. Spans come by a request of their own, so that a large trace does not hold up the conversation."""
    view = _view(services, person.account_id, trace_id)
    return render(
        request,
        "run.html",
        person,
        body=_body(view, person, everything=steps == "all"),
        view=view,
    )


@router.get(f"{_RUN}/body")
def body(trace_id: str, services: ServicesDep, person: SignedIn) -> Response:
    """The part of the page that changes while a run goes on."""
    return HTMLResponse(_body(_view(services, person.account_id, trace_id), person, everything=False))


@router.get(f"{_RUN}/made-from")
def made_from(trace_id: str, services: ServicesDep, person: SignedIn) -> Response:
    """The dataset rows that were made of the run: by itself, because it reads a file of every set."""
    made = sets_made_from(services, person.account_id, trace_id.lower())
    return HTMLResponse(fragment("made_from.html", datasets=made))


@router.get(f"{_RUN}/waterfall")
def bars(trace_id: str, services: ServicesDep, person: SignedIn) -> Response:
    """Every span in short."""
    _, items = _items(services, person.account_id, trace_id)
    return Json(waterfall(list(items.spans.values())))


@router.get(f"{_RUN}/spans/{{span_id}}")
def span(trace_id: str, span_id: str, services: ServicesDep, person: SignedIn) -> Response:
    """One span with everything that was sent of it."""
    _, items = _items(services, person.account_id, trace_id)
    found = items.spans.get(span_id.lower())
    if found is None:
        raise Missing(f"there is no span {span_id[:40]!r} in this run")
    (view,), _ = span_views([found], [log for log in items.logs.values() if log.span_id == found.span_id])
    return HTMLResponse(fragment("span.html", span=view))


@router.get(f"{_RUN}/text")
def text(trace_id: str, services: ServicesDep, person: SignedIn, at: str = "") -> Response:
    """A whole text of the run, as nothing but text."""
    found = text_at(_view(services, person.account_id, trace_id), at)
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


def _items(services: Services, account: str, trace_id: str) -> tuple[str, TraceItems]:
    """The spans without the reading of them, which takes longer than all the rest in a large run."""
    services.settle()
    store = services.ingest.store
    found = find_trace(store, account, trace_id)
    items = read_traces(store, account, [found]).get(found)
    if items is None or not items.spans:
        raise Missing(f"There is no run {found}. It may have been deleted, or belong to another account.")
    return found, items


def _view(services: Services, account: str, trace_id: str) -> dict[str, Any]:
    """The run as `GET /traces/{id}` shows it, without its spans."""
    found, items = _items(services, account, trace_id)
    completed_at = items.completed_at(services.ingest.run_quiet_ns)
    return run_view(run_of(found, items), completed_at, services.now())


def _body(view: Mapping[str, Any], person: Person, *, everything: bool) -> str:
    turns = turns_of(view)
    return fragment(
        "run_body.html",
        view=view,
        turns=turns if everything else turns[:STEPS_SHOWN],
        more=0 if everything else max(0, len(turns) - STEPS_SHOWN),
        text=f"/ui/traces/{quote(view['traceId'])}/text?at=",
        csrf=person.csrf,
    )


def _standing(services: Services, account: str, trace_id: str) -> dict[str, Any]:
    only = Conditions(("trace_id = {trace_id:String}",), {"trace_id": trace_id.lower()})
    rows = select_runs(services.ingest.store, account, _STANDING, only, values={"now": services.now()})
    if not rows:
        raise Missing("This run was deleted.")
    version, spans, complete = rows[0]
    return {"version": str(version), "spans": spans, "complete": bool(complete)}
