"""Signing in on a page, signing up, signing out."""

import json
import stat
import time
from typing import Any

import pytest
from client.recording_service import Answer, Service

import whileai
from whileai import credentials, sign_in, transport
from whileai.cli import main
from whileai.errors import LoginError

KEY = "zp_abcdefghijklmnopqrstuvwxyz"
CODE: dict[str, Any] = {
    "device_code": "dev-1",
    "user_code": "ABCD-EFGH",
    "verification_uri_complete": "http://page.example/device?code=ABCD-EFGH",
    "expires_in": 900,
    "interval": 5,
}
WAITING = Answer(400, {"error": "authorization_pending"})
APPROVED = {"api_key": KEY, "name": "laptop", "user_id": "u1"}


@pytest.fixture
def device(service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("WHILEAI_API_URL", service.url)
    service.answers("POST", "/device/code", CODE)
    service.answers("POST", "/device/token", WAITING, WAITING, APPROVED)
    service.answers("GET", "/me", {"tier": "trial", "trial": {"daily_input_tokens": 25000, "expires_at": "2026-02-01"}})
    return service


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(transport, "sleep", waited.append)
    return waited


def quietly(**options: Any) -> str | None:
    return whileai.login(open_browser=False, out=lambda _text: None, **options)


def test_a_login_is_approved_and_its_key_saved_with_the_service_it_is_for(device: Service, waits: list[float]) -> None:
    said: list[str] = []
    assert whileai.login(name="x" * 80, open_browser=False, out=said.append) == KEY
    assert CODE["verification_uri_complete"] in said[0]
    assert "ABCD-EFGH" in said[0]
    assert device.requests[0].json == {"name": "x" * 50}
    assert device.requests[1].json == {"device_code": "dev-1", "user_code": "ABCD-EFGH"}
    assert waits == [5, 5]
    saved = credentials.stored()
    assert saved is not None
    created = saved.pop("created_at")
    assert created.endswith("Z")
    assert saved == {
        "api_key": KEY,
        "api_url": device.url,
        "name": "laptop",
        "user_id": "u1",
        "tier": "trial",
        "daily_input_tokens": 25000,
        "expires_at": "2026-02-01",
    }
    assert not sign_in.pending_path().exists()
    assert whileai.account()["tier"] == "trial"
    assert device.last.headers["x-api-key"] == KEY


def test_a_login_stands_without_the_tier(device: Service) -> None:
    device.answers("GET", "/me", Answer(500, {"error": "x"}))
    assert quietly() == KEY
    assert (credentials.stored() or {}).get("tier") is None


def test_the_page_is_opened_unless_it_must_not_be(device: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    whileai.login(wait=False, out=lambda _text: None)
    quietly(wait=False)
    assert opened == [CODE["verification_uri_complete"]]
    assert [request.path for request in device.requests] == ["/device/code"]


def test_an_interrupted_login_goes_on_with_the_same_code(device: Service) -> None:
    assert quietly(wait=False) is None
    assert stat.S_IMODE(sign_in.pending_path().stat().st_mode) == 0o600
    assert whileai.status("zp_other")["pending"] is True
    assert quietly() == KEY
    assert [request.path for request in device.requests].count("/device/code") == 1
    assert whileai.status()["pending"] is False


@pytest.mark.parametrize(
    "change",
    [{"api_url": "http://elsewhere.example"}, {"expires_at": 0.0}, {"expires_at": "soon"}, {"api_url": None}],
)
def test_a_pending_login_that_is_over_or_for_another_service_is_not_resumed(
    device: Service, change: dict[str, Any]
) -> None:
    pending = {**CODE, "api_url": device.url, "expires_at": time.time() + 900, **change}
    credentials.write_private(sign_in.pending_path(), pending)
    assert quietly() == KEY
    assert device.requests[0].path == "/device/code"


def test_asked_to_slow_down_it_does(device: Service, waits: list[float]) -> None:
    device.answers("POST", "/device/token", Answer(429, {"error": "slow_down"}), WAITING, APPROVED)
    assert quietly() == KEY
    assert waits == [10, 10]


def test_what_is_not_approved_in_time_stays_pending(device: Service) -> None:
    device.answers("POST", "/device/token", WAITING)
    said: list[str] = []
    assert whileai.login(timeout=0, open_browser=False, out=said.append) is None
    assert "again" in said[-1]
    assert sign_in.pending_path().exists()
    assert credentials.stored() is None


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("expired_token", "the code has expired"),
        ("access_denied", "refused on the page"),
        ("something_else", "something_else"),
    ],
)
def test_a_refused_login_says_why_and_begins_anew_next_time(device: Service, error: str, said: str) -> None:
    device.answers("POST", "/device/token", Answer(400, {"error": error}))
    with pytest.raises(LoginError, match=said) as caught:
        quietly()
    assert caught.value.reason == error
    assert not sign_in.pending_path().exists()


def test_connections_may_fail_while_waiting_but_not_for_ever(device: Service) -> None:
    broken = Answer(200, APPROVED, cut_at=3)
    device.answers("POST", "/device/token", *[broken] * 5, APPROVED)
    assert quietly() == KEY
    device.answers("POST", "/device/token", broken)
    with pytest.raises(LoginError, match="failed"):
        quietly()
    assert sign_in.pending_path().exists()


def test_an_answer_without_a_code_is_said(device: Service) -> None:
    device.answers("POST", "/device/code", {"user_code": "x"})
    with pytest.raises(LoginError, match="lacks device_code, verification_uri_complete"):
        quietly()


def test_signing_up_saves_a_trial_key(device: Service) -> None:
    trial = {"daily_input_tokens": 25000, "expires_at": "2026-02-01"}
    device.answers("POST", "/signup", Answer(201, {"api_key": KEY, "tier": "trial", "trial": trial}))
    said: list[str] = []
    assert whileai.signup("a@example.com", name="n", out=said.append) == KEY
    assert device.last.json == {"email": "a@example.com", "name": "n"}
    saved = credentials.stored() or {}
    assert {key: saved[key] for key in ("email", "tier", "expires_at")} == {
        "email": "a@example.com",
        "tier": "trial",
        "expires_at": "2026-02-01",
    }
    assert "until 2026-02-01" in said[0]


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (409, "account_exists", "has an account already: run `whileai login`"),
        (400, "invalid_email", "not an e-mail address"),
        (429, "too_many_signups", "try again later"),
        (500, "other", "500: other"),
    ],
)
def test_a_refused_signup_says_what_to_do(device: Service, status: int, error: str, said: str) -> None:
    device.answers("POST", "/signup", Answer(status, {"error": error}))
    with pytest.raises(LoginError, match=said):
        whileai.signup("a@example.com")
    assert len(device.requests) == 1
    assert credentials.stored() is None


def test_signing_out_removes_the_key_and_the_pending_login(device: Service) -> None:
    quietly(wait=False)
    credentials.store({"api_key": KEY, "api_url": device.url})
    assert whileai.logout()
    assert not whileai.logout()
    assert list(credentials.path().parent.iterdir()) == []


def test_the_command_signs_in_up_and_out(device: Service, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["login", "--no-browser", "--no-wait"]) == 0
    device.answers("POST", "/device/token", WAITING)
    assert main(["login", "--no-browser", "--timeout", "0"]) == 2
    device.answers("POST", "/device/token", APPROVED)
    assert main(["login", "--no-browser", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"signed_in": True, "path": str(credentials.path())}
    assert KEY not in captured.err + captured.out
    device.answers("GET", "/keys", {"keys": [{"name": "laptop", "key": "zp_abc…"}], "limit": 5})
    assert main(["keys"]) == 0
    assert "zp_abc…" in capsys.readouterr().out
    assert main(["logout"]) == 0
    assert main(["logout"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"removed {credentials.path()}", f"no key in {credentials.path()}"]
    device.answers("POST", "/signup", Answer(201, {"api_key": KEY}))
    assert main(["signup", "--email", "a@example.com"]) == 0
    device.answers("POST", "/signup", Answer(400, {"error": "invalid_email"}))
    assert main(["signup", "--email", "nonsense"]) == 1
    assert "error: that is not an e-mail address" in capsys.readouterr().err
