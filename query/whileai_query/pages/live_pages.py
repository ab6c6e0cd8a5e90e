"""Live traffic: what served models are doing, over a window, streaming in while the page stands open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from whileai_query.changes import newest_change
from whileai_query.filters import FILTERS, read_filters
from whileai_query.pages.people import SignedIn
from whileai_query.pages.render import fragment, render
from whileai_query.pages.streams import stream
from whileai_query.parameters import checked_query
from whileai_query.run_list import list_runs
from whileai_query.services import Services, ServicesDep
from whileai_query.traffic import traffic
from whileai_query.version_marks import version_marks
from whileai_query.windows import read_span

router = APIRouter()

# window -> step: enough steps to see a shape, few enough to see each.
WINDOWS = {"15m": "15s", "1h": "1m", "6h": "5m", "24h": "20m", "7d": "2h"}
DEFAULT_WINDOW = "1h"
NEWEST_RUNS = 12
_LOOK_ANYWAY_NS = 15_000_000_000
_CHOICES = ("agent", "model", "version", "window")


@router.get("/")
def live(request: Request, services: ServicesDep, person: SignedIn) -> Response:
    """The page, filled already; the stream only brings what is new."""
    asked = _asked(request)
    shown = _look(services, person.account_id, asked)
    return render(
        request,
        "live.html",
        person,
        charts=True,
        asked=asked,
        windows=WINDOWS,
        shown=shown,
        query=urlencode({name: value for name, value in asked.items() if value}),
        origin=str(request.base_url).rstrip("/"),
    )


@router.get("/ui/live/stream")
async def live_stream(request: Request, services: ServicesDep, person: SignedIn) -> Response:
    """The parts of the page again, whenever they changed."""
    asked = _asked(request)

    look = _Watch(services, person.account_id, asked)
    await run_in_threadpool(look)  # what is wrong with the request is said before the stream begins
    return stream(request, look)


class _Watch:
    """Looks again when a run changed or the clock went on by a step; a page that stands open costs little else."""

    def __init__(self, services: Services, account: str, asked: Mapping[str, str]) -> None:
        self._services, self._account, self._asked = services, account, asked
        self._step = read_span("step", WINDOWS[asked["window"]])
        self._seen: tuple[int, int] | None = None
        self._found: dict[str, Any] = {}

    def __call__(self) -> dict[str, Any]:
        self._services.settle()
        changed = newest_change(self._services.ingest.store, self._account)
        # A run without a root becomes complete by the clock alone, so the newest runs are looked at now and then.
        seen = (changed, self._services.now() // min(self._step, _LOOK_ANYWAY_NS))
        if seen != self._seen:
            self._found = _look(self._services, self._account, self._asked)
            self._seen = seen
        return self._found


def _asked(request: Request) -> dict[str, str]:
    query = checked_query(request.query_params.multi_items(), _CHOICES)
    window = query.get("window") or DEFAULT_WINDOW
    told = {name: query.get(name, "") for name in _CHOICES}
    return {**told, "window": window if window in WINDOWS else DEFAULT_WINDOW}


def _look(services: Services, account: str, asked: Mapping[str, str]) -> dict[str, Any]:
    """The numbers of `GET /traffic`, the newest of `GET /traces`, and the parts of the page made of them."""
    services.settle()
    store, now = services.ingest.store, services.now()
    told = {name: value for name, value in asked.items() if value}
    found = traffic(store, account, {**told, "step": WINDOWS[asked["window"]]}, now)
    narrowed = {name: value for name, value in told.items() if name in FILTERS}
    runs = list_runs(store, account, {**narrowed, "limit": str(NEWEST_RUNS)}, now)["traces"]
    since = now - read_span("window", asked["window"])
    marks = version_marks(store, account, read_filters(narrowed, now), since)
    return {
        "series": found["series"],
        "marks": marks,
        "parts": {
            "tiles": fragment("live_tiles.html", totals=found["totals"]),
            "tables": fragment("live_tables.html", found=found, asked=asked),
            "newest": fragment("live_newest.html", runs=runs, traffic=found["totals"]["runs"]),
        },
    }
