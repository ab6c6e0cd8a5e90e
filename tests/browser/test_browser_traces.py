"""The list of runs: filters in the address, pages, search, grading in place, and making a cut from it."""

from __future__ import annotations

import json
import re

import httpx
from playwright.sync_api import Page, expect
from support import otlp
from support.browser import Complaints
from support.service import Service

from whileai_query.pages.formats import many


def send_runs(client: httpx.Client, agent: str, prompts: list[str]) -> list[str]:
    ids = [otlp.new_trace_id() for _ in prompts]
    spans = [
        span
        for number, (trace_id, prompt) in enumerate(zip(ids, prompts, strict=True))
        for span in otlp.chat_run(trace_id, agent=agent, prompt=prompt, scenario=f"{agent}-{number}")
    ]
    headers = {"content-type": "application/x-protobuf"}
    client.post("/v1/traces", content=otlp.traces(spans), headers=headers).raise_for_status()
    return ids


def test_real_traces_are_listed_with_what_was_asked_and_answered(page: Page, captured: dict[str, str]) -> None:
    page.goto("/ui/traces?agent=RefundBot")
    row = page.locator(f"tr[data-trace='{captured['refund']}']")
    expect(row).to_contain_text("Please refund order A-1001, the teapot arrived broken.")
    expect(row).to_contain_text("refund id RF-9001")
    expect(row).to_contain_text("gpt-4o-mini")
    row.get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="RefundBot")).to_be_visible()


def test_every_filter_of_the_form_stands_in_the_address_and_can_be_taken_away(
    page: Page, service: Service, shop_agent: str
) -> None:
    page.goto("/ui/traces")
    page.get_by_label("Agent").fill(shop_agent)
    page.get_by_label("Verdict").select_option("fail")
    page.get_by_label("Search").fill("charged twice")
    page.get_by_role("button", name="Filter").click()
    expect(page).to_have_url(f"{service.url}/ui/traces?q=charged+twice&agent=Shop+Desk&verdict=fail")
    verdicts = page.locator("#runs .standing")
    assert verdicts.count() > 0
    assert set(verdicts.all_inner_texts()) == {"fail"}
    page.get_by_role("link", name="Verdict: fail").click()
    expect(page).to_have_url(f"{service.url}/ui/traces?q=charged+twice&agent=Shop+Desk")
    expect(page.locator("#runs tbody tr")).to_have_count(10)


def test_a_filter_field_suggests_what_there_is(page: Page, shop_agent: str) -> None:
    page.goto("/ui/traces")
    page.get_by_label("Agent").focus()
    expect(page.locator(f"#l-agent option[value='{shop_agent}']")).to_be_attached()
    expect(page.locator("#l-scenario option[value='late-parcel']")).to_be_attached()


def test_a_filter_that_makes_no_sense_is_said_beside_the_form(page: Page, complaints: Complaints) -> None:
    page.goto("/ui/traces?from=yesterday&agent=somebody")
    expect(page.get_by_role("alert")).to_contain_text("from='yesterday' is no time")
    expect(page.get_by_label("Agent")).to_have_value("somebody")
    complaints.expect("400")


def test_pages_show_each_run_once(page: Page, shop_agent: str) -> None:
    seen: list[str] = []
    page.goto(f"/ui/traces?agent={shop_agent}")
    while True:
        seen += [str(row.get_attribute("data-trace")) for row in page.locator("#runs tbody tr").all()]
        older = page.get_by_role("link", name="Older")
        if not older.count():
            break
        older.click()
        expect(page.get_by_role("link", name="Newest")).to_be_visible()
    assert (len(seen), len(set(seen))) == (120, 120)


def test_times_are_the_viewers_with_utc_on_hover(page: Page, client: httpx.Client) -> None:
    start = 1_767_268_800_000_000_000  # 2026-01-01 12:00:00 UTC
    spans = otlp.chat_run(otlp.new_trace_id(), agent="clock-bot", start=start)
    headers = {"content-type": "application/x-protobuf"}
    client.post("/v1/traces", content=otlp.traces(spans), headers=headers).raise_for_status()
    page.goto("/ui/traces?agent=clock-bot")
    shown = page.locator("#runs time")
    expect(shown).to_have_text("01-01 13:00:00")
    expect(shown).to_have_attribute("title", "2026-01-01 12:00:00 UTC")


def test_a_run_is_graded_in_its_row(page: Page, client: httpx.Client) -> None:
    (trace_id,) = send_runs(client, "graded-bot", ["Grade me"])
    page.goto("/ui/traces?agent=graded-bot")
    row = page.locator(f"tr[data-trace='{trace_id}']")
    expect(row.locator(".standing")).to_have_text("ungraded")
    row.get_by_role("button", name="Grade this run as a pass").click()
    expect(row.locator(".standing")).to_have_text("pass")
    run = client.get(f"/traces/{trace_id}", params={"spans": "0"}).json()
    assert (run["verdict"], run["reward"]) == ("pass", 1.0)


def test_a_note_is_kept_with_the_score_and_who_gave_it(page: Page, client: httpx.Client) -> None:
    (trace_id,) = send_runs(client, "noted-bot", ["Grade me with a note"])
    page.goto("/ui/traces?agent=noted-bot")
    page.get_by_role("button", name="Grade this run with a note").click()
    expect(page.get_by_role("dialog")).to_contain_text("Grade me with a note")
    page.get_by_role("textbox", name="Note").fill("It promised <b>what it cannot</b> do")
    page.get_by_role("dialog").get_by_role("button", name="Fail").click()
    expect(page.locator(f"tr[data-trace='{trace_id}'] .standing")).to_have_text("fail")
    (score,) = client.get(f"/traces/{trace_id}", params={"spans": "0"}).json()["scores"]
    assert score["note"] == "It promised <b>what it cannot</b> do"
    page.goto(f"/ui/traces/{trace_id}")
    expect(page.locator(".score-list")).to_contain_text("It promised <b>what it cannot</b> do")
    expect(page.locator(".score-list")).to_contain_text(f"by {score['by']}")


def test_without_a_script_a_row_is_graded_by_its_form(page: Page, client: httpx.Client) -> None:
    (trace_id,) = send_runs(client, "plain-bot", ["No script here"])
    page.route("**/*.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto("/ui/traces?agent=plain-bot")
    page.get_by_role("button", name="Grade this run as a fail").click()
    expect(page.locator(f"tr[data-trace='{trace_id}'] .standing")).to_have_text("fail")
    expect(page).to_have_url(re.compile(r"/ui/traces\?agent=plain-bot$"))


def test_the_sentence_leads_to_a_cut_that_shows_what_it_makes_first(
    page: Page, client: httpx.Client, shop_agent: str
) -> None:
    report = client.get("/traces/cuts", params={"agent": shop_agent}).json()
    page.goto(f"/ui/traces?agent={shop_agent}")
    expect(page.locator(".sentence")).to_contain_text(f"{report['rl']['prompts']} tasks are worth training on")
    page.get_by_role("link", name="Make training data…").click()
    tile = page.locator(".cut-outcome .tile")
    expect(tile.filter(has_text="Rows").locator("dd")).to_have_text(str(report["rl"]["rows"]))
    expect(tile.filter(has_text="Held out").locator("dd")).to_have_text(many(report["rl"]["holdout"], "task"))
    expect(page.get_by_role("row").filter(has_text="gift-note")).to_contain_text("nothing to learn")
    page.get_by_label("Name of the set").fill("desk-rl")
    page.get_by_role("button", name="Make both sets").click()
    expect(page.get_by_text("The set is made.")).to_be_visible()
    made = {row["name"]: row for row in client.get("/datasets", params={"agent": shop_agent}).json()["datasets"]}
    assert made["desk-rl"]["rows"] + made["desk-rl-holdout"]["rows"] == report["rl"]["rows"]
    page.get_by_role("status").get_by_role("link", name="desk-rl-holdout").click()
    expect(page.get_by_role("heading", name="desk-rl-holdout")).to_be_visible()


def test_a_cut_of_nothing_says_why_and_a_wrong_band_is_refused(
    page: Page, client: httpx.Client, complaints: Complaints
) -> None:
    send_runs(client, "ungraded-bot", ["one", "two"])
    page.goto("/ui/cut?agent=ungraded-bot")
    expect(page.get_by_text("none of the 2 runs of 2 tasks is graded")).to_be_visible()
    expect(page.get_by_role("button", name="Make")).to_have_count(0)
    page.goto("/ui/cut?agent=ungraded-bot&lo=0.9&hi=0.1")
    expect(page.get_by_role("alert")).to_contain_text("upside down")
    complaints.expect("400")


def test_a_change_without_the_sessions_token_is_refused(page: Page, client: httpx.Client, service: Service) -> None:
    (trace_id,) = send_runs(client, "forged-bot", ["Who asks?"])
    answer = page.request.post(
        f"{service.url}/ui/traces/{trace_id}/grade", form={"verdict": "pass"}, headers={"accept": "application/json"}
    )
    assert answer.status == 403
    score = page.request.post(
        f"{service.url}/v1/scores", data=json.dumps({"traceId": trace_id, "value": 1}), headers={"accept": "*/*"}
    )
    assert score.status == 403
    assert client.get(f"/traces/{trace_id}", params={"spans": "0"}).json()["scores"] == []
