"""Training runs: laid out for what comes, and honest that nothing is there yet."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from whileai_query.pages.people import SignedIn
from whileai_query.pages.render import render

router = APIRouter()


@router.get("/ui/runs")
def runs(request: Request, person: SignedIn) -> Response:
    """The empty list, with what will stand in it."""
    return render(request, "training_runs.html", person)
