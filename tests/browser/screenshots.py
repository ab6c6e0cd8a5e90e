"""`make screenshots`: every page with something on it, light and dark, and the main ones on a narrow screen."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, expect
from support import otlp, shop
from support.browser import NARROW, Scheme, chromium, new_context, take_session
from support.captures import send_capture
from support.service import Service

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"
SIZE = (1200, 720)
LARGEST_FILE = 200_000
AGENT = "refund-desk"
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
ALSO_NARROW = ("live", "traces", "run")


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Service(Path(folder)) as service, chromium() as browser:
        with service.client() as client:
            addresses = furnish(client)
        for scheme in SCHEMES:
            take(browser, service, addresses, scheme, SIZE, "")
            take(browser, service, {name: addresses[name] for name in ALSO_NARROW}, scheme, NARROW, "-narrow")
    large = [file.name for file in FOLDER.glob("*.png") if file.stat().st_size > LARGEST_FILE]
    print(f"{len(list(FOLDER.glob('*.png')))} pictures in {FOLDER}")
    if large:
        print(f"larger than {LARGEST_FILE} bytes: {', '.join(large)}", file=sys.stderr)
    return 1 if large else 0


def furnish(client: httpx.Client) -> dict[str, str]:
    """Runs, grades, a cut, a refusal, a device that waits; the address of each page."""
    runs = send_capture(client, "pydantic-ai__builtin-v5")
    shop.send(client, shop.shop_runs(420, agent=AGENT, minutes=58))
    shop.send(client, shop.shop_runs(90, agent="order-status", minutes=58, seed=3))
    verdict = {"traceId": runs["refund"], "value": 1, "note": "refunded the right amount", "by": "ana@shop.example"}
    client.post("/v1/scores", json=verdict).raise_for_status()
    bad = otlp.span(otlp.new_trace_id(), name="without an id")
    bad.trace_id = bytes(16)
    shop.send(client, [otlp.traces([bad])])
    client.post("/keys", json={"name": "production agents", "scopes": ["ingest"]}).raise_for_status()
    cut = {"filter": {"agent": AGENT}, "kind": "rl", "holdout": 0.3, "name": "refund-desk-rl"}
    made = client.post("/datasets/cut", json=cut).raise_for_status().json()["made"]
    code = client.post("/device/code", json={"name": "cli ana-laptop"}).json()["user_code"]
    return {
        "live": "/",
        "traces": f"/ui/traces?agent={AGENT}",
        "run": f"/ui/traces/{runs['refund']}",
        "cut": f"/ui/cut?agent={AGENT}&holdout=0.3",
        "datasets": "/ui/datasets",
        "dataset": f"/ui/datasets/{made[0]['datasetId']}",
        "agents": "/ui/agents",
        "agent": f"/ui/agents/{AGENT}",
        "training-runs": "/ui/runs",
        "rejections": "/ui/rejections",
        "keys": "/ui/keys",
        "account": "/ui/account",
        "device": f"/device?code={code}",
    }


def take(
    browser: Browser, service: Service, addresses: Mapping[str, str], scheme: Scheme, size: tuple[int, int], ending: str
) -> None:
    context = new_context(browser, service.url, size=size, scheme=scheme)
    page = context.new_page()
    if not ending:
        page.goto("/sign-in")
        picture(page, f"sign-in-{scheme}")
    take_session(context, service.url, service.key)
    for name, address in addresses.items():
        page.goto(address)
        picture(page, f"{name}-{scheme}{ending}")
    context.close()


def picture(page: Page, name: str) -> None:
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    if page.locator("#live").count():
        expect(page.locator("#live[data-drawn]")).to_be_attached()
    time.sleep(0.5)  # for Plotly's last layout
    page.screenshot(path=FOLDER / f"{name}.png")


if __name__ == "__main__":
    sys.exit(main())
