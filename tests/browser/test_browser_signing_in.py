"""Signing in: with a key, with a one-time code, back to where one was; and what happens when a session ends."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
from playwright.sync_api import Page, expect
from support.browser import Complaints, sign_in
from support.service import Service


def code_in_the_log(service: Service, address: str) -> str:
    mails = [json.loads(line) for line in service.stderr().splitlines() if '"to": ' in line and address in line]
    digits: str = mails[-1]["text"].split("code is ")[1][:6]
    return digits


def test_a_person_with_a_key_gets_to_the_page_that_was_asked_for(
    open_page: Callable[[], Page], service: Service
) -> None:
    page = open_page()
    page.goto("/ui/traces?verdict=fail")
    expect(page).to_have_url(f"{service.url}/sign-in?then=%2Fui%2Ftraces%3Fverdict%3Dfail")
    page.get_by_label("Key of the account").fill(service.key)
    page.get_by_role("button", name="Sign in with the key").click()
    expect(page).to_have_url(f"{service.url}/ui/traces?verdict=fail")
    expect(page.get_by_label("Verdict")).to_have_value("fail")


def test_a_wrong_key_is_told_so_and_nothing_opens(open_page: Callable[[], Page], complaints: Complaints) -> None:
    page = open_page()
    page.goto("/sign-in")
    page.get_by_label("Key of the account").fill("zp_there_is_no_such_key_at_all")
    page.get_by_role("button", name="Sign in with the key").click()
    expect(page.get_by_role("alert")).to_have_text("This key is not known here, was revoked, or has expired.")
    complaints.expect("401")
    page.goto("/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_key_that_may_only_ingest_does_not_grow_by_signing_in(
    open_page: Callable[[], Page], client: httpx.Client, complaints: Complaints
) -> None:
    small = client.post("/keys", json={"name": "agent", "scopes": ["ingest"]}).json()["api_key"]
    page = open_page()
    page.goto("/sign-in")
    page.get_by_label("Key of the account").fill(small)
    page.get_by_role("button", name="Sign in with the key").click()
    expect(page.get_by_role("alert")).to_contain_text("may only ingest")
    complaints.expect("403")


def test_a_new_address_gets_an_account_by_the_code_in_the_log(
    open_page: Callable[[], Page], service: Service, complaints: Complaints
) -> None:
    page = open_page()
    page.goto("/sign-in")
    page.get_by_label("E-mail address").fill("ana@example.com")
    page.get_by_role("button", name="Send me a code").click()
    page.get_by_label("Code").fill("000000")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not the code that was sent")
    complaints.expect("401")
    page.get_by_label("Code").fill(code_in_the_log(service, "ana@example.com"))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Live traffic")).to_be_visible()
    expect(page.get_by_text("No run has arrived yet.")).to_be_visible()
    for address, empty in (
        ("/ui/traces", "No runs yet"),
        ("/ui/agents", "No agents yet"),
        ("/ui/datasets", "No training data yet."),
        ("/ui/runs", "No training runs yet"),
        ("/ui/rejections", "Nothing was refused"),
        ("/ui/cut", "Nothing to cut."),
    ):
        page.goto(address)
        expect(page.get_by_text(empty)).to_be_visible()


def test_signing_out_everywhere_ends_the_stream_of_another_window(
    page: Page, open_page: Callable[[], Page], service: Service
) -> None:
    other = open_page()
    sign_in(other, service.key)
    expect(other.locator("#pulse.on")).to_be_visible()
    page.goto("/ui/account")
    page.get_by_role("button", name="Sign out everywhere").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(other.get_by_role("status").filter(has_text="Your session has ended.")).to_be_visible()
    other.get_by_role("link", name="Sign in again").click()
    expect(other.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_local_account_takes_an_address_and_is_signed_in_to_by_mail(
    page: Page, open_page: Callable[[], Page], service: Service
) -> None:
    page.goto("/ui/account")
    page.get_by_label("E-mail address").fill("owner@example.com")
    page.get_by_role("button", name="Send a code").click()
    page.get_by_label("Code").fill(code_in_the_log(service, "owner@example.com"))
    page.get_by_role("button", name="Confirm").click()
    expect(page.locator(".facts").get_by_text("owner@example.com")).to_be_visible()
    other = open_page()
    other.goto("/sign-in")
    other.get_by_label("E-mail address").fill("owner@example.com")
    other.get_by_role("button", name="Send me a code").click()
    other.get_by_label("Code").fill(code_in_the_log(service, "owner@example.com"))
    other.get_by_role("button", name="Sign in").click()
    other.goto("/ui/account")
    expect(other.get_by_text("acc_local")).to_be_visible()
