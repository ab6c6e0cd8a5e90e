"""Who looks at a page: the person of the session cookie, or the way to the sign-in page."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, urlsplit

from fastapi import Depends, Request

from whileai_query.services import services_of
from whileai_query.sessions import Person, person_of

SIGN_IN = "/sign-in"


class SignInNeeded(Exception):
    """Nobody is signed in, or no longer."""


def signed_in(request: Request) -> Person:
    """Raises `SignInNeeded`."""
    person = person_of(services_of(request), request.cookies)
    if person is None:
        raise SignInNeeded
    return person


def way_to_sign_in(request: Request) -> str:
    """The sign-in page that leads back to where a person was; a change is not repeated."""
    if request.method != "GET" or request.url.path == "/":
        return SIGN_IN
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return f"{SIGN_IN}?then={quote(here, safe='')}"


def inside(then: str) -> str:
    """A path of this service; anything else, which could lead a person away, is the first page."""
    parts = urlsplit(then)
    fine = then.startswith("/") and not then.startswith(("//", "/\\")) and not parts.scheme and not parts.netloc
    return then if fine and "\\" not in then and then.isprintable() else "/"


SignedIn = Annotated[Person, Depends(signed_in)]
