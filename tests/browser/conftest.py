"""One service and one browser for all tests of a worker; a page that is signed in, and that must not complain."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from support import shop
from support.browser import Complaints, chromium, new_context, take_session
from support.captures import send_capture
from support.service import Service

FLAVOUR = "pydantic-ai__builtin-v5"
AGENT = "Shop Desk"
# Generous, for a machine that runs other tests beside: what is waited for is looked at until it is there.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("pages")) as running:
        yield running


@pytest.fixture(scope="session")
def client(service: Service) -> Iterator[httpx.Client]:
    with service.client() as speaking:
        yield speaking


@pytest.fixture(scope="session")
def captured(client: httpx.Client) -> dict[str, str]:
    """Real traces of a framework: scenario -> trace id."""
    return send_capture(client, FLAVOUR)


@pytest.fixture(scope="session")
def shop_agent(client: httpx.Client) -> str:
    """An agent with 120 graded runs of twelve scenarios; its name."""
    shop.send(client, shop.shop_runs(120, agent=AGENT))
    return AGENT


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For one file: while Playwright runs, nothing else in this process can run an event loop."""
    with chromium() as launched:
        yield launched


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """Empty at the end of every test: no console error, no violation of the content security policy."""
    heard = Complaints()
    yield heard
    assert heard.heard == []


@pytest.fixture
def open_page(browser: Browser, service: Service, complaints: Complaints) -> Iterator[Callable[[], Page]]:
    """Opens pages that nobody signed in on, each with cookies of its own."""
    opened = []

    def make() -> Page:
        context = new_context(browser, service.url)
        opened.append(context)
        page = context.new_page()
        complaints.listen(page)
        return page

    yield make
    for context in opened:
        context.close()


@pytest.fixture
def page(open_page: Callable[[], Page], service: Service) -> Page:
    """Signed in with the account's key."""
    made = open_page()
    take_session(made.context, service.url, service.key)
    return made
