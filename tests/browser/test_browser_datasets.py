"""Datasets and agents: the list by purpose, the family, the profile, rows that lead to their runs, publishing."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Page, expect
from support.service import Service


@pytest.fixture(scope="module")
def cut(client: httpx.Client, shop_agent: str) -> dict[str, str]:
    """A cut of the shop's agent: role -> dataset id."""
    body = {"filter": {"agent": shop_agent}, "kind": "rl", "name": "shop-cut"}
    made = client.post("/datasets/cut", json=body).raise_for_status().json()["made"]
    return {entry["role"]: entry["datasetId"] for entry in made}


def test_sets_are_grouped_by_purpose_with_their_other_side(page: Page, cut: dict[str, str]) -> None:
    page.goto("/ui/datasets")
    train = page.get_by_role("region", name="train sets").get_by_role("row").filter(has_text="shop-cut").first
    expect(train.get_by_role("link", name="⇄ shop-cut-holdout")).to_have_attribute(
        "href", f"/ui/datasets/{cut['holdout']}"
    )
    expect(page.get_by_role("region", name="eval sets")).to_contain_text("from traces")


def test_a_profile_is_drawn_from_the_apis_numbers(page: Page, client: httpx.Client, cut: dict[str, str]) -> None:
    profile = client.get(f"/datasets/{cut['train']}/profile").json()["profile"]
    page.goto(f"/ui/datasets/{cut['train']}")
    tile = page.locator("#profile .tile")
    expect(tile.filter(has_text="Mixed tasks").locator("dd")).to_have_text(str(profile["mixed_tasks"]))
    expect(tile.filter(has_text="Passed").locator("dd")).to_have_text(str(profile["split"]["pass"]))
    for chart in ("rates", "lengths", "tools"):
        expect(page.locator(f"#chart-{chart} svg.main-svg").first).to_be_visible()


def test_a_row_leads_to_its_run_and_the_run_back_to_its_row(page: Page, cut: dict[str, str], service: Service) -> None:
    page.goto(f"/ui/datasets/{cut['train']}")
    expect(page.locator("#rows .row")).to_have_count(3)
    page.locator("#rows").get_by_role("link", name="Later").click()
    expect(page.locator("#rows")).to_contain_text("row 4")
    page.locator("#rows .row").nth(1).get_by_role("link", name="its run").click()
    page.get_by_role("link", name="shop-cut, row 5").click()
    expect(page).to_have_url(f"{service.url}/ui/datasets/{cut['train']}?row=4#rows")


def test_the_rows_download_without_a_key_by_their_link(page: Page, client: httpx.Client, cut: dict[str, str]) -> None:
    page.goto(f"/ui/datasets/{cut['holdout']}")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download JSONL").click()
    lines = waiting.value.path().read_bytes().splitlines()
    assert len(lines) == client.get(f"/datasets/{cut['holdout']}").json()["rows"]


def test_a_set_is_published_under_a_card_and_taken_back(page: Page, client: httpx.Client, cut: dict[str, str]) -> None:
    page.goto(f"/ui/datasets/{cut['train']}")
    page.get_by_label("What it is").fill("Graded shop conversations.")
    page.get_by_role("button", name="Publish").click()
    expect(page.locator(".head .chip", has_text="public")).to_be_visible()
    cards = {card["datasetId"]: card for card in client.get("/catalog").json()["datasets"]}
    assert cards[cut["train"]]["description"] == "Graded shop conversations."
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("button", name="Publish")).to_be_visible()
    assert cut["train"] not in {card["datasetId"] for card in client.get("/catalog").json()["datasets"]}


def test_an_agents_page_has_its_traffic_its_sets_and_an_honest_empty_verdict(
    page: Page, client: httpx.Client, shop_agent: str, cut: dict[str, str]
) -> None:
    page.goto("/ui/agents")
    row = page.get_by_role("row").filter(has_text=shop_agent)
    (listed,) = [agent for agent in client.get("/agents").json()["agents"] if agent["name"] == shop_agent]
    expect(row.get_by_role("cell").first).to_have_text(str(listed["traces"]))
    row.get_by_role("link", name=shop_agent).click()
    expect(page.get_by_text("No version has been scored on a held-out test yet")).to_be_visible()
    expect(page.get_by_role("button", name="Promote")).to_be_disabled()
    expect(page.get_by_role("region", name="Versions")).to_contain_text("v2")
    expect(page.get_by_role("link", name="shop-cut", exact=True).first).to_have_attribute(
        "href", f"/ui/datasets/{cut['train']}"
    )
    expect(page.get_by_text("tasks are worth training on")).to_be_visible()
