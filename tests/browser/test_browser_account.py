"""Keys, the approval of a device, and what was refused at the door."""

from __future__ import annotations

import httpx
from playwright.sync_api import Page, expect
from support import otlp
from support.browser import Complaints
from support.service import Service
from support.shop import PROTOBUF


def test_a_key_is_made_shown_once_used_and_revoked(page: Page, client: httpx.Client, service: Service) -> None:
    page.goto("/ui/keys")
    page.get_by_label("Name").fill("ci")
    page.get_by_role("button", name="Make a key").click()
    key = page.locator("pre").inner_text().removeprefix("export WHILEAI_API_KEY=").strip()
    assert httpx.get(f"{service.url}/me", headers={"x-api-key": key}).json()["scopes"] == ["ingest", "read", "write"]
    page.goto("/ui/keys")
    assert key not in page.content()
    row = page.get_by_role("row").filter(has_text="ci")
    row.get_by_text("Revoke", exact=True).click()
    row.get_by_role("button", name="Revoke ci").click()
    expect(page.get_by_role("row").filter(has_text="bootstrap")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text=key[:11])).to_have_count(0)
    assert key[:11] not in {made["key"][:11] for made in client.get("/keys").json()["keys"]}


def test_a_device_gets_its_key_when_a_person_approves_the_code(page: Page, client: httpx.Client) -> None:
    start = client.post("/device/code", json={"name": "cli <laptop>"}).json()
    page.goto(start["verification_uri_complete"])
    expect(page.locator(".device-code")).to_have_text(start["user_code"])
    expect(page.get_by_text("cli <laptop> asks for a key")).to_be_visible()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status").filter(has_text="Approved.")).to_be_visible()
    asked = {"device_code": start["device_code"], "user_code": start["user_code"]}
    key = client.post("/device/token", json=asked).json()["api_key"]
    assert client.get("/me", headers={"x-api-key": key}).json()["accountId"] == "acc_local"


def test_a_device_is_denied_and_an_unknown_code_is_told_so(
    page: Page, client: httpx.Client, complaints: Complaints
) -> None:
    start = client.post("/device/code", json={"name": "stranger"}).json()
    page.goto("/device")
    page.get_by_label("Code that the device shows").fill(start["user_code"].lower().replace("-", ""))
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("The device gets no key.")).to_be_visible()
    asked = {"device_code": start["device_code"], "user_code": start["user_code"]}
    assert client.post("/device/token", json=asked).json() == {"error": "access_denied"}
    page.goto("/device?code=BBBB-BBBB")
    expect(page.get_by_role("alert")).to_contain_text("No login is waiting")
    complaints.expect("404")


def test_what_was_refused_is_shown_with_its_reason_and_a_sample(page: Page, client: httpx.Client) -> None:
    bad = otlp.span(otlp.new_trace_id(), name="without an id")
    bad.trace_id = bytes(16)
    client.post("/v1/traces", content=otlp.traces([bad]), headers=PROTOBUF).raise_for_status()
    (refused, *_) = client.get("/rejections").json()["rejections"]
    page.goto("/ui/rejections")
    row = page.get_by_role("row").filter(has_text=refused["reason"]).first
    expect(row).to_contain_text("traces")
    expect(row).to_contain_text(refused["detail"][:60])
