"""Signing in and out: a key of the account, or an address and a one-time code."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from whileai_query.login_routes import client_of, knock
from whileai_query.pages.forms import OpenForm, OwnForm
from whileai_query.pages.mail import send_mail
from whileai_query.pages.people import SIGN_IN, SignedIn, inside
from whileai_query.pages.render import render
from whileai_query.services import Services, ServicesDep
from whileai_query.sessions import COOKIE, person_of
from whileai_registry import SCOPES, CodeRefused, InvalidInput

router = APIRouter()

CHALLENGE = "whileai_challenge"
CHALLENGE_SECONDS = 900
_SESSION_SECONDS = 14 * 86_400


@router.get(SIGN_IN)
def sign_in(request: Request, services: ServicesDep, then: str = "/") -> Response:
    """Ask for a key or an address; a person who is signed in goes on at once."""
    if person_of(services, request.cookies) is not None:
        return RedirectResponse(inside(then), 303)
    return _ask(request, then)


@router.post(SIGN_IN)
def by_key(request: Request, services: ServicesDep, form: OpenForm) -> Response:
    """A key opens a session when it may do everything: a session may, and no key must grow by signing in."""
    then = inside(form.text("then"))
    caller = services.registry.authenticate(form.text("key", 300))
    if caller is None:
        return _ask(request, then, key_problem="This key is not known here, was revoked, or has expired.", status=401)
    if not caller.scopes >= set(SCOPES):
        told = f"This key may only {' and '.join(sorted(caller.scopes))}; sign in with one that may do everything."
        return _ask(request, then, key_problem=told, status=403)
    return open_session(services, request, caller.account_id, then)


@router.post(f"{SIGN_IN}/code")
async def send_code(request: Request, services: ServicesDep, form: OpenForm) -> Response:
    """Mail a one-time code; the browser keeps the other half."""
    then, address = inside(form.text("then")), form.text("email", 400)
    await run_in_threadpool(knock, services, "email_code_client", client_of(request))
    await run_in_threadpool(knock, services, "email_code", address.lower())
    try:
        sent = await run_in_threadpool(services.registry.email_codes.request, address)
    except InvalidInput as problem:
        return _ask(request, then, email_problem=_sentence(problem), email=address, status=400)
    words = f"Your code is {sent.code}. It is good for ten minutes. If you did not ask for it, do nothing."
    await run_in_threadpool(send_mail, services.smtp_url, sent.email, "Your sign-in code", words)
    answer = _ask_code(services, request, then, sent.email)
    keep_cookie(services, request, answer, CHALLENGE, sent.challenge, CHALLENGE_SECONDS)
    return answer


@router.post(f"{SIGN_IN}/redeem")
def redeem(request: Request, services: ServicesDep, form: OpenForm) -> Response:
    """The code came back: open a session."""
    then = inside(form.text("then"))
    try:
        address = services.registry.email_codes.redeem(request.cookies.get(CHALLENGE, ""), form.text("code", 40))
    except CodeRefused as refused:
        return _ask_code(services, request, then, form.text("email", 400), _sentence(refused), status=401)
    answer = open_session(services, request, services.registry.accounts.sign_in(address).id, then)
    answer.delete_cookie(CHALLENGE)
    return answer


@router.get("/ui/session")
def session(_person: SignedIn) -> Response:
    """Whether the session still lasts, for a script whose stream broke off."""
    return Response(status_code=204)


@router.post("/sign-out")
def sign_out(services: ServicesDep, form: OwnForm) -> Response:
    """End this session, or every session of the account."""
    if form.text("everywhere"):
        services.registry.sessions.end_all(form.person.account_id)
    services.registry.sessions.end(form.person.token)
    answer = RedirectResponse(SIGN_IN, 303)
    answer.delete_cookie(COOKIE)
    return answer


def open_session(services: Services, request: Request, account: str, then: str) -> Response:
    """A new session, and on to where the person wanted to go."""
    made = services.registry.sessions.open(account)
    answer = RedirectResponse(then, 303)
    keep_cookie(services, request, answer, COOKIE, made.token, _SESSION_SECONDS)
    return answer


def keep_cookie(services: Services, request: Request, answer: Response, name: str, value: str, seconds: int) -> None:
    """Out of reach of scripts and of other sites' forms; over TLS only where there is TLS."""
    secure = request.url.scheme == "https" or (services.public_url or "").startswith("https://")
    answer.set_cookie(name, value, max_age=seconds, httponly=True, secure=secure, samesite="lax")


def _ask(
    request: Request, then: str, *, key_problem: str = "", email_problem: str = "", email: str = "", status: int = 200
) -> Response:
    return render(
        request,
        "sign_in.html",
        None,
        status=status,
        then=inside(then),
        key_problem=key_problem,
        email_problem=email_problem,
        email=email,
    )


def _ask_code(
    services: Services, request: Request, then: str, email: str, problem: str = "", status: int = 200
) -> Response:
    return render(
        request,
        "sign_in_code.html",
        None,
        status=status,
        then=then,
        email=email,
        problem=problem,
        to_log=services.smtp_url is None,
    )


def _sentence(error: Exception) -> str:
    told = str(error)
    return f"{told[:1].upper()}{told[1:]}."
