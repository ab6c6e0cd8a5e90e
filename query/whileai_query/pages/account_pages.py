"""The account: what it may use and uses, its address, its keys, and what was refused at the door."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from whileai_query.login_routes import client_of, knock
from whileai_query.pages.forms import OwnForm
from whileai_query.pages.mail import send_mail
from whileai_query.pages.people import SignedIn
from whileai_query.pages.render import render
from whileai_query.pages.sign_in_pages import CHALLENGE, CHALLENGE_SECONDS, keep_cookie, open_session
from whileai_query.parameters import checked_query
from whileai_query.rejections import LIST_PARAMETERS, list_rejections
from whileai_query.services import Services, ServicesDep
from whileai_query.sessions import Person
from whileai_registry import SCOPES, CodeRefused, RegistryError

router = APIRouter()


@router.get("/ui/account")
def account(request: Request, services: ServicesDep, person: SignedIn) -> Response:
    """Tier, limits, usage, and how to sign in."""
    return _account(request, services, person)


@router.post("/ui/account/email")
def ask_for_address(request: Request, services: ServicesDep, form: OwnForm) -> Response:
    """Send a code to the new address: only who reads it may sign in with it."""
    address = form.text("email", 400)
    knock(services, "email_code_client", client_of(request))
    knock(services, "email_code", address.lower())
    try:
        sent = services.registry.email_codes.request(address)
    except RegistryError as problem:
        return _account(request, services, form.person, problem=str(problem), status=400)
    words = f"Your code is {sent.code}. It makes this address the way to sign in to your account."
    send_mail(services.smtp_url, sent.email, "Confirm your address", words)
    answer = _account(request, services, form.person, waiting=sent.email)
    keep_cookie(services, request, answer, CHALLENGE, sent.challenge, CHALLENGE_SECONDS)
    return answer


@router.post("/ui/account/confirm")
def confirm_address(request: Request, services: ServicesDep, form: OwnForm) -> Response:
    """The code came back: the address is the account's."""
    try:
        proven = services.registry.email_codes.redeem(request.cookies.get(CHALLENGE, ""), form.text("code", 40))
        services.registry.accounts.set_email(form.person.account_id, proven)
    except CodeRefused as refused:
        waiting = form.text("email", 400)
        return _account(request, services, form.person, problem=str(refused), waiting=waiting, status=401)
    except RegistryError as refused:
        return _account(request, services, form.person, problem=str(refused), status=409)
    answer = RedirectResponse("/ui/account", 303)
    answer.delete_cookie(CHALLENGE)
    return answer


@router.post("/ui/account/session-token")
def session_token(request: Request, services: ServicesDep, form: OwnForm) -> Response:
    """A session for a program that issues delegated credentials; shown this once."""
    made = services.registry.sessions.open(form.person.account_id)
    return _account(request, services, form.person, token=made.token)


@router.get("/ui/keys")
def keys(request: Request, services: ServicesDep, person: SignedIn) -> Response:
    """The working keys, masked."""
    return _keys(request, services, person)


@router.post("/ui/keys")
def make_key(request: Request, services: ServicesDep, form: OwnForm) -> Response:
    """A new key, shown this once."""
    scopes = [scope for scope in SCOPES if form.text(f"scope-{scope}")]
    try:
        made = services.registry.keys.create(form.person.account_id, form.text("name", 100) or "unnamed", scopes)
    except RegistryError as refused:
        return _keys(request, services, form.person, problem=str(refused), status=400)
    return _keys(request, services, form.person, secret=made.secret)


@router.post("/ui/keys/{key_id}/revoke")
def revoke_key(key_id: str, request: Request, services: ServicesDep, form: OwnForm) -> Response:
    """Revoke a key. Whoever holds it may have signed in with it, so every other session ends, too."""
    services.registry.keys.revoke(form.person.account_id, key_id)
    services.registry.sessions.end_all(form.person.account_id)
    return open_session(services, request, form.person.account_id, "/ui/keys")


@router.get("/ui/rejections")
def rejections(request: Request, services: ServicesDep, person: SignedIn) -> Response:
    """What was refused, and why."""
    query = checked_query(request.query_params.multi_items(), LIST_PARAMETERS)
    services.settle()
    found = list_rejections(services.ingest.store, person.account_id, query)
    return render(request, "rejections.html", person, found=found, later="cursor" in query)


def _keys(
    request: Request, services: Services, person: Person, *, secret: str = "", problem: str = "", status: int = 200
) -> Response:
    return render(
        request,
        "keys.html",
        person,
        status=status,
        keys=services.registry.keys.list_all(person.account_id),
        limit=person.account.limits.keys,
        scopes=SCOPES,
        secret=secret,
        problem=problem,
    )


def _account(
    request: Request,
    services: Services,
    person: Person,
    *,
    problem: str = "",
    waiting: str = "",
    token: str = "",
    status: int = 200,
) -> Response:
    return render(
        request,
        "account.html",
        person,
        status=status,
        used=services.registry.usage.overview(person.account_id),
        to_log=services.smtp_url is None,
        problem=problem,
        waiting=waiting,
        token=token,
    )
