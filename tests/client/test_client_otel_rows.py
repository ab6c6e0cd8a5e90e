"""Rows out of OTLP that went to no service."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import whileai.simulations as wai

START = 1_700_000_000_000_000_000


def span(trace: str, number: str, at: int, **facts: str | float) -> dict[str, Any]:
    values = {key.replace("__", "."): value for key, value in facts.items()}
    return {
        "traceId": trace * 32,
        "spanId": number * 16,
        "name": "agent",
        "startTimeUnixNano": str(START + at),
        "endTimeUnixNano": str(START + at + 10),
        "attributes": [
            {"key": key, "value": {"stringValue": value} if isinstance(value, str) else {"doubleValue": value}}
            for key, value in values.items()
        ],
    }


def document(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


ONE = document(span("a", "1", 0, gen_ai__prompt="ask", gen_ai__completion="reply", whileai__reward=1.0))
TWO_TURNS = document(
    span("b", "2", 1000, gen_ai__prompt="second", gen_ai__completion="two", gen_ai__conversation__id="c1"),
    span("a", "1", 0, gen_ai__prompt="first", gen_ai__completion="one", session__id="c1", whileai__reward=0.0),
    span("c", "3", 2000, gen_ai__prompt="other", gen_ai__completion="x", whileai__scenario_id="sc_9"),
)


def sdk_spans() -> Any:
    memory, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    with provider.get_tracer("t").start_as_current_span("agent") as running:
        running.set_attributes({"gen_ai.prompt": "ask", "gen_ai.completion": "reply", "whileai.reward": 1.0})
    return memory.get_finished_spans()


def protobuf() -> bytes:
    data = ParseDict(
        document({**ONE["resourceSpans"][0]["scopeSpans"][0]["spans"][0], "traceId": "", "spanId": ""}), TracesData()
    )
    data.resource_spans[0].scope_spans[0].spans[0].trace_id = b"\xaa" * 16
    data.resource_spans[0].scope_spans[0].spans[0].span_id = b"\x11" * 8
    return data.SerializeToString()


@pytest.mark.parametrize(
    "source",
    [
        lambda: ONE,
        lambda: [ONE],
        lambda: ONE["resourceSpans"][0]["scopeSpans"][0]["spans"],
        lambda: json.dumps(ONE),
        lambda: json.dumps(ONE, indent=1).encode(),
        lambda: gzip.compress(json.dumps(ONE).encode()),
        protobuf,
        sdk_spans,
    ],
    ids=["document", "documents", "spans", "text", "body", "gzip", "protobuf", "sdk"],
)
def test_one_run_is_the_same_row_from_every_source(source: Callable[[], Any]) -> None:
    (row,) = wai.rows_from_otel(source())
    assert (row["prompt"], row["final_text"], row["reward"]) == ("ask", "reply", 1)
    assert [(m["role"], m["content"]) for m in row["messages"]] == [("user", "ask"), ("assistant", "reply")]


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.json.gz", "t.pb"])
def test_files_and_folders_are_read_whatever_their_form(tmp_path: Path, name: str) -> None:
    text = json.dumps(ONE).encode()
    body = {"t.jsonl": text + b"\n" + text + b"\n", "t.json.gz": gzip.compress(text), "t.pb": protobuf()}.get(
        name, text
    )
    (tmp_path / name).write_bytes(body)
    (tmp_path / "notes.txt").write_text("not telemetry")
    (tmp_path / "t.headers.json").write_text("{}")
    for source in (tmp_path / name, str(tmp_path / name), tmp_path):
        assert [row["prompt"] for row in wai.rows_from_otel(source)] == ["ask"]


def test_traces_of_one_conversation_are_one_row_in_the_order_of_time() -> None:
    conversation, other = wai.rows_from_otel(TWO_TURNS)
    assert [message["content"] for message in conversation["messages"]] == ["first", "one", "second", "two"]
    assert (conversation["prompt"], conversation["final_text"]) == ("first", "two")
    assert (conversation["conversation_id"], conversation["ts"], conversation["reward"]) == ("c1", START, 0)
    assert [step for step in conversation["steps"] if "user" in step] == [{"user": "second"}]
    assert conversation["lineage"]["trace_ids"] == ["a" * 32, "b" * 32]
    assert (other["conversation_id"], other["scenario_id"]) == ("c" * 32, "sc_9")
    assert "reward" not in other


def test_a_turn_that_carries_the_history_does_not_repeat_it() -> None:
    history = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "one"},
        {"role": "user", "content": "second"},
    ]
    later = span(
        "b", "2", 1000, session__id="c1", gen_ai__input__messages=json.dumps(history), gen_ai__completion="two"
    )
    first = span("a", "1", 0, session__id="c1", gen_ai__prompt="first", gen_ai__completion="one")
    (row,) = wai.rows_from_otel(document(first, later))
    assert [message["content"] for message in row["messages"]] == ["first", "one", "second", "two"]


@pytest.mark.parametrize(("sent", "kept"), [(1.0, 1), (0.0, 0), (0.25, 0.25), (3.0, None), (-1.0, None)])
def test_a_reward_outside_zero_to_one_is_left_out(sent: float, kept: float | None) -> None:
    (row,) = wai.rows_from_otel(document(span("a", "1", 0, gen_ai__prompt="ask", whileai__reward=sent)))
    assert row.get("reward") == kept


def test_a_reward_of_ones_own_name_is_read_when_named() -> None:
    traces = document(span("a", "1", 0, gen_ai__prompt="ask", my__reward=0.5))
    assert "reward" not in wai.rows_from_otel(traces)[0]
    assert wai.rows_from_otel(traces, reward_keys=("my.reward",))[0]["reward"] == 0.5


def test_a_span_that_lies_there_twice_counts_once() -> None:
    first = document(
        span("a", "1", 0, gen_ai__prompt="ask", gen_ai__completion="early", gen_ai__usage__input_tokens=5.0)
    )
    again = document(
        span("a", "1", 0, gen_ai__prompt="ask", gen_ai__completion="late", gen_ai__usage__input_tokens=5.0)
    )
    (row,) = wai.rows_from_otel([first, again])
    assert (row["final_text"], row["usage"]["input_tokens"]) == ("late", 5)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (7, "cannot be read from a int"),
        (b"{half", "the body is not JSON"),
        (b"\xff\xff\xff", "neither JSON nor OTLP protobuf"),
        ({"resourceSpans": 7}, "not an OTLP document"),
        (document(span("z", "1", 0)), "not an OTLP document"),
    ],
)
def test_what_is_no_otlp_is_said_so(source: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wai.rows_from_otel(source)


def test_no_traces_are_no_rows() -> None:
    assert wai.rows_from_otel([]) == []
    assert wai.rows_from_otel(document()) == []
