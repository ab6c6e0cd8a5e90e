"""The pages without a browser: who may see them, what may change something, and what stands in every answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient
from support.api import Caller

from whileai_query.pages.app import ROUTERS
from whileai_query.pages.people import inside
from whileai_query.sessions import COOKIE, CSRF_HEADER, csrf_of

OPEN = {"/sign-in", "/sign-in/code", "/sign-in/redeem", "/static/{digest}/{name}", "/favicon.ico"}


def routes() -> Iterator[tuple[str, str]]:
    for router in ROUTERS:
        for route in router.routes:
            assert isinstance(route, APIRoute)
            if route.path not in OPEN:
                yield from ((method, route.path) for method in route.methods or ())


PLACES = {
    "{trace_id}": "f" * 32,
    "{span_id}": "f" * 16,
    "{dataset_id}": "ds_0",
    "{key_id}": "key_0",
    "{name:path}": "nobody",
}


def filled(path: str) -> str:
    for place, value in PLACES.items():
        path = path.replace(place, value)
    return path


@pytest.fixture
def session(caller: Caller) -> str:
    """A session's cookie in the client; its token."""
    token = caller.services.registry.sessions.open(caller.account).token
    caller.client.cookies.set(COOKIE, token)
    return token


@pytest.mark.parametrize(("method", "path"), sorted(routes()))
def test_nobody_sees_or_changes_anything_without_a_session(caller: Caller, method: str, path: str) -> None:
    answer = caller.client.request(
        method, filled(path), headers={"accept": "text/html"}, data={"csrf": "x"}, follow_redirects=False
    )
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in")
    script = caller.client.request(method, filled(path), headers={"accept": "application/json"})
    assert (script.status_code, script.json()) == (401, {"error": "your session has ended; sign in again"})


@pytest.mark.parametrize("path", sorted(path for method, path in routes() if method == "POST"))
def test_no_change_is_made_without_the_sessions_token(caller: Caller, session: str, path: str) -> None:
    answer = caller.client.post(filled(path), data={"csrf": csrf_of("another session")}, headers={"accept": "*/*"})
    assert answer.status_code == 403
    assert caller.services.registry.sessions.find(session) is not None


@pytest.mark.parametrize("path", ["/", "/ui/traces", "/sign-in", "/ui/nothing", "/static/x/app.css"])
def test_every_answer_carries_the_policy(caller: Caller, session: str, path: str) -> None:
    assert session
    headers = caller.client.get(path, headers={"accept": "text/html"}).headers
    assert "script-src 'self';" in headers["content-security-policy"]
    assert "'unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(caller: Caller) -> None:
    answer = caller.client.post("/sign-in", data={"key": caller.key, "then": "/ui/traces"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/traces")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie  # plain HTTP on this machine; behind TLS it is


def test_behind_tls_the_cookie_travels_over_tls_only(caller: Caller) -> None:
    secure = TestClient(caller.client.app, base_url="https://while.example")
    answer = secure.post("/sign-in", data={"key": caller.key}, follow_redirects=False)
    assert "Secure" in answer.headers["set-cookie"]


def test_a_form_that_another_site_sent_is_refused(caller: Caller) -> None:
    answer = caller.client.post("/sign-in", data={"key": caller.key}, headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403


def test_the_api_takes_the_session_to_read_and_its_token_to_change(caller: Caller, session: str) -> None:
    trace_id = caller.run()
    assert caller.client.get(f"/traces/{trace_id}").status_code == 200
    body = {"traceId": trace_id, "value": 1}
    assert caller.client.post("/v1/scores", json=body).status_code == 403
    told = caller.client.post("/v1/scores", json=body, headers={CSRF_HEADER: csrf_of(session)})
    assert (told.status_code, told.json()["applied"]) == (200, 1)


def test_a_session_that_ended_opens_neither_pages_nor_the_api(caller: Caller, session: str) -> None:
    caller.services.registry.sessions.end(session)
    assert caller.client.get("/traces?limit=1").status_code == 401
    assert caller.client.get("/ui/session", headers={"accept": "*/*"}).status_code == 401


def test_a_session_of_a_trial_that_is_over_opens_nothing(caller: Caller) -> None:
    trial = caller.services.registry.signup.create("over@example.com", "", client="here").account
    caller.client.cookies.set(COOKIE, caller.services.registry.sessions.open(trial.id).token)
    assert caller.client.get("/ui/session").status_code == 204
    caller.clock.ahead = int(timedelta(days=15).total_seconds() * 1e9)
    assert caller.client.get("/ui/session", headers={"accept": "*/*"}).status_code == 401


def test_the_pages_of_another_accounts_things_are_not_there(
    new_caller: Callable[[], Caller], caller: Caller, session: str
) -> None:
    assert session
    other = new_caller()
    ids = other.task("refund-1", [1.0, 0.0, 1.0, 0.0], agent="their-agent")
    made = other.post("/datasets/cut", {"holdout": 0})["made"]
    for path in (
        f"/ui/traces/{ids[0]}",
        f"/ui/traces/{ids[0]}/waterfall",
        f"/ui/traces/{ids[0]}/stream",
        f"/ui/datasets/{made[0]['datasetId']}",
        "/ui/agents/their-agent",
    ):
        assert caller.client.get(path, headers={"accept": "text/html"}).status_code == 404, path
    assert "refund-1" not in caller.client.get("/ui/traces", headers={"accept": "text/html"}).text
    assert "their-agent" not in caller.client.get("/", headers={"accept": "text/html"}).text
    graded = caller.client.post(
        f"/ui/traces/{ids[0]}/grade", data={"verdict": "fail", "csrf": csrf_of(session)}, headers={"accept": "*/*"}
    )
    assert graded.status_code == 404
    assert other.get(f"/traces/{ids[0]}")["verdict"] == "pass"


@pytest.mark.parametrize(
    ("then", "leads"),
    [
        ("/ui/traces?verdict=fail", "/ui/traces?verdict=fail"),
        ("https://evil.example", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_signing_in_leads_nowhere_else(then: str, leads: str) -> None:
    assert inside(then) == leads


def test_the_api_keeps_its_own_errors_beside_the_pages(caller: Caller) -> None:
    assert caller.client.get("/nothing").json() == {"error": "there is nothing at /nothing"}
    assert caller.client.post("/traces").status_code == 405
    assert caller.client.get("/ui").json() == {"error": "there is nothing at /ui"}


def test_static_files_are_kept_for_ever_and_come_compressed(caller: Caller) -> None:
    page = caller.client.get("/sign-in").text
    sheet = page.split('rel="stylesheet" href="')[1].split('"')[0]
    answer = caller.client.get(sheet)
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-encoding"] == "gzip"
    assert caller.client.get(sheet.replace("app.css", "no.css"), headers={"accept": "*/*"}).status_code == 404
    assert caller.client.get("/static/x/..%2Fapp.py", headers={"accept": "*/*"}).status_code == 404
