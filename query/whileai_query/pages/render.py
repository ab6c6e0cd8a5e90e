"""One page: its template with what every page needs — the person, the navigation, where the static files are."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from whileai_query.pages.assets import static_base
from whileai_query.pages.plotly_bundle import plotly_style_ids
from whileai_query.pages.templating import templates
from whileai_query.sessions import Person

# (address, name, icon); a blank name makes a gap.
NAVIGATION = (
    ("/", "Live traffic", "pulse"),
    ("/ui/traces", "Traces", "list"),
    ("/ui/agents", "Agents", "agent"),
    ("/ui/datasets", "Datasets", "stack"),
    ("/ui/runs", "Training runs", "curve"),
    ("", "", ""),
    ("/ui/rejections", "Rejections", "stop"),
    ("/ui/keys", "Keys", "key"),
    ("/ui/account", "Account", "person"),
)


def render(
    request: Request, template: str, person: Person | None, *, status: int = 200, charts: bool = False, **shown: Any
) -> Response:
    """The whole page. `charts` loads what drawing needs."""
    html = templates.get_template(template).render(
        person=person,
        csrf=person.csrf if person else "",
        navigation=NAVIGATION if person else (),
        path=request.url.path,
        static=static_base(),
        chart_styles=plotly_style_ids() if charts else (),
        **shown,
    )
    return HTMLResponse(html, status)


def fragment(template: str, **shown: Any) -> str:
    """A part of a page, for a script that puts it into place."""
    return templates.get_template(template).render(**shown)
