"""Getting a key: on a device, by signing up, from a session; and signing in on the pages."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient
from support.api import Caller

from whileai_query import create_api


class Mailbox:
    """Mail that was sent, newest last."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    def __call__(self, address: str, _subject: str, text: str) -> None:
        self.sent.append((address, text))

    def code(self) -> str:
        found = re.search(r"\b\d{6}\b", self.sent[-1][1])
        assert found is not None
        return found[0]


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def browser(caller: Caller, mailbox: Mailbox) -> TestClient:
    """A browser with its cookies, on a service that sends mail."""
    return TestClient(create_api(replace(caller.services, send_mail=mailbox)), follow_redirects=False)


def fields(page: Any) -> dict[str, str]:
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', page.text))


def signed_in(browser: TestClient, mailbox: Mailbox, address: str) -> TestClient:
    assert browser.post("/signin", data={"email": address}).status_code == 200
    answer = browser.post("/signin/code", data={"code": mailbox.code(), "then": "/device"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/device")
    return browser


def test_a_device_gets_its_key_once_a_person_approves(browser: TestClient, mailbox: Mailbox, caller: Caller) -> None:
    start = browser.post("/device/code", json={"name": "cli laptop"}).json()
    assert start["verification_uri_complete"].startswith("http://testserver/device?code=")
    asked = {"device_code": start["device_code"], "user_code": start["user_code"]}
    assert browser.post("/device/token", json=asked).json() == {"error": "authorization_pending"}
    assert browser.post("/device/token", json=asked).json() == {"error": "slow_down"}
    link = start["verification_uri_complete"]
    assert "Sign in" in browser.get(link).text
    page = signed_in(browser, mailbox, "person@example.com").get(link)
    assert "cli laptop" in page.text
    assert start["user_code"] in page.text
    assert browser.post("/device/approve", data=fields(page)).status_code == 200
    answer = browser.post("/device/token", json=asked)
    assert answer.status_code == 200
    key = answer.json()["api_key"]
    assert caller.client.get("/me", headers={"x-api-key": key}).json()["email"] == "person@example.com"


def test_a_denied_device_gets_no_key(browser: TestClient, mailbox: Mailbox) -> None:
    start = browser.post("/device/code", json={}).json()
    page = signed_in(browser, mailbox, "denier@example.com").get(start["verification_uri_complete"])
    assert browser.post("/device/deny", data=fields(page)).status_code == 200
    asked = {"device_code": start["device_code"], "user_code": start["user_code"]}
    assert browser.post("/device/token", json=asked).json() == {"error": "access_denied"}


def test_another_site_cannot_press_the_button(browser: TestClient, mailbox: Mailbox) -> None:
    start = browser.post("/device/code", json={}).json()
    signed_in(browser, mailbox, "target@example.com")
    for token in ("", "forged"):
        answer = browser.post("/device/approve", data={"code": start["user_code"], "token": token})
        assert answer.status_code == 403


def test_a_wrong_code_signs_nobody_in(browser: TestClient, mailbox: Mailbox) -> None:
    browser.post("/signin", data={"email": "wrong@example.com"})
    wrong = "000000" if mailbox.code() != "000000" else "000001"
    answer = browser.post("/signin/code", data={"code": wrong})
    assert answer.status_code == 200
    assert "not the code" in answer.text
    assert "while_session" not in browser.cookies


def test_a_key_of_the_account_signs_in_too(browser: TestClient, caller: Caller) -> None:
    assert "not known" in browser.post("/signin", data={"key": "zp_wrong"}).text
    answer = browser.post("/signin", data={"key": caller.key, "then": "https://elsewhere.example.com/"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/signin")
    assert "HttpOnly" in answer.headers["set-cookie"]
    page = browser.get("/signin")
    assert "You are signed in" in page.text
    assert browser.post("/signout", data=fields(page)).status_code == 303
    assert "E-mail address" in browser.get("/signin").text


def test_what_a_device_calls_itself_is_shown_as_text(browser: TestClient, caller: Caller) -> None:
    start = browser.post("/device/code", json={"name": "<script>alert(1)</script>"}).json()
    browser.post("/signin", data={"key": caller.key})
    page = browser.get(start["verification_uri_complete"])
    assert "<script>" not in page.text
    assert "&lt;script&gt;" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_signing_up_gives_a_trial_account_with_a_working_key(caller: Caller) -> None:
    answer = caller.client.post("/signup", json={"email": "Trial@Example.com", "name": "Trial"})
    assert answer.status_code == 201
    made = answer.json()
    assert (made["email"], made["tier"], made["trial"]["datasets"]) == ("trial@example.com", "trial", 10)
    me = caller.client.get("/me", headers={"x-api-key": made["api_key"]}).json()
    assert me["trial"]["storage_bytes"] == 100 * 1024 * 1024
    again = caller.client.post("/signup", json={"email": "trial@example.com", "name": "x"})
    assert (again.status_code, again.json()) == (409, {"error": "account_exists"})
    wrong = caller.client.post("/signup", json={"email": "no address", "name": "x"})
    assert (wrong.status_code, wrong.json()) == (400, {"error": "invalid_email"})


def test_a_delegated_credential_works_until_it_is_revoked(browser: TestClient, caller: Caller) -> None:
    browser.post("/signin", data={"key": caller.key})
    shown = browser.post("/signin/token", data=fields(browser.get("/signin"))).text
    found = re.search(r"<code>(\S+)</code>", shown)
    assert found is not None
    bearer = {"authorization": f"Bearer {found[1]}"}
    made = browser.post("/auth/issue-credential", json={"name": "sdk", "ttlSeconds": 60}, headers=bearer).json()
    assert made["credential"].startswith("zp_dc_")
    with_it = {"x-api-key": made["credential"]}
    assert caller.client.get("/me", headers=with_it).status_code == 200
    again = {"credential": made["credential"], "ttlSeconds": 120}
    assert browser.post("/auth/refresh-credential", json=again, headers=bearer).json()["expiresAt"] > made["expiresAt"]
    assert browser.post("/auth/revoke-credential", json=again, headers=bearer).json() == {"revoked": True}
    # Another process asks the records at once; this one remembers a key for a few seconds.
    fresh = TestClient(create_api(caller.services))
    assert fresh.get("/me", headers=with_it).status_code == 401


def test_keys_are_made_and_revoked_by_an_administrator(caller: Caller) -> None:
    made = caller.post("/keys", {"name": "reader", "scopes": ["read"]})
    reader = {"x-api-key": made["api_key"]}
    assert caller.client.get("/traces", headers=reader).status_code == 200
    assert caller.client.post("/keys", headers=reader, json={"name": "more"}).status_code == 403
    assert caller.request("DELETE", f"/keys/{made['id']}").status_code == 204
    assert TestClient(create_api(caller.services)).get("/traces", headers=reader).status_code == 401


def test_tokens_of_hosted_calls_are_counted(caller: Caller) -> None:
    caller.post("/usage", {"input_tokens": 5, "output_tokens": 7})
    caller.post("/usage", {"input_tokens": 5})
    usage = caller.get("/me")["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (10, 7)
    assert caller.refused("POST", "/usage", json={"input_tokens": -1})[0] == 400
