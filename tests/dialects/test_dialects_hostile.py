"""Whatever a trace holds, summarising it answers: bad trees, bad times, bad values, and very many spans."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whileai_dialects import FLAT_FACTS, Attributes, Event, LogRecord, Run, Span, encode_value, row_of, summarise
from whileai_dialects.table import FACT

TRACE = "0af7651916cd43dd8448eb211c80319c"
MANY = 10_000


def span(number: int, parent: int | None = None, attributes: Mapping[str, object] | None = None, **more: Any) -> Span:
    values = {"start": 1_000 + number, "end": 1_001 + number, "version": 5, "first_arrival": 5} | more
    above = "" if parent is None else f"{parent:016x}"
    return Span(TRACE, f"{number:016x}", above, attributes=Attributes.of(attributes or {}), **values)


def chat(number: int, parent: int | None, **attributes: object) -> Span:
    told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o-mini"}
    return span(number, parent, {**told, **{key.replace("__", "."): value for key, value in attributes.items()}})


def said(*messages: tuple[str, str]) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in messages])


def test_no_spans_make_an_empty_run() -> None:
    assert summarise([]) == Run(trace_id="")


def test_a_span_that_is_its_own_parent_stands_at_the_top() -> None:
    run = summarise([span(1, 1, {"gen_ai.agent.name": "A", "gen_ai.operation.name": "invoke_agent"})])
    assert (run.agent, run.span_count, run.has_root) == ("A", 1, False)
    assert run.notes == ["1 spans are their own ancestors and stand at the top: 0000000000000001"]


def test_a_ring_of_spans_is_cut_at_its_earliest() -> None:
    ring = [span(1, 3), span(2, 1), span(3, 2)]
    assert summarise(ring).notes == ["1 spans are their own ancestors and stand at the top: 0000000000000001"]


def test_two_roots_are_said() -> None:
    assert summarise([span(1), span(2)]).notes == ["there are 1 more roots than one: 0000000000000002"]


def test_a_parent_that_never_came_is_said_and_the_child_read() -> None:
    run = summarise([chat(2, 1, gen_ai__input__messages=said(("user", "hi")))])
    assert (run.prompt, run.has_root) == ("hi", False)
    assert run.notes == ["1 spans name a parent that has not arrived: 0000000000000002"]


def test_times_are_clamped_for_the_view() -> None:
    run = summarise([span(1, start=0, end=90), span(2, 1, start=50, end=40), span(3, 1, start=60, end=0)])
    assert (run.start, run.end) == (50, 90)
    assert summarise([span(1, start=0, end=0, first_arrival=7)]).start == 7


def test_tokens_that_came_as_text_count_and_other_text_does_not() -> None:
    told = {
        "gen_ai.usage.input_tokens": "120",
        "gen_ai.usage.output_tokens": "many",
        "gen_ai.usage.reasoning_tokens": True,
    }
    usage = summarise([chat(1, None, **told)]).usage
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens) == (120, None, None)


@pytest.mark.parametrize("tokens", [-5, float("nan"), float("inf"), b"12", [1], {"a": 1}, "1e999"])
def test_numbers_that_are_none_are_not_reported(tokens: object) -> None:
    assert summarise([chat(1, None, gen_ai__usage__input_tokens=tokens)]).usage.input_tokens is None


def test_nul_and_surrogates_travel_as_text() -> None:
    text = '[{"role": "user", "parts": [{"type": "text", "content": "a\\u0000b \\ud83d c"}]}]'
    run = summarise([chat(1, None, gen_ai__input__messages=text)])
    assert run.prompt == "a\0b � c"
    json.dumps(row_of(run), ensure_ascii=False).encode("utf-8")


def test_a_result_of_400_kb_comes_out_whole() -> None:
    result = "x" * 400_000
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "export", "gen_ai.tool.call.result": result}
    assert summarise([span(1, None, tool)]).steps[0]["result"] == result


def test_ten_thousand_flat_spans_are_a_run() -> None:
    root = span(0, None, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "A"}, end=10**9)
    tools = [span(n, 0, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": f"t{n}"}) for n in range(1, MANY)]
    assert [step["tool"] for step in summarise([root, *tools[::-1]]).steps] == [f"t{n}" for n in range(1, MANY)]


@pytest.mark.parametrize("operation", ["chat", "execute_tool", "invoke_agent", "chain"])
def test_ten_thousand_spans_in_a_chain_are_a_run(operation: str) -> None:
    attributes = {"gen_ai.operation.name": operation, "gen_ai.tool.name": "t", "gen_ai.agent.name": "A"}
    chain = [span(0), *(span(n, n - 1, attributes) for n in range(1, MANY))]
    assert summarise(chain).span_count == MANY


def test_a_long_history_told_again_by_every_call_adds_each_turn_once() -> None:
    history = [("user", "go")]
    calls = []
    for n in range(1, 400):
        calls.append(
            chat(
                n, 0, gen_ai__input__messages=said(*history), gen_ai__output__messages=said(("assistant", f"step {n}"))
            )
        )
        history.append(("assistant", f"step {n}"))
    run = summarise([span(0), *calls])
    assert [step.get("text") for step in run.steps] == [f"step {n}" for n in range(1, 400)]


# Slow machines are no failures.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
WORDS = re.findall(
    r"\w+",
    "role parts content type text messages tool_calls function arguments id name kwargs lc data output input message"
    " tool_use_id response toolUse result meta usage origin additional_kwargs blocks status is_error error",
)
texts = st.sampled_from(
    ["", "x", "{", "[]", "null", '"', "{'a': 1}", "ChatMessage(", '[{"role": 1}]', "[" * 2000, '{"a":' * 500]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(WORDS),
            inner
            | st.sampled_from(["text", "tool_call", "tool_call_response", "constructor", "ai", "user", "assistant"]),
            max_size=4,
        )
    ),
    max_leaves=20,
)
keys = sorted({key for fact in FACT.values() for key in fact.keys} | set(FLAT_FACTS["model"]))
flattened = st.sampled_from(["0.role", "0.content", "1.message.content", "x", "9" * 30, "0.tool_calls.0.name", ""])
attribute_keys = st.sampled_from(keys) | st.builds(
    "{}{}".format, st.sampled_from([key for key in keys if key.endswith(".")]), flattened
)
attribute_values = json_values | json_values.map(lambda value: json.dumps(value, default=str))
operations = st.sampled_from(
    ["chat", "execute_tool", "invoke_agent", "LLM", "TOOL", "chain", "ai.generateText", "unknown"]
)


@st.composite
def traces(draw: st.DrawFn) -> list[Span]:
    found = []
    for number in range(draw(st.integers(1, 5))):
        attributes = draw(st.dictionaries(attribute_keys, attribute_values, max_size=6))
        attributes["gen_ai.operation.name"] = draw(operations)
        made = span(number, draw(st.none() | st.integers(0, 5)), attributes, start=draw(st.integers(0, 50)))
        event = Event(
            1,
            draw(st.sampled_from(["gen_ai.choice", "gen_ai.user.message", "exception", "tool.output"])),
            made.attributes,
        )
        made._events = [event] if draw(st.booleans()) else []
        found.append(made)
    return found


@settings(unhurried, max_examples=200)
@given(traces(), json_values)
def test_no_trace_makes_summarising_fail(spans: list[Span], body: object) -> None:
    log = LogRecord(TRACE, spans[0].span_id, event_name="gen_ai.assistant.message", raw_body=encode_value(body))
    run = summarise(spans, [log])
    assert run.span_count == len(spans)
    assert json.loads(json.dumps(row_of(run)))["schema_version"] == "1"


@settings(unhurried, max_examples=60)
@given(traces())
def test_the_order_of_spans_changes_nothing(spans: list[Span]) -> None:
    assert repr(summarise(spans[::-1])) == repr(summarise(spans))
