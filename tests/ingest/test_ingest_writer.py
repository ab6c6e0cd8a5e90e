"""From the journal into ClickHouse: each item once, each trace one row, whatever the order and the batching."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan
from prometheus_client import CollectorRegistry
from support.otlp import chat_run, event, log_record, logs, new_span_id, new_trace_id, span, traces
from support.sending import send

from whileai_dialects import Span, summarise
from whileai_ingest import Ingest, Receipt, ScoreRow, Signal, Store
from whileai_ingest.door import check_spans
from whileai_ingest.frames import SPAN_SCHEMA, Context, Item, span_ids, split, stream
from whileai_ingest.items import TraceItems
from whileai_ingest.journal import Journal
from whileai_ingest.protowire import bytes_field, varint_field
from whileai_ingest.reading import read_traces
from whileai_ingest.records import Kind, Record


def run_row(ingest: Ingest, account: str, trace_id: str) -> dict[str, Any]:
    columns = (
        "agent, model, scenario_id, span_count, has_root, prompt, final_text, reward, verdict, input_tokens, status"
    )
    rows = ingest.store.query(
        f"SELECT {columns} FROM runs FINAL WHERE account = {{account:String}} AND trace_id = {{trace:String}}",
        {"account": account, "trace": trace_id},
    )
    assert len(rows) == 1, f"{len(rows)} rows for one trace"
    return dict(zip(columns.split(", "), rows[0], strict=True))


def score(ingest: Ingest, account: str, *rows: ScoreRow) -> None:
    asyncio.run(ingest.accept_scores(account, rows))
    assert ingest.settle(60)


def test_an_acknowledged_trace_is_a_run(ingest: Ingest, account: str) -> None:
    trace_id = new_trace_id()
    send(ingest, account, traces(chat_run(trace_id, scenario="sc_1", reward=1.0)))
    row = run_row(ingest, account, trace_id)
    assert (row["agent"], row["model"], row["scenario_id"]) == ("refund-bot", "gpt-4o-mini", "sc_1")
    assert (row["prompt"], row["final_text"]) == ("Please refund order A-1001", "Done.")
    assert (row["reward"], row["verdict"], row["input_tokens"], row["span_count"]) == (1.0, "pass", 20, 2)


def test_resends_in_any_batching_and_order_change_no_number(ingest: Ingest, account: str) -> None:
    trace_id = new_trace_id()
    spans = chat_run(trace_id, reward=1.0)
    send(ingest, account, traces(spans))
    before = run_row(ingest, account, trace_id)
    dice = random.Random(7)
    for _ in range(5):
        shuffled = dice.sample(spans, len(spans))
        send(ingest, account, traces(shuffled))
        for one in shuffled:
            send(ingest, account, traces([one]))
    assert run_row(ingest, account, trace_id) == before


def test_resends_within_and_after_the_silence_do_not_move_when_a_run_without_a_root_was_complete() -> None:
    (sent,) = check_spans("acc", traces([span(new_trace_id(), parent=new_span_id())])).items
    orphan = Span.from_frame(next(split(stream([sent], 1))))
    quiet, moments = 60, []
    items = TraceItems()
    for arrival in (100, 150, 300, 1_000):
        items.add_span(replace(orphan, version=arrival, first_arrival=arrival))
        moments.append(items.completed_at(quiet))
    assert moments == [160, 160, 160, 160]


def test_the_order_of_arrival_changes_no_fact(ingest: Ingest, account: str) -> None:
    rows = []
    for order in (1, -1):
        trace_id = new_trace_id()
        for one in chat_run(trace_id, scenario="s", reward=0.0, start=10**18)[::order]:
            send(ingest, account, traces([one]))
        rows.append(run_row(ingest, account, trace_id))
    assert rows[0] == rows[1]


def test_a_span_that_comes_again_with_other_content_replaces_what_was_there(ingest: Ingest, account: str) -> None:
    trace_id = new_trace_id()
    chat, root = chat_run(trace_id, answer="first answer")
    send(ingest, account, traces([chat, root]))
    replaced, _ = chat_run(trace_id, answer="second answer")
    replaced.span_id, replaced.parent_span_id = chat.span_id, root.span_id
    send(ingest, account, traces([replaced]))
    row = run_row(ingest, account, trace_id)
    assert (row["final_text"], row["span_count"]) == ("second answer", 2)


def test_a_root_that_never_comes_still_makes_a_run(ingest: Ingest, account: str) -> None:
    trace_id = new_trace_id()
    chat, _ = chat_run(trace_id)
    send(ingest, account, traces([chat]))
    row = run_row(ingest, account, trace_id)
    assert (row["has_root"], row["span_count"], row["prompt"]) == (0, 1, "Please refund order A-1001")


def test_log_records_join_their_span_whichever_comes_first(ingest: Ingest, account: str) -> None:
    for logs_first in (True, False):
        trace_id, span_id = new_trace_id(), new_span_id()
        bare = span(
            trace_id, span_id, name="chat m", attributes={"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
        )
        told = logs(
            [
                log_record(trace_id, span_id, "gen_ai.user.message", {"content": "the ask"}),
                log_record(trace_id, span_id, "gen_ai.choice", {"index": 0, "message": {"content": "the answer"}}),
            ]
        )
        steps = [(traces([bare]), Signal.TRACES), (told, Signal.LOGS)]
        for body, signal in reversed(steps) if logs_first else steps:
            send(ingest, account, body, signal)
        row = run_row(ingest, account, trace_id)
        assert (row["prompt"], row["final_text"]) == ("the ask", "the answer"), f"{logs_first=}"


def test_a_score_may_come_before_its_trace(ingest: Ingest, account: str) -> None:
    trace_id = new_trace_id()
    score(ingest, account, ScoreRow(trace_id, "score", 0.0))
    assert run_row(ingest, account, trace_id)["span_count"] == 0
    send(ingest, account, traces(chat_run(trace_id)))
    assert run_row(ingest, account, trace_id)["verdict"] == "fail"


def test_a_correction_by_call_beats_a_resent_span(ingest: Ingest, account: str) -> None:
    trace_id = new_trace_id()
    spans = chat_run(trace_id, reward=1.0)
    send(ingest, account, traces(spans))
    score(ingest, account, ScoreRow(trace_id, "score", 0.0))
    send(ingest, account, traces(spans))
    row = run_row(ingest, account, trace_id)
    assert (row["reward"], row["verdict"]) == (0.0, "fail")


def test_a_deleted_trace_is_gone_and_a_new_one_with_its_id_is_new(ingest: Ingest, account: str) -> None:
    trace_id = new_trace_id()
    old = chat_run(trace_id, answer="old")
    send(ingest, account, traces(old))
    score(ingest, account, ScoreRow(trace_id, "score", 1.0))
    asyncio.run(ingest.accept_deletion(account, [trace_id]))
    assert ingest.settle(60)
    assert read_traces(ingest.store, account, [trace_id]) == {}
    new = chat_run(trace_id, answer="new")
    send(ingest, account, traces(new))
    row = run_row(ingest, account, trace_id)
    assert (row["final_text"], row["span_count"], row["verdict"]) == ("new", 2, "")


def test_the_same_trace_id_under_two_accounts_is_two_runs(ingest: Ingest, account: str) -> None:
    trace_id = new_trace_id()
    other = account + "_other"
    send(ingest, account, traces(chat_run(trace_id, answer="mine")))
    send(ingest, other, traces(chat_run(trace_id, answer="yours")))
    assert run_row(ingest, account, trace_id)["final_text"] == "mine"
    assert run_row(ingest, other, trace_id)["final_text"] == "yours"


@contextmanager
def another_process(ingest: Ingest, folder: Path, *, shared: bool = False) -> Iterator[Ingest]:
    """A journal and writer that knows of the other one only what is in ClickHouse."""
    store = Store(ingest.store.url)
    other = Ingest(folder, store, CollectorRegistry(), journal_max_bytes=1 << 30, shared=shared)
    other.start()
    try:
        yield other
    finally:
        assert other.close()


def test_what_the_writer_does_not_remember_it_reads_back_equal(ingest: Ingest, account: str, tmp_path: Path) -> None:
    trace_id = new_trace_id()
    chat, root = chat_run(trace_id, scenario="s")
    chat.events.append(event("first token", {"n": 1}, 5))
    send(ingest, account, traces([chat]))
    with another_process(ingest, tmp_path) as other:
        send(other, account, traces([root]))
    row = run_row(ingest, account, trace_id)
    assert (row["span_count"], row["final_text"], row["scenario_id"]) == (2, "Done.", "s")
    items = read_traces(ingest.store, account, [trace_id])[trace_id]
    assert summarise(list(items.spans.values())).final_text == "Done."


def test_two_collectors_that_each_hold_half_of_a_trace_agree_in_the_end(
    ingest: Ingest, account: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whileai_ingest.run_writer.AGAIN_SECONDS", 0.5)
    halves = {new_trace_id(): None for _ in range(20)}
    with (
        another_process(ingest, tmp_path / "one", shared=True) as one,
        another_process(ingest, tmp_path / "two", shared=True) as two,
    ):
        for trace_id in halves:
            chat, root = chat_run(trace_id, scenario="s")
            asyncio.run(
                _both(
                    one.accept(account, Signal.TRACES, traces([chat])),
                    two.accept(account, Signal.TRACES, traces([root])),
                )
            )
        assert one.settle(60)
        assert two.settle(60)
        deadline = time.monotonic() + 20
        while wrong := [trace_id for trace_id in halves if run_row(ingest, account, trace_id)["span_count"] != 2]:
            assert time.monotonic() < deadline, f"{len(wrong)} runs know only half of their spans"
            time.sleep(0.2)
        assert run_row(ingest, account, next(iter(halves)))["final_text"] == "Done."


async def _both(*accepting: Awaitable[Receipt]) -> None:
    await asyncio.gather(*accepting)


def test_a_span_of_five_megabytes_comes_back_whole(ingest: Ingest, account: str) -> None:
    trace_id, big = new_trace_id(), "x\0y" * 1_700_000
    send(ingest, account, traces([span(trace_id, attributes={"big": big, "bytes": b"\0\xff"})]))
    (stored,) = read_traces(ingest.store, account, [trace_id])[trace_id].spans.values()
    assert stored.attributes["big"] == big
    assert stored.attributes["bytes"] == b"\0\xff"


def test_a_batch_over_150_days_is_taken_whole(ingest: Ingest, account: str) -> None:
    trace_id, now = new_trace_id(), time.time_ns()
    days = [span(trace_id, start=now - day * 86_400 * 10**9) for day in range(150)]
    send(ingest, account, traces(days))
    assert run_row(ingest, account, trace_id)["span_count"] == 150


@pytest.mark.parametrize(
    "odd",
    [
        b"\xa3\x06\x08\x01\xa4\x06",  # a group
        varint_field(6, 2**31 + 5),  # a kind beyond int32
        varint_field(10, 2**40),
        varint_field(7, 5),  # known fields in another wire type
        bytes_field(16, b"abc"),
        bytes_field(9, bytes_field(1, b"k") + varint_field(2, 3)),
        b"\xf8\x80\x80\x80\x00\x05",  # an overlong tag
        bytes_field(1004, b"another account") + varint_field(1007, 7),
    ],
)
def test_what_protobuf_takes_and_clickhouse_does_not_is_written_all_the_same(
    ingest: Ingest, account: str, odd: bytes
) -> None:
    trace_id, other = new_trace_id(), new_trace_id()
    raws = [span(trace_id, name="odd").SerializeToString() + odd, span(other).SerializeToString()]
    scope = b"".join(bytes_field(2, raw) for raw in raws)
    send(ingest, account, bytes_field(1, bytes_field(2, scope)))
    found = read_traces(ingest.store, account, [trace_id, other])
    assert [one.name for one in found[trace_id].spans.values()] == ["odd"]
    assert len(found[other].spans) == 1


def test_an_unwritable_frame_goes_to_quarantine_and_costs_only_itself(ingest: Ingest, account: str) -> None:
    trace_id = new_trace_id()
    good = [one.SerializeToString() for one in chat_run(trace_id)]
    context = Context.of(account, b"", b"", b"", b"")
    items = [Item(raw, _ids(raw), context) for raw in good]
    # A frame the door would never let through: there is no wire type 7.
    bad = Item(b"\x4f\x01", _ids(good[0]), context)
    payload = stream([items[0], bad, items[1]], 1)
    ingest.writer.write_frames("spans", SPAN_SCHEMA, [Record(Kind.SPANS, account, 1, 3, payload)])
    stored = ingest.store.query(
        "SELECT count() FROM spans WHERE account = {account:String} AND trace_id = {trace:String}",
        {"account": account, "trace": trace_id},
    )
    kept = ingest.store.query("SELECT kind FROM quarantine WHERE account = {account:String}", {"account": account})
    assert stored == [(2,)]
    assert kept == [("spans",)]


def test_a_flipped_byte_in_the_journal_costs_its_record_and_is_kept_raw(
    ingest: Ingest, account: str, tmp_path: Path
) -> None:
    folder, trace_ids = tmp_path / "journal", [new_trace_id() for _ in range(3)]
    left_behind = Journal(folder, max_bytes=1 << 30)
    for number, trace_id in enumerate(trace_ids):
        items = check_spans(account, traces(chat_run(trace_id, answer=f"answer {number}"))).items
        left_behind.append(Kind.SPANS, account, len(items), partial(stream, items), 1000).result(10)
    left_behind.close()
    (segment,) = folder.glob("*.segment")
    segment.write_bytes(segment.read_bytes().replace(b"answer 1", b"answer !"))
    replaying = Ingest(folder, Store(ingest.store.url), CollectorRegistry(), journal_max_bytes=1 << 30)
    replaying.start()
    try:
        assert replaying.settle(60)
        found = read_traces(ingest.store, account, trace_ids)
        kept = ingest.store.query("SELECT raw FROM quarantine WHERE kind = 'journal'", as_bytes=("raw",))
    finally:
        replaying.close()
    assert set(found) == {trace_ids[0], trace_ids[2]}
    assert any(b"answer !" in raw for (raw,) in kept)


def _ids(raw: bytes) -> bytes:
    parsed = OtlpSpan.FromString(raw)
    return span_ids(parsed.trace_id, parsed.span_id, parsed.parent_span_id)
