"""One run: the conversation, the waterfall, hostile content, ten thousand spans, and a run that is still going."""

from __future__ import annotations

import httpx
from playwright.sync_api import Page, expect
from support import otlp
from support.browser import Complaints
from support.shop import PROTOBUF, crawl

HOSTILE_PROMPT = (
    "<img src=x onerror=\"document.title='owned'\"> look \u202egnp.exe \x1b[31mred\x1b[0m " + "A" * 2_000_000
)
HOSTILE_ANSWER = "<script>document.title='owned'</script><a href=javascript:alert(1)>click</a>"


def post(client: httpx.Client, body: bytes) -> None:
    client.post("/v1/traces", content=body, headers=PROTOBUF).raise_for_status()


def test_a_captured_run_reads_as_a_conversation(page: Page, captured: dict[str, str]) -> None:
    page.goto(f"/ui/traces/{captured['refund']}")
    turns = page.locator(".conversation .turn")
    expect(turns.locator(".who").first).to_be_attached()
    told = turns.all_inner_texts()
    assert told[0].startswith("System prompt")
    assert "Please refund order A-1001" in told[1]
    tool = page.locator(".turn.tool").first
    expect(tool).to_contain_text("lookup_order")
    expect(tool).to_contain_text('{"order_id": "A-1001"}')
    expect(tool).to_contain_text('"item": "teapot"')
    assert "RF-9001" in told[-1]
    expect(page.locator(".facts")).to_contain_text("420 in, 101 out")


def test_a_failed_tool_and_its_error_are_marked(page: Page, captured: dict[str, str]) -> None:
    page.goto(f"/ui/traces/{captured['fail']}")
    expect(page.locator(".turn.tool.failed")).to_contain_text("lookup_order")
    expect(page.locator(".bar-row.error").first).to_be_visible()


def test_the_waterfall_opens_and_folds_and_shows_raw_attributes(page: Page, captured: dict[str, str]) -> None:
    page.goto(f"/ui/traces/{captured['refund']}")
    bars = page.locator(".bar-row")
    expect(bars).to_have_count(6)
    bars.filter(has_text="lookup_order").click()
    expect(page.locator("#span-detail")).to_contain_text("gen_ai.tool.name")
    expect(page.locator("#span-detail")).to_contain_text("service.name")
    page.get_by_role("button", name="Collapse").click()
    expect(bars).to_have_count(1)
    expect(bars.first).to_contain_text("+5")
    page.get_by_role("tree").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(bars).to_have_count(6)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".bar-row[aria-selected=true]")).to_contain_text("chat gpt-4o-mini")


def test_hostile_content_is_shown_as_text_and_folded_and_nothing_runs(page: Page, client: httpx.Client) -> None:
    trace_id = otlp.new_trace_id()
    told = {"prompt": HOSTILE_PROMPT, "answer": HOSTILE_ANSWER, "agent": "<b>hostile</b>", "scenario": "<i>x</i>"}
    post(client, otlp.traces(otlp.chat_run(trace_id, **told)))  # type: ignore[arg-type] # all of them are text
    page.goto(f"/ui/traces/{trace_id}")
    prompt = page.locator(".turn.user")
    expect(prompt).to_contain_text("<img src=x onerror=")
    expect(prompt).to_contain_text("⟨U+202E⟩gnp.exe ⟨ESC⟩[31mred")
    expect(prompt.get_by_text("Show all 2,000,0")).to_be_visible()
    expect(page.locator(".turn.assistant")).to_contain_text(HOSTILE_ANSWER)
    expect(page.locator(".bar-row")).to_have_count(2)
    page.locator(".bar-row").nth(1).click()
    expect(page.locator("#span-detail")).to_contain_text("gen_ai.input.messages")
    assert "owned" not in page.title()
    assert page.locator(".talk img, .talk script, .talk a[href^=javascript], .spans img").count() == 0
    assert len(page.content()) < 400_000
    page.goto("/ui/traces?agent=%3Cb%3Ehostile%3C%2Fb%3E")
    expect(page.locator("#runs")).to_contain_text("<img src=x onerror=")
    page.goto("/")
    expect(page.locator(".feed")).to_contain_text("<b>hostile</b>")
    assert "owned" not in page.title()


def test_the_whole_of_a_long_text_opens_as_nothing_but_text(page: Page, client: httpx.Client) -> None:
    trace_id = otlp.new_trace_id()
    post(client, otlp.traces(otlp.chat_run(trace_id, prompt="<b>" + "long " * 20_000, agent="long-bot")))
    page.goto(f"/ui/traces/{trace_id}")
    page.locator(".turn.user").get_by_text("Show all 100,003 characters").click()
    with page.expect_navigation():
        page.get_by_role("link", name="Open the whole text").click()
    assert page.evaluate("document.contentType") == "text/plain"
    assert len(page.locator("body").inner_text()) >= 100_000


def test_ten_thousand_spans_put_few_of_them_into_the_page(page: Page, client: httpx.Client) -> None:
    trace_id = otlp.new_trace_id()
    post(client, crawl(trace_id, 10_000))
    page.goto(f"/ui/traces/{trace_id}")
    expect(page.locator(".bar-row").first).to_be_visible(timeout=30_000)
    expect(page.locator("#span-count")).to_have_text("10,000")
    page.get_by_role("button", name="Expand").click()
    page.get_by_role("tree").focus()
    page.keyboard.press("End")
    expect(page.locator(".bar-row").filter(has_text="fetch page 9998")).to_be_visible()
    assert page.locator(".bar-row").count() < 120
    expect(page.locator("#span-detail")).to_contain_text("9998")


def test_orphans_stand_as_roots_with_a_note(page: Page, client: httpx.Client) -> None:
    trace_id = otlp.new_trace_id()
    post(client, otlp.traces([otlp.span(trace_id, None, otlp.new_span_id(), "lonely tool")]))
    page.goto(f"/ui/traces/{trace_id}")
    expect(page.locator(".bar-row")).to_contain_text("orphan")


def test_a_run_that_goes_on_is_followed(page: Page, client: httpx.Client) -> None:
    trace_id = otlp.new_trace_id()
    chat, root = otlp.chat_run(trace_id, agent="slow-bot", prompt="Take your time", answer="Here it is.")
    begun = otlp.span(trace_id, None, root.span_id.hex(), "begin")
    post(client, otlp.traces([begun]))
    page.goto(f"/ui/traces/{trace_id}")
    expect(page.locator(".chip.running")).to_be_visible()
    expect(page.locator(".bar-row")).to_have_count(1)
    post(client, otlp.traces([chat, root]))
    expect(page.locator(".conversation")).to_contain_text("Here it is.")
    expect(page.locator(".bar-row")).to_have_count(3)
    expect(page.locator(".chip.running")).to_have_count(0)


def test_grading_shows_the_score_and_keeps_the_earlier_one(page: Page, client: httpx.Client) -> None:
    trace_id = otlp.new_trace_id()
    post(client, otlp.traces(otlp.chat_run(trace_id, agent="twice-bot")))
    page.goto(f"/ui/traces/{trace_id}")
    page.get_by_label("Note").fill("looks right")
    page.get_by_role("button", name="Pass").click()
    expect(page.locator(".run-head .chip.pass")).to_be_visible()
    expect(page.locator(".score-list")).to_contain_text("looks right")
    page.get_by_role("button", name="Fail").click()
    expect(page.locator(".run-head .chip.fail")).to_be_visible()
    expect(page.locator(".score-list")).to_contain_text("1 earlier grading")


def test_a_run_that_is_deleted_elsewhere_says_so(page: Page, client: httpx.Client, complaints: Complaints) -> None:
    trace_id = otlp.new_trace_id()
    post(client, otlp.traces(otlp.chat_run(trace_id, agent="gone-bot")))
    page.goto(f"/ui/traces/{trace_id}")
    expect(page.locator(".bar-row")).to_have_count(2)
    expect(page.locator("#span-detail h3")).to_be_visible()
    client.delete(f"/traces/{trace_id}").raise_for_status()
    expect(page.get_by_text("This run was deleted.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("It may have been deleted")
    complaints.expect("404")


def test_a_run_is_deleted_from_its_page(page: Page, client: httpx.Client) -> None:
    trace_id = otlp.new_trace_id()
    post(client, otlp.traces(otlp.chat_run(trace_id, agent="doomed-bot")))
    page.goto(f"/ui/traces/{trace_id}")
    expect(page.locator("#span-detail h3")).to_be_visible()
    page.get_by_text("Delete this run").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("heading", name="Traces")).to_be_visible()
    assert client.get(f"/traces/{trace_id}").status_code == 404
