"""Getting a key: on a device, by signing up, from a session, from an administrator."""

from __future__ import annotations

from starlette.testclient import TestClient
from support.api import Caller

from whileai_query import create_api


def test_a_device_gets_its_key_once_a_person_approves(caller: Caller) -> None:
    start = caller.client.post("/device/code", json={"name": "cli laptop"}).json()
    assert start["verification_uri_complete"] == f"http://testserver/device?code={start['user_code']}"
    asked = {"device_code": start["device_code"], "user_code": start["user_code"]}
    assert caller.client.post("/device/token", json=asked).json() == {"error": "authorization_pending"}
    assert caller.client.post("/device/token", json=asked).json() == {"error": "slow_down"}
    caller.services.registry.devices.approve(caller.account, start["user_code"])
    answer = caller.client.post("/device/token", json=asked)
    assert (answer.status_code, answer.json()["user_id"]) == (200, caller.account)
    key = answer.json()["api_key"]
    assert caller.client.get("/me", headers={"x-api-key": key}).json()["accountId"] == caller.account


def test_a_denied_device_gets_no_key(caller: Caller) -> None:
    start = caller.client.post("/device/code", json={}).json()
    caller.services.registry.devices.deny(caller.account, start["user_code"])
    asked = {"device_code": start["device_code"], "user_code": start["user_code"]}
    answer = caller.client.post("/device/token", json=asked)
    assert (answer.status_code, answer.json()) == (400, {"error": "access_denied"})
    nobody = {"device_code": "unknown", "user_code": start["user_code"]}
    assert caller.client.post("/device/token", json=nobody).json() == {"error": "expired_token"}


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


def test_a_delegated_credential_works_until_it_is_revoked(caller: Caller) -> None:
    browser = caller.client
    bearer = {"authorization": f"Bearer {caller.services.registry.sessions.open(caller.account).token}"}
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
