"""The flat facts in SQL are those of the table of dialects."""

from __future__ import annotations

import pytest
from support.otlp import new_span_id, new_trace_id, span, traces
from support.sending import send

from whileai_dialects import FACTS, FLAT_FACTS
from whileai_ingest import Ingest
from whileai_ingest.fact_view import ensure_fact_view

LONG = "m" * 20_000


def told(ingest: Ingest, account: str, columns: str, attributes: dict[str, object]) -> tuple[object, ...]:
    trace_id = new_trace_id()
    send(ingest, account, traces([span(trace_id, attributes=attributes)]))
    (row,) = ingest.store.query(
        f"SELECT {columns} FROM span_facts WHERE account = {{account:String}} AND trace_id = {{trace:String}}",
        {"account": account, "trace": trace_id},
    )
    return row


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("gpt-4o-mini", "gpt-4o-mini"),
        pytest.param("é" * 100, "é" * 100, id="two bytes of length"),
        pytest.param(LONG, LONG, id="three bytes of length"),
        ("", ""),
        (None, ""),
        (42, "42"),
        (-7, "-7"),
        (2**63 - 1, str(2**63 - 1)),
        (True, "true"),
        (False, "false"),
        (0.25, "0.25"),
        ('"quoted"', "quoted"),
        (["a", "list"], ""),
        (b"bytes", ""),
    ],
)
def test_a_value_of_any_kind_is_told_as_text(ingest: Ingest, account: str, value: object, text: str) -> None:
    assert told(ingest, account, "model", {"gen_ai.request.model": value}) == (text,)


def test_the_best_source_wins_and_numbers_are_numbers(ingest: Ingest, account: str) -> None:
    first, second = FLAT_FACTS["input_tokens"][:2]
    columns = "input_tokens, output_tokens, reward"
    told_row = told(ingest, account, columns, {second: "17", first: 420, "whileai.reward": 0.5})
    assert told_row == (420, None, 0.5)
    assert told(ingest, account, columns, {second: "17"}) == (17, None, None)


def test_every_flat_fact_is_told_from_its_first_and_its_last_source(ingest: Ingest, account: str) -> None:
    kinds = {fact.name: fact.kind for fact in FACTS}
    for name, keys in FLAT_FACTS.items():
        value: object = "told" if kinds[name] == "text" else 3
        for key in (keys[0], keys[-1]):
            assert told(ingest, account, name, {key: value}) == (value,), (name, key)


def test_a_span_that_came_twice_is_one_row_with_its_latest_copy(ingest: Ingest, account: str) -> None:
    trace_id, span_id = new_trace_id(), new_span_id()
    for model in ("first", "second"):
        send(ingest, account, traces([span(trace_id, span_id, attributes={"gen_ai.request.model": model})]))
    rows = ingest.store.query("SELECT model FROM span_facts WHERE account = {a:String}", {"a": account})
    assert rows == [("second",)]


def test_a_view_of_an_older_version_is_renewed(ingest: Ingest, account: str) -> None:
    ingest.store.command("CREATE OR REPLACE VIEW span_facts AS SELECT account, trace_id, 'old' AS model FROM spans")
    ensure_fact_view(ingest.store)
    assert told(ingest, account, "model", {"gen_ai.request.model": "new"}) == ("new",)
