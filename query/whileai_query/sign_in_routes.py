"""Pages of signing in: an address and a one-time code, or a key; and approving a device that asks for a key.

A session lives in a cookie that no script can read. Every form that changes something carries a token bound to the
session, so that another site cannot press the button.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from whileai_query import pages
from whileai_query.bodies import read_body
from whileai_query.errors import Forbidden
from whileai_query.login_routes import client_of, knock
from whileai_query.services import Services, ServicesDep
from whileai_registry import CapabilityRefused, CodeRefused, InvalidInput, NotAllowed, NotFound, Session

router = APIRouter(include_in_schema=False)

HOME = "/signin"
SESSION = "while_session"
CHALLENGE = "while_challenge"
LARGEST_FORM = 16 << 10
_FORM_LIFETIME = timedelta(hours=2)


@router.get("/signin")
def sign_in(request: Request, services: ServicesDep, then: str = HOME) -> Response:
    """Ask for an address or a key; or say who is signed in."""
    session = _session(services, request)
    if session is None:
        return _ask(then)
    account = services.registry.accounts.get(session.account_id)
    token = pages.hidden("token", _token(services, session))
    return pages.page(
        "Signed in",
        pages.text(f"You are signed in to the account {account.name}."),
        pages.form("/signin/token", "Show a session token for a program", token),
        pages.form("/signout", "Sign out", token),
    )


@router.post("/signin/token")
async def session_token(request: Request, services: ServicesDep) -> Response:
    """A session for a program that issues delegated credentials; shown this once."""
    said = await _form(request)
    session = await run_in_threadpool(_session, services, request)
    if session is None:
        return _ask(HOME)
    _check(services, session, said)
    made = await run_in_threadpool(services.registry.sessions.open, session.account_id)
    return pages.page("A session token", pages.text("Shown this once:"), pages.code(made.token))


@router.post("/signin")
async def send_code(request: Request, services: ServicesDep) -> Response:
    """Mail a one-time code; the browser keeps the other half."""
    said = await _form(request)
    then = _inside(said.get("then", ""))
    if said.get("key"):
        return await run_in_threadpool(_by_key, services, said["key"], then)
    address = said.get("email", "")
    await run_in_threadpool(knock, services, "email_code_client", client_of(request))
    await run_in_threadpool(knock, services, "email_code", address.strip().lower())
    try:
        sent = await run_in_threadpool(services.registry.email_codes.request, address)
    except InvalidInput as problem:
        return _ask(then, str(problem))
    words = f"Your code is {sent.code}. It is good for ten minutes. If you did not ask for it, do nothing."
    await run_in_threadpool(services.send_mail, sent.email, "Your sign-in code", words)
    answer = _ask_code(then)
    _keep(services, answer, CHALLENGE, sent.challenge, 900)
    return answer


@router.post("/signin/code")
async def redeem(request: Request, services: ServicesDep) -> Response:
    """The code came back: open a session."""
    said = await _form(request)
    then = _inside(said.get("then", ""))
    challenge = request.cookies.get(CHALLENGE, "")
    try:
        address = await run_in_threadpool(services.registry.email_codes.redeem, challenge, said.get("code", ""))
    except CodeRefused as refused:
        return _ask_code(then, str(refused))
    account = await run_in_threadpool(services.registry.accounts.sign_in, address)
    return await run_in_threadpool(_open, services, account.id, then)


@router.post("/signout")
async def sign_out(request: Request, services: ServicesDep) -> Response:
    """End the session."""
    said = await _form(request)
    session = await run_in_threadpool(_session, services, request)
    if session is not None:
        _check(services, session, said)
        await run_in_threadpool(services.registry.sessions.end, request.cookies[SESSION])
    answer = RedirectResponse("/signin", 303)
    answer.delete_cookie(SESSION)
    return answer


@router.get("/device")
def device(request: Request, services: ServicesDep, code: str = "") -> Response:
    """Show a device that asks for a key, to a person who is signed in."""
    session = _session(services, request)
    if session is None:
        return _ask(f"/device?code={quote(code)}")
    if not code:
        return pages.page("Sign a device in", pages.text("Type the code that the device shows."), _code_form())
    found = services.registry.devices.find(code)
    if found is None or found.state != "pending":
        knock(services, "device_code_guess", session.account_id)
        told = "No login is waiting under this code. Start it again on the device."
        return pages.page("Sign a device in", pages.problem(told), _code_form(), status=404)
    fields = (pages.hidden("code", found.user_code), pages.hidden("token", _token(services, session)))
    return pages.page(
        "Approve this device?",
        pages.text(f"{found.name} asks for a key to this account. Approve only if you see this code on your device:"),
        pages.code(found.user_code),
        pages.form("/device/approve", "Approve", *fields),
        pages.form("/device/deny", "Deny", *fields),
    )


@router.post("/device/{decision}")
async def decide(decision: str, request: Request, services: ServicesDep) -> Response:
    """Approve or deny."""
    said = await _form(request)
    session = await run_in_threadpool(_session, services, request)
    if session is None:
        return _ask(f"/device?code={quote(said.get('code', ''))}")
    _check(services, session, said)
    decisions: dict[str, Any] = {"approve": services.registry.devices.approve, "deny": services.registry.devices.deny}
    if decision not in decisions:
        return pages.page("Not here", pages.text("There is no such page."), status=404)
    try:
        await run_in_threadpool(decisions[decision], session.account_id, said.get("code", ""))
    except (NotFound, NotAllowed) as refused:
        return pages.page("Sign a device in", pages.problem(str(refused)), status=409)
    told = {"approve": "Approved. You can close this page.", "deny": "Denied. The device gets no key."}
    return pages.page("Done", pages.text(told[decision]))


def _ask(then: str, problem: str = "") -> Response:
    kept = pages.hidden("then", _inside(then))
    return pages.page(
        "Sign in",
        *([pages.problem(problem)] if problem else []),
        pages.form("/signin", "Send me a code", kept, pages.field("E-mail address", "email", "email", "email")),
        pages.text("Or sign in with a key of the account:"),
        pages.form("/signin", "Sign in", kept, pages.field("Key", "key", "password")),
    )


def _ask_code(then: str, problem: str = "") -> Response:
    return pages.page(
        "Enter the code",
        pages.problem(problem) if problem else pages.text("We sent a code to your address."),
        pages.form(
            "/signin/code", "Sign in", pages.hidden("then", then), pages.field("Code", "code", "text", "one-time-code")
        ),
    )


def _code_form() -> str:
    return '<form action="/device"><input name="code" aria-label="Code" required><button>Go on</button></form>'


def _by_key(services: Services, key: str, then: str) -> Response:
    caller = services.registry.authenticate(key.strip())
    if caller is None or "admin" not in caller.scopes:
        return _ask(then, "This key is not known here, or may not sign in.")
    return _open(services, caller.account_id, then)


def _open(services: Services, account: str, then: str) -> Response:
    made = services.registry.sessions.open(account)
    answer = RedirectResponse(then, 303)
    _keep(services, answer, SESSION, made.token, 14 * 86400)
    answer.delete_cookie(CHALLENGE)
    return answer


def _session(services: Services, request: Request) -> Session | None:
    token = request.cookies.get(SESSION, "")
    return services.registry.sessions.find(token) if token else None


def _keep(services: Services, answer: Response, name: str, value: str, seconds: int) -> None:
    secure = (services.public_url or "").startswith("https://")
    answer.set_cookie(name, value, max_age=seconds, httponly=True, secure=secure, samesite="lax")


def _token(services: Services, session: Session) -> str:
    until = datetime.fromtimestamp(services.clock() / 1e9, UTC) + _FORM_LIFETIME
    return services.signer.sign("form", session.id, until)


def _check(services: Services, session: Session, said: dict[str, str]) -> None:
    """The form was ours, and this session's. Raises `Forbidden`."""
    now = datetime.fromtimestamp(services.clock() / 1e9, UTC)
    try:
        whose = services.signer.verify("form", said.get("token", ""), now)
    except CapabilityRefused:
        whose = ""
    if whose != session.id:
        raise Forbidden("this form has expired; go back, reload the page, and try again")


async def _form(request: Request) -> dict[str, str]:
    body = await read_body(request, LARGEST_FORM)
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _inside(then: str) -> str:
    """A path of this service; anything else could lead a person away."""
    parts = urlsplit(then)
    fine = then.startswith("/") and not then.startswith(("//", "/\\")) and not parts.scheme and not parts.netloc
    return then if fine and "\\" not in then and then.isprintable() else HOME
