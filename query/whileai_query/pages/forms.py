"""Forms: read within a bound, and taken only from our own pages with the session's CSRF token."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool

from whileai_query.bodies import read_body
from whileai_query.errors import Forbidden
from whileai_query.pages.people import signed_in
from whileai_query.sessions import CSRF_HEADER, Person, csrf_matches

LARGEST_FORM = 64 << 10
CSRF_FIELD = "csrf"
# Browsers say where a request comes from; those that do not are held back by SameSite.
_OURS = ("same-origin", "none", "")


class Form(dict[str, str]):
    """The fields of a form, and the person who sent it."""

    person: Person

    def text(self, name: str, most: int = 4_000) -> str:
        """A field without blanks around it; '' when it is not there."""
        return self.get(name, "").strip()[:most]


async def open_form(request: Request) -> Form:
    """A form of somebody who is not signed in. Raises `Forbidden` when another site sent it."""
    if request.headers.get("sec-fetch-site", "") not in _OURS:
        raise Forbidden("this form was sent from another site")
    body = await read_body(request, LARGEST_FORM)
    return Form(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


async def own_form(request: Request) -> Form:
    """A form of the person who is signed in. Raises `Forbidden` without the session's token."""
    person = await run_in_threadpool(signed_in, request)
    form = await open_form(request)
    if not csrf_matches(person.token, request.headers.get(CSRF_HEADER) or form.get(CSRF_FIELD, "")):
        raise Forbidden("this form belongs to a session that has ended; go back, reload the page and try again")
    form.person = person
    return form


OpenForm = Annotated[Form, Depends(open_form)]
OwnForm = Annotated[Form, Depends(own_form)]
