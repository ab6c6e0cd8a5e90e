"""Every page: no serious fault of accessibility in light and dark, and nothing that runs off a narrow screen."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from support.browser import NARROW, WIDE, Complaints, Scheme, new_context, serious_faults, sign_in, take_session
from support.service import Service


@pytest.fixture(scope="module")
def addresses(client: httpx.Client, captured: dict[str, str], shop_agent: str) -> list[str]:
    """Every page, with something on it."""
    body = {"filter": {"agent": shop_agent}, "kind": "sft", "name": "every-page"}
    made = client.post("/datasets/cut", json=body).raise_for_status().json()["made"]
    code = client.post("/device/code", json={"name": "a laptop"}).json()["user_code"]
    client.post("/v1/scores", json={"traceId": captured["refund"], "value": 1, "note": "fine"}).raise_for_status()
    return [
        "/",
        "/ui/traces",
        f"/ui/traces?agent={shop_agent}&verdict=fail&status=ok",
        f"/ui/traces/{captured['refund']}",
        f"/ui/traces/{captured['fail']}",
        "/ui/cut",
        f"/ui/cut?agent={shop_agent}&kind=sft",
        "/ui/agents",
        f"/ui/agents/{shop_agent}",
        "/ui/datasets",
        f"/ui/datasets/{made[0]['datasetId']}",
        "/ui/runs",
        "/ui/rejections",
        "/ui/keys",
        "/ui/account",
        f"/device?code={code}",
        "/device",
    ]


def settle(page: Page) -> None:
    """Wait for what a page loads after itself."""
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    if page.locator("#live").count():
        expect(page.locator("#live[data-drawn]")).to_be_attached()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_page_has_a_serious_fault_or_runs_off_the_screen(
    browser: Browser,
    service: Service,
    complaints: Complaints,
    addresses: list[str],
    scheme: Scheme,
    size: tuple[int, int],
) -> None:
    context = new_context(browser, service.url, size=size, scheme=scheme)
    page = context.new_page()
    complaints.listen(page)
    page.goto("/sign-in")
    faults = serious_faults(page)
    take_session(context, service.url, service.key)
    too_wide = []
    for address in addresses:
        page.goto(address)
        settle(page)
        faults += serious_faults(page)
        if page.evaluate("document.documentElement.scrollWidth") > size[0]:
            too_wide.append(address)
    context.close()
    assert not faults, "\n".join(faults)
    assert too_wide == []


def test_a_page_that_is_not_there_says_so_in_the_frame(page: Page, complaints: Complaints) -> None:
    page.goto("/ui/nothing-here")
    expect(page.get_by_role("heading", name="Not here")).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    complaints.expect("404")


def test_the_keyboard_reaches_the_content_first(page: Page) -> None:
    page.goto("/ui/traces")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_a_narrow_screen_has_the_pages_in_a_menu(browser: Browser, service: Service, complaints: Complaints) -> None:
    context = new_context(browser, service.url, size=NARROW)
    page = context.new_page()
    complaints.listen(page)
    take_session(context, service.url, service.key)
    page.goto("/ui/agents")
    expect(page.get_by_role("link", name="Datasets")).to_be_hidden()
    page.get_by_text("Menu", exact=True).click()
    page.get_by_role("link", name="Datasets").click()
    expect(page.get_by_role("heading", name="Datasets")).to_be_visible()
    context.close()


def test_pages_load_nothing_from_elsewhere(open_page: Callable[[], Page], service: Service) -> None:
    page = open_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    sign_in(page, service.key)
    expect(page.locator("#live[data-drawn]")).to_be_attached()
    assert asked
    assert [url for url in asked if not url.startswith((service.url, "data:"))] == []
