"""`capture_content=False`: of what real frameworks record, nothing that was said leaves, and the facts stay."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from support.otlp_receiver import values

from whileai_instrumentation.content import is_content, leave_out_content
from whileai_instrumentation.content_switches import set_content_switches

CAPTURES = Path(__file__).parent.parent / "fixtures" / "otlp"
FLAVOURS = sorted(path.parent.name for path in CAPTURES.glob("*/truth.json"))
SHORTEST = 12  # characters of a text that is surely content and no word of a key or a name


def requests(folder: Path) -> list[ExportTraceServiceRequest | ExportLogsServiceRequest]:
    """The bodies of a capture. Ids in JSON are hex, which reads as base64 too: other ids, the same content."""
    read: list[ExportTraceServiceRequest | ExportLogsServiceRequest] = []
    for path in sorted(folder.glob("*.gz")):
        _, signal, form, _ = path.name.split(".")
        if signal not in ("traces", "logs"):
            continue
        request = ExportTraceServiceRequest() if signal == "traces" else ExportLogsServiceRequest()
        body = gzip.decompress(path.read_bytes())
        if form == "pb":
            request.ParseFromString(body)
        else:
            json_format.Parse(body, request, ignore_unknown_fields=True)
        read.append(request)
    return read


def said() -> list[bytes]:
    """What was said in any of the runs: prompts, instructions, answers, tools' results; as text and inside JSON."""
    texts: set[str] = set()
    for flavour in FLAVOURS:
        truth = json.loads((CAPTURES / flavour / "truth.json").read_text())
        for expected in (run["expect"] for run in truth["runs"]):
            told = [expected.get(key) for key in ("prompt", "system", "finalText")]
            told += [step.get("result") for step in expected.get("steps") or ()]
            texts |= {text for text in told if isinstance(text, str) and len(text) >= SHORTEST}
    return [form.encode() for text in texts for form in {text, json.dumps(text)[1:-1]}]


SPOKEN = said()


def heard(body: bytes) -> list[bytes]:
    return [text for text in SPOKEN if text in body]


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_nothing_said_is_left_in_what_a_framework_recorded(flavour: str) -> None:
    for request in requests(CAPTURES / flavour):
        ids = [span.span_id for span in spans_of(request)]
        leave_out_content(request)
        assert heard(request.SerializeToString()) == []
        assert [span.span_id for span in spans_of(request)] == ids


def test_the_captures_do_hold_what_was_said() -> None:
    full = [flavour for flavour in FLAVOURS if any(heard(r.SerializeToString()) for r in requests(CAPTURES / flavour))]
    assert len(full) > len(FLAVOURS) * 0.8


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_models_and_tokens_stay(flavour: str) -> None:
    kept = {"gen_ai.request.model", "llm.model_name", "gen_ai.usage.input_tokens", "llm.token_count.prompt"}
    for request in requests(CAPTURES / flavour):
        facts = [facts_of(span, kept) for span in spans_of(request)]
        leave_out_content(request)
        assert [facts_of(span, kept) for span in spans_of(request)] == facts


def spans_of(request: Any) -> list[Any]:
    if isinstance(request, ExportLogsServiceRequest):
        return []
    return [span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]


def facts_of(span: Any, keys: set[str]) -> dict[str, Any]:
    return {key: value for key, value in values(span.attributes).items() if key in keys}


@pytest.mark.parametrize(
    "key",
    [
        "gen_ai.input.messages",
        "gen_ai.tool.call.arguments",
        "gen_ai.prompt.0.content",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments",
        "ai.response.text",
        "some.new.framework.prompt",
        "camelCase.userPrompt",
        "whileai.token_ids",
        "whileai.logprobs",
        "exception.stacktrace",
    ],
)
def test_a_key_that_holds_what_was_said_is_content(key: str) -> None:
    assert is_content(key)


@pytest.mark.parametrize(
    "key",
    [
        "gen_ai.request.model",
        "gen_ai.response.id",
        "gen_ai.tool.name",
        "gen_ai.agent.name",
        "gen_ai.usage.input_tokens",
        "whileai.scenario_id",
        "whileai.reward",
        "session.id",
        "tenant",
        "http.request.method",
        "ai.toolCall.name",
    ],
)
def test_a_key_that_holds_a_fact_is_not(key: str) -> None:
    assert not is_content(key)


def test_the_users_own_switches_stand_while_content_may_leave() -> None:
    environment = {"TRACELOOP_TRACE_CONTENT": "false", "OTEL_SEMCONV_STABILITY_OPT_IN": "http"}
    set_content_switches(True, environment)
    assert environment["TRACELOOP_TRACE_CONTENT"] == "false"
    assert environment["OPENINFERENCE_HIDE_INPUTS"] == "false"
    assert environment["OTEL_SEMCONV_STABILITY_OPT_IN"] == "http,gen_ai_latest_experimental"


def test_nothing_overrules_that_content_is_left_out() -> None:
    environment = {"TRACELOOP_TRACE_CONTENT": "true", "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental"}
    set_content_switches(False, environment)
    assert environment["TRACELOOP_TRACE_CONTENT"] == "false"
    assert environment["OPENINFERENCE_HIDE_INPUTS"] == "true"
    assert environment["OTEL_SEMCONV_STABILITY_OPT_IN"] == "gen_ai_latest_experimental"


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("chat gpt-4o-mini", "chat gpt-4o-mini"),
        ("invoke_agent The refund desk of the shop", "invoke_agent The refund desk of the shop"),
        ("Please pay back what I paid.task", "(left out)"),
        ("Why, oh why?", "(left out)"),
    ],
)
def test_a_span_named_by_what_was_asked_loses_its_name(name: str, left: str) -> None:
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add(name=name)
    span.attributes.add(key="gen_ai.agent.name").value.string_value = "The refund desk of the shop"
    leave_out_content(request)
    assert span.name == left
