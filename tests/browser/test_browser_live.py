"""Live traffic: what is sent appears while the page stands open, is the API's number, and survives a restart."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect
from support import otlp
from support.browser import Complaints, sign_in
from support.captures import send_capture
from support.service import Service

from whileai_query.pages.formats import compact


class OnePort(Service):
    """Listens on a port of its own, again and again; from below those that the system gives out to anybody."""

    def command(self, *arguments: str) -> list[str]:
        return [*super().command(*arguments), "--http-port", self.environment["PORT"]]


def free_port() -> str:
    for port in range(21_000, 30_000):
        with socket.socket() as asking:
            if asking.connect_ex(("127.0.0.1", port)):
                return str(port)
    raise AssertionError("no port is free")


def send_run(client: httpx.Client, agent: str, prompt: str) -> str:
    trace_id = otlp.new_trace_id()
    body = otlp.traces(otlp.chat_run(trace_id, agent=agent, prompt=prompt), {"whileai.model_version": "v7"})
    client.post("/v1/traces", content=body, headers={"content-type": "application/x-protobuf"}).raise_for_status()
    return trace_id


def test_a_run_appears_without_a_reload(page: Page, client: httpx.Client) -> None:
    page.goto("/?agent=fresh-bot")
    expect(page.locator("#pulse.on")).to_be_visible()
    expect(page.locator(".tile").filter(has_text="Runs").locator("dd")).to_have_text("0")
    trace_id = send_run(client, "fresh-bot", "Is anybody there?")
    expect(page.locator(f"#newest-{trace_id}")).to_contain_text("Is anybody there?")
    expect(page.locator(".tile").filter(has_text="Runs").locator("dd")).to_have_text("1")
    expect(page.get_by_role("region", name="By version").get_by_role("link", name="v7")).to_be_visible()
    expect(page.locator("#chart-runs .annotation-text", has_text="v7")).to_be_visible()


def test_the_numbers_are_those_of_the_api(page: Page, client: httpx.Client, shop_agent: str) -> None:
    page.goto(f"/?agent={shop_agent}&window=6h")
    totals = client.get("/traffic", params={"agent": shop_agent, "window": "6h", "step": "5m"}).json()["totals"]
    assert totals["runs"] == 120
    tiles = {tile.locator("dt").inner_text(): tile.locator("dd").inner_text() for tile in page.locator(".tile").all()}
    assert tiles["Runs"] == "120"
    assert tiles["Tokens in"] == compact(totals["inputTokens"])
    assert tiles["Error rate"].split()[-1] == str(totals["errors"])
    assert tiles["Flagged"].split()[-1] == str(totals["flagged"])
    for chart in ("runs", "latency", "tokens", "cost"):
        expect(page.locator(f"#chart-{chart} svg.main-svg").first).to_be_visible()


def test_a_row_narrows_the_page_to_an_agent_and_windows_keep_it(page: Page, shop_agent: str, service: Service) -> None:
    page.goto("/")
    page.get_by_role("region", name="By agent").get_by_role("link", name=shop_agent).click()
    expect(page.locator(".chip.filter")).to_have_text(f"agent: {shop_agent}")
    page.get_by_role("navigation", name="Window").get_by_role("link", name="24h").click()
    expect(page.locator(".chip.filter")).to_have_text(f"agent: {shop_agent}")
    page.get_by_role("link", name="Show all").click()
    expect(page).to_have_url(f"{service.url}/?window=24h")


def test_the_page_says_that_the_service_is_gone_and_goes_on_when_it_is_back(
    tmp_path: Path, open_page: Callable[[], Page], complaints: Complaints
) -> None:
    place = {"PORT": free_port()}
    with OnePort(tmp_path, environment=place) as first:
        page = open_page()
        page.goto(first.url)
        page.get_by_label("Key of the account").fill(first.key)
        page.get_by_role("button", name="Sign in with the key").click()
        expect(page.locator("#live[data-drawn]")).to_be_visible()
        expect(page.locator("#pulse.on")).to_be_visible()
        first.kill()
        expect(page.get_by_text("The connection to the service is lost.")).to_be_visible()
        with OnePort(tmp_path, environment=place) as again, again.client() as client:
            send_capture(client, "openai__otel-v2__latest")
            expect(page.locator(".feed li").first).to_be_visible(timeout=20_000)
            expect(page.get_by_text("The connection to the service is lost.")).to_be_hidden()
            page.goto("about:blank")
    complaints.heard = [said for said in complaints.heard if "ERR_" not in said]


def test_sign_in_leads_to_live_traffic(open_page: Callable[[], Page], service: Service) -> None:
    page = open_page()
    sign_in(page, service.key)
    expect(page.get_by_role("heading", name="Live traffic")).to_be_visible()
    expect(page.get_by_role("link", name="Live traffic")).to_have_attribute("aria-current", "page")
