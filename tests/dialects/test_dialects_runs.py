"""The rules of a run, each on the smallest trace that shows it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from whileai_dialects import (
    FACTS,
    FLAT_FACTS,
    Attributes,
    LogRecord,
    Span,
    encode_value,
    row_of,
    scenario_of,
    summarise,
)
from whileai_dialects.docs import page

CALL = {"type": "tool_call", "id": "c1", "name": "lookup", "arguments": {"id": 7}}


def span(number: int, parent: int | None, attributes: Mapping[str, object], **more: Any) -> Span:
    values = {"start": 1_000 * number, "end": 1_000 * number + 500, "version": 1, "first_arrival": 1} | more
    above = "" if parent is None else f"{parent:016x}"
    return Span("t", f"{number:016x}", above, attributes=Attributes.of(attributes), **values)


def agent(number: int, parent: int | None, name: str, **more: Any) -> Span:
    return span(number, parent, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}, **more)


def chat(
    number: int, parent: int | None, said: object, answered: object, more: Mapping[str, object] | None = None
) -> Span:
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.input.messages": json.dumps(said),
        "gen_ai.output.messages": json.dumps(answered),
    }
    return span(number, parent, told | dict(more or {}))


def tool(number: int, parent: int | None, name: str, result: object, **more: Any) -> Span:
    told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.result": result}
    return span(number, parent, told | {key.replace("__", "."): value for key, value in more.items()})


def message(role: str, *parts: object) -> dict[str, object]:
    return {"role": role, "parts": [{"type": "text", "content": p} if isinstance(p, str) else p for p in parts]}


def result(call_id: str, text: str) -> dict[str, object]:
    return {"type": "tool_call_response", "id": call_id, "response": text}


def call(call_id: str, name: str = "lookup", **arguments: object) -> dict[str, object]:
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def tools_of(spans: list[Span]) -> list[tuple[object, object, object]]:
    return [(step["tool"], step["arguments"], step["result"]) for step in summarise(spans).steps if "tool" in step]


def test_the_agent_that_the_process_declares_is_the_main_one_on_a_workflow_root_too() -> None:
    mine = Attributes.of({"whileai.agent": "refund-desk"})
    root = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.agent.name": "refund-desk"}
    spans = [span(1, None, root, resource=mine), agent(2, 1, "Agent", resource=mine)]
    assert (summarise(spans).agent, summarise(spans).agents) == ("refund-desk", ["refund-desk", "Agent"])
    others = [span(1, None, root), agent(2, 1, "Agent")]
    assert summarise(others).agent == "Agent"


def test_the_main_agent_is_the_outermost_and_not_the_first_to_arrive() -> None:
    spans = [agent(2, 1, "Inner", version=1), agent(1, None, "Outer", version=9)]
    run = summarise(spans)
    assert (run.agent, run.agents) == ("Outer", ["Outer", "Inner"])


def test_an_agent_that_is_only_mentioned_does_not_outrank_the_agents_own_span() -> None:
    root = span(1, None, {"gen_ai.agent.name": "Platform", "gen_ai.operation.name": "unknown"})
    assert summarise([root, agent(2, 1, "Real")]).agent == "Real"


def test_a_bare_call_is_a_run_without_an_agent() -> None:
    spans = [chat(1, None, [message("user", "hi")], [message("assistant", "hello")])]
    spans[0].resource = Attributes.of({"service.name": "shop", "zeroproof.dataset": "nightly"})
    run = summarise(spans)
    assert (run.agent, run.service, run.dataset) == (None, "shop", "nightly")
    assert (run.prompt, run.final_text) == ("hi", "hello")


def test_what_the_published_client_sends_is_a_run() -> None:
    told = {
        "gen_ai.agent.name": "refund-bot",
        "test.case.name": "sc_1",
        "gen_ai.prompt": "Where is parcel 88?",
        "gen_ai.completion": '{"not": "a message"}',
        "gen_ai.request.model": "m-1",
        "zeroproof.score": 1.0,
        "zeroproof.score.pass_at": 1.0,
    }
    run = summarise([span(1, None, told, name="agent.run")])
    assert (run.agent, run.scenario_id, run.model, run.verdict) == ("refund-bot", "sc_1", "m-1", "pass")
    assert (run.prompt, run.final_text) == ("Where is parcel 88?", '{"not": "a message"}')


@pytest.mark.parametrize("text", ["123", "true", "null", '"quoted"', "3.5", "yes"])
def test_text_that_looks_like_json_stays_text(text: str) -> None:
    run = summarise([chat(1, None, [message("user", text)], [message("assistant", text)])])
    assert (run.prompt, run.final_text) == (text, text)


def test_the_first_user_turn_is_the_prompt_and_later_turns_are_steps() -> None:
    first = [message("system", "be kind"), message("user", "one")]
    later = [*first, message("assistant", "1"), message("user", "two")]
    run = summarise(
        [
            agent(1, None, "A"),
            chat(2, 1, first, [message("assistant", "1")]),
            chat(3, 1, later, [message("assistant", "2")]),
        ]
    )
    assert (run.prompt, run.system, run.final_text) == ("one", "be kind", "2")
    assert run.steps == [{"text": "1"}, {"user": "two"}, {"text": "2"}]


def test_the_caller_s_own_words_win_over_a_template_around_them() -> None:
    root = span(1, None, {"openinference.span.kind": "AGENT", "input.value": json.dumps({"task": "Buy tea"})})
    run = summarise([root, chat(2, 1, [message("user", "New task:\nBuy tea")], [message("assistant", "ok")])])
    assert run.prompt == "Buy tea"


def test_parallel_calls_answered_in_reverse_are_paired_by_id() -> None:
    asked = [message("user", "go")]
    calls = message("assistant", call("c1", id=1), call("c2", id=2))
    told = [*asked, calls, message("tool", result("c2", "second")), message("tool", result("c1", "first"))]
    spans = [agent(1, None, "A"), chat(2, 1, asked, [calls]), chat(5, 1, told, [message("assistant", "done")])]
    spans += [
        tool(4, 1, "lookup", "first", gen_ai__tool__call__id="c1"),
        tool(3, 1, "lookup", "second", gen_ai__tool__call__id="c2"),
    ]
    assert tools_of(spans) == [("lookup", {"id": 1}, "first"), ("lookup", {"id": 2}, "second")]
    chatted = summarise(spans).messages
    assert [m.get("tool_call_id") for m in chatted if m["role"] == "tool"] == ["c1", "c2"]


def test_calls_without_ids_are_paired_by_arguments_then_by_order() -> None:
    calls = message("assistant", call("", id=1), call("", id=2), call("", "other"))
    spans = [agent(1, None, "A"), chat(2, 1, [message("user", "go")], [calls])]
    spans += [
        tool(3, 1, "lookup", "two", gen_ai__tool__call__arguments='{"id": 2}'),
        tool(4, 1, "lookup", "one", gen_ai__tool__call__arguments='{"id": 1}'),
        tool(5, 1, "other", "three"),
    ]
    assert tools_of(spans) == [("lookup", {"id": 1}, "one"), ("lookup", {"id": 2}, "two"), ("other", {}, "three")]


def test_a_tool_that_nobody_asked_for_stands_at_its_time() -> None:
    spans = [agent(1, None, "A"), chat(2, 1, [message("user", "go")], [message("assistant", "a")])]
    spans += [tool(3, 1, "quiet", "r"), chat(4, 1, [message("user", "go")], [message("assistant", "b")])]
    assert [step.get("text") or step["tool"] for step in summarise(spans).steps] == ["a", "quiet", "b"]


def test_the_calls_of_an_inner_agent_are_steps_but_not_messages() -> None:
    spans = [
        agent(1, None, "Boss", end=99_000),
        chat(2, 1, [message("user", "go")], [message("assistant", call("c1", "ask_helper"))]),
        tool(3, 1, "ask_helper", "found", gen_ai__tool__call__id="c1"),
        agent(4, 3, "Helper"),
        chat(5, 4, [message("user", "please help")], [message("assistant", call("h1", "search"))]),
        tool(6, 4, "search", "hit", gen_ai__tool__call__id="h1"),
    ]
    told = [
        message("user", "go"),
        message("assistant", call("c1", "ask_helper")),
        message("tool", result("c1", "found")),
    ]
    run = summarise([*spans, chat(7, 1, told, [message("assistant", "done")])])
    assert [step.get("tool", "text") for step in run.steps] == ["ask_helper", "search", "text"]
    assert (run.prompt, run.final_text) == ("go", "done")
    assert [message["role"] for message in run.messages] == ["user", "assistant", "tool", "assistant"]


def test_a_failed_tool_is_marked_and_the_run_goes_on() -> None:
    failing = tool(3, 1, "lookup", None, gen_ai__tool__call__id="c1", error__type="ValueError")
    failing.status_code, failing.status_message = 2, "no such order"
    spans = [
        agent(1, None, "A"),
        chat(2, 1, [message("user", "go")], [message("assistant", CALL)]),
        failing,
        chat(4, 1, [message("user", "go"), message("assistant", CALL), message("tool", result("c1", "Error"))],
             [message("assistant", "sorry")]),
    ]  # fmt: skip
    run = summarise(spans)
    assert (run.steps[0]["error"], run.status, run.final_text) == ("no such order", "ok", "sorry")


def test_a_failed_model_call_fails_the_run_unless_a_later_one_made_it_good() -> None:
    failed = chat(2, 1, [message("user", "go")], [])
    failed.status_code, failed.status_message = 2, "HTTP 500"
    good = chat(3, 1, [message("user", "go")], [message("assistant", "ok")])
    assert (summarise([agent(1, None, "A"), failed]).status, summarise([agent(1, None, "A"), failed]).error) == (
        "error",
        "HTTP 500",
    )
    assert summarise([agent(1, None, "A"), failed, good]).status == "ok"


def test_a_run_that_died_after_a_tool_has_no_answer() -> None:
    failed = chat(4, 1, [], [])
    failed.status_code = 2
    spans = [
        agent(1, None, "A"),
        chat(2, 1, [message("user", "go")], [message("assistant", "let me see", CALL)]),
        tool(3, 1, "lookup", "r", gen_ai__tool__call__id="c1"),
        failed,
    ]
    assert summarise(spans).final_text is None


USAGE = {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 10}


def test_a_parent_that_repeats_its_children_s_tokens_counts_nothing() -> None:
    root = agent(1, None, "A")
    root.attributes = Attributes.of(
        {**root.attributes, "gen_ai.usage.input_tokens": 200, "gen_ai.usage.output_tokens": 20}
    )
    calls = [chat(n, 1, [], [], USAGE) for n in (2, 3)]
    usage = summarise([root, *calls]).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_input_tokens) == (200, 20, None)
    assert summarise([root]).usage.input_tokens == 200  # nothing else tells any


def test_a_second_instrumentation_s_copy_is_one_call() -> None:
    same = {**USAGE, "gen_ai.response.id": "r1"}
    one, inside = chat(1, None, [], [], same), chat(2, 1, [], [], same)
    assert summarise([one, inside]).usage.input_tokens == 100
    beside = chat(3, None, [], [], same)
    beside.scope_name = "other"
    assert summarise([one, beside]).usage.input_tokens == 100
    twin, other = chat(1, None, [], [], USAGE), chat(2, None, [], [], USAGE)
    twin.start, twin.end, twin.scope_name = other.start, other.end, "other"
    assert summarise([twin, other]).usage.input_tokens == 100


def test_parallel_calls_of_one_instrumentation_all_count() -> None:
    calls = [chat(n, None, [], [], USAGE) for n in (1, 2)]
    calls[1].start, calls[1].end = calls[0].start, calls[0].end
    assert summarise(calls).usage.input_tokens == 200


def test_a_cached_answer_with_an_old_response_id_is_a_call_of_its_own() -> None:
    calls = [chat(n, None, [], [], {**USAGE, "gen_ai.response.id": "r1"}) for n in (1, 2)]
    assert summarise(calls).usage.input_tokens == 200


def test_claude_s_own_input_tokens_leave_the_cache_out() -> None:
    told = {"span.type": "llm_request", "model": "claude-sonnet-4-5", "input_tokens": 110, "output_tokens": 5}
    told |= {"cache_read_tokens": 64, "cache_creation_tokens": 20}
    usage = summarise([span(1, None, told)]).usage
    assert (usage.input_tokens, usage.cached_input_tokens) == (194, 64)


def test_a_price_on_the_span_wins_over_the_table_and_an_unknown_model_has_none() -> None:
    told = summarise([chat(1, None, [], [], {**USAGE, "operation.cost": 0.5}), chat(2, None, [], [], USAGE)]).cost_usd
    assert told == pytest.approx(0.5 + 100 * 0.15e-6 + 10 * 0.6e-6)
    unknown = chat(1, None, [], [], {**USAGE, "gen_ai.request.model": "my-own-weights", "gen_ai.response.model": "x"})
    assert summarise([unknown]).cost_usd is None
    assert summarise([chat(1, None, [], [])]).cost_usd is None


def event(name: str, body: object, time: int) -> LogRecord:
    return LogRecord("t", f"{1:016x}", time=time, event_name=name, raw_body=encode_value(body), version=time)


def test_log_records_join_their_span_in_any_order() -> None:
    bare = span(1, None, {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})
    logs = [
        event("gen_ai.system.message", {"content": "be kind"}, 1),
        event("gen_ai.user.message", {"content": "hi"}, 2),
        event("gen_ai.choice", {"index": 0, "message": {"role": "assistant", "content": "hello"}}, 3),
    ]
    for records in (logs, logs[::-1]):
        run = summarise([bare], records)
        assert (run.system, run.prompt, run.final_text) == ("be kind", "hi", "hello")
    assert summarise([bare]).prompt is None


def test_indexed_messages_are_in_number_order() -> None:
    told: dict[str, object] = {"llm.request.type": "chat", "gen_ai.request.model": "m"}
    for n in range(12):
        told |= {
            f"gen_ai.prompt.{n}.role": "user" if n % 2 == 0 else "assistant",
            f"gen_ai.prompt.{n}.content": f"m{n}",
        }
    run = summarise([span(1, None, dict(sorted(told.items())))])
    assert run.prompt == "m0"
    assert [next(iter(step.values())) for step in run.steps] == [f"m{n}" for n in range(1, 12)]


@pytest.mark.parametrize(
    ("key", "where"),
    [("zeroproof.scenario_id", "span"), ("whileai.scenario_id", "span"), ("test.case.name", "resource")],
)
def test_a_scenario_is_told_on_a_span_or_the_resource(key: str, where: str) -> None:
    inner = span(2, 1, {key: "sc"} if where == "span" else {})
    root = span(1, None, {})
    root.resource = Attributes.of({key: "sc"} if where == "resource" else {})
    assert summarise([root, inner]).scenario_id == "sc"


def test_the_better_key_wins_wherever_it_stands() -> None:
    assert scenario_of({"test.case.name": "case"}, {"zeroproof.scenario_id": "scenario"}) == "scenario"
    assert scenario_of({"other": "x"}) is None
    spans = [span(1, None, {"test.case.name": "case"}), span(2, 1, {"zeroproof.scenario_id": "scenario"})]
    assert summarise(spans).scenario_id == "scenario"


def test_token_ids_and_logprobs_are_carried_without_loss() -> None:
    told = {"whileai.prompt_token_ids": [1, 2], "whileai.token_ids": [3, 4], "whileai.logprobs": [-0.1, -1e-300]}
    run = summarise([chat(1, None, [message("user", "hi")], [message("assistant", "yo")], told)])
    assert (run.prompt_token_ids, run.token_ids, run.logprobs) == ([1, 2], [3, 4], [-0.1, -1e-300])
    assert run.messages[-1]["token_ids"] == [3, 4]
    twice = [chat(n, None, [message("user", "hi")], [message("assistant", f"yo {n}")], told) for n in (1, 2)]
    run = summarise(twice)
    assert (run.token_ids, [m.get("token_ids") for m in run.messages]) == (None, [None, [3, 4], [3, 4]])


def test_tool_schemas_are_carried_in_openai_form() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    wanted = [{"type": "function", "function": {"name": "lookup", "description": "d", "parameters": schema}}]
    flat = json.dumps([{"type": "function", "name": "lookup", "description": "d", "parameters": schema}])
    nested = json.dumps({"type": "function", "function": {"name": "lookup", "description": "d", "parameters": schema}})
    vercel = [json.dumps({"type": "function", "name": "lookup", "description": "d", "inputSchema": schema})]
    for told in (
        {"gen_ai.tool.definitions": flat},
        {"llm.tools.0.tool.json_schema": nested},
        {"ai.prompt.tools": vercel},
    ):
        assert summarise([chat(1, None, [], [], told)]).tools == wanted


def test_arguments_that_are_no_object_are_kept_and_said() -> None:
    broken = {"type": "tool_call", "id": "c1", "name": "lookup", "arguments": '{"id": '}
    run = summarise([chat(1, None, [message("user", "go")], [message("assistant", broken)])])
    assert run.steps[0]["arguments"] == '{"id": '
    assert run.notes == ["the arguments of 1 tool calls are no JSON object and are kept as text: lookup"]


def test_a_picture_is_no_text_and_is_said() -> None:
    picture = {"type": "blob", "mime_type": "image/png", "content": "iVBOR"}
    run = summarise([chat(1, None, [message("user", "what is this?", picture)], [message("assistant", "a cat")])])
    assert (run.prompt, run.notes) == ("what is this?", ["1 parts are not text and are left out of the messages"])


def test_a_row_is_row_schema_v1() -> None:
    spans = [
        agent(1, None, "A"),
        chat(2, 1, [message("user", "go")], [message("assistant", CALL)]),
        tool(3, 1, "lookup", '{"ok": true}', gen_ai__tool__call__id="c1"),
        chat(4, 1, [message("user", "go"), message("assistant", CALL), message("tool", result("c1", '{"ok": true}'))],
             [message("assistant", "done")], {"whileai.reward": 1.0, "zeroproof.scenario_id": "sc"}),
    ]  # fmt: skip
    row = row_of(summarise(spans), rollout_index=2, lineage={"cut_id": "cut_1"})
    assert row == {
        "schema_version": "1",
        "prompt": "go",
        "scenario_id": "sc",
        "rollout_index": 2,
        "messages": [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": {"id": 7}}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "name": "lookup", "content": '{"ok": true}'},
            {"role": "assistant", "content": "done"},
        ],
        "tools": [],
        "steps": [
            {"tool": "lookup", "arguments": {"id": 7}, "result": {"ok": True}, "callId": "c1", "error": None},
            {"text": "done"},
        ],
        "final_text": "done",
        "model_version": "gpt-4o-mini",
        "reward": 1.0,
        "usage": {
            "input_tokens": None,
            "output_tokens": None,
            "cached_input_tokens": None,
            "reasoning_tokens": None,
            "cost_usd": None,
        },
        "lineage": {"source": "traces", "trace_id": "t", "cut_id": "cut_1"},
    }


def test_the_flat_facts_are_the_table() -> None:
    assert {fact.name: fact.keys for fact in FACTS} == FLAT_FACTS
    assert FLAT_FACTS["scenario"] == ("zeroproof.scenario_id", "whileai.scenario_id", "test.case.name")
    assert all(len(set(keys)) == len(keys) for keys in FLAT_FACTS.values())


def test_the_page_of_dialects_is_printed_from_the_table() -> None:
    printed = Path(__file__).parents[2] / "docs" / "dialects.md"
    assert printed.read_text("utf-8") == page()
