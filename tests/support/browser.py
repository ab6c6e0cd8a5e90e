"""A real browser on the real pages, and a list of everything that it complained about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import httpx
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, Response, sync_playwright

from whileai_query.sessions import COOKIE

CHROMIUM = Path("/usr/bin/chromium")
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-quic",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
)
# Chromium's advice on password fields is none of an error.
_COMPLAINTS = ("error", "warning")
WIDE = (1280, 860)
NARROW = (360, 780)

Scheme = Literal["light", "dark"]


@dataclass
class Complaints:
    """What the console said, what scripts threw, and what the server failed at."""

    heard: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.heard.append(f"thrown: {error}"))
        page.on("response", self._response)

    def expect(self, *parts: str) -> None:
        """Take away the complaints that a test provoked. Each part must have been heard."""
        for part in parts:
            assert any(part in said for said in self.heard), (part, self.heard)
            self.heard = [said for said in self.heard if part not in said]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in _COMPLAINTS:
            self.heard.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _response(self, answer: Response) -> None:
        if answer.status >= 500:
            self.heard.append(f"{answer.status}: {answer.url}")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's browser, headless. It reaches nothing but this machine."""
    assert CHROMIUM.exists(), f"{CHROMIUM} is missing: run make setup as root, or install the package chromium"
    with sync_playwright() as playwright:
        yield _launch(playwright)


def _launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))


def new_context(
    browser: Browser, url: str, *, size: tuple[int, int] = WIDE, scheme: Scheme = "light"
) -> BrowserContext:
    return browser.new_context(
        base_url=url,
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        timezone_id="Europe/Berlin",
        locale="en-GB",
        reduced_motion="reduce",
    )


def sign_in(page: Page, key: str) -> None:
    page.goto("/sign-in")
    page.get_by_label("Key of the account").fill(key)
    page.get_by_role("button", name="Sign in with the key").click()
    page.wait_for_url("/")


def take_session(context: BrowserContext, url: str, key: str) -> None:
    """The same without the page: the cookie of a session that the key opened."""
    answer = httpx.post(f"{url}/sign-in", data={"key": key}, headers={"accept": "text/html"})
    context.add_cookies([{"name": COOKIE, "value": answer.cookies[COOKIE], "url": url}])


@cache
def _axe() -> str:
    """axe-core's script, out of the Python package that carries it."""
    found = find_spec("axe_playwright_python")
    assert found is not None, "the dev extra brings axe-playwright-python"
    assert found.origin is not None, "it is a package of files"
    return (Path(found.origin).parent / "axe.min.js").read_text()


def serious_faults(page: Page) -> list[str]:
    """What axe-core calls serious or critical on this page, in a line each."""
    page.evaluate(_axe())
    found: list[dict[str, Any]] = page.evaluate("axe.run({resultTypes: ['violations']}).then((all) => all.violations)")
    return [
        f"{fault['id']} on {page.url}: {node['html'][:160]} — {node['failureSummary'][:300]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
