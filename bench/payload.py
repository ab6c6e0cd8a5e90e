"""OTLP requests like those of real agents: six spans a run, 23 attributes on a chat span, messages of 1 to 4 KB.

That is 3.7 KB a span. A request is made once and then given other trace ids, because making one costs more than some of
the ways in that are measured, and one that comes twice is a resend, which is another path.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

SPANS = 512
STARTED = 1_790_000_000_000_000_000
SECOND = 1_000_000_000
MESSAGE_CHARACTERS, RESULT_CHARACTERS = (1000, 4000), (1000, 2600)
_WORDS = (
    "order",
    "refund",
    "parcel",
    "customer",
    "policy",
    "shipped",
    "damaged",
    "window",
    "receipt",
    "carrier",
    "total",
)
_CHARACTERS_A_WORD = sum(map(len, _WORDS)) / len(_WORDS) + 1  # and the space behind it


def request(seed: int, spans: int = SPANS) -> bytes:
    """One export request; the same bytes for the same seed."""
    chance = random.Random(seed)
    made = ExportTraceServiceRequest()
    of_resource = made.resource_spans.add()
    of_resource.resource.attributes.extend(_key_values({"service.name": "bench", "telemetry.sdk.language": "python"}))
    of_scope = of_resource.scope_spans.add()
    of_scope.scope.name, of_scope.scope.version = "bench.agent", "1.0"
    produced: list[Span] = []
    while len(produced) < spans:
        produced += _run(chance)
    of_scope.spans.extend(produced[:spans])
    return made.SerializeToString()


def _run(chance: random.Random) -> Iterator[Span]:
    """An `invoke_agent` root over three model calls and two tools."""
    trace_id, root = chance.randbytes(16), chance.randbytes(8)
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "bench-bot"}
    scenario = {
        "zeroproof.scenario_id": f"bench/{chance.randrange(1000)}",
        "whileai.reward": float(chance.random() < 0.5),
    }
    yield _span(chance, trace_id, root, b"", "invoke_agent bench-bot", {**agent, **scenario})
    for name in ("lookup_order", "issue_refund"):
        yield _span(chance, trace_id, chance.randbytes(8), root, "chat gpt-4o-mini", _chat(chance))
        yield _span(chance, trace_id, chance.randbytes(8), root, f"execute_tool {name}", _tool(chance, name))
    yield _span(chance, trace_id, chance.randbytes(8), root, "chat gpt-4o-mini", _chat(chance))


def _span(
    chance: random.Random, trace_id: bytes, span_id: bytes, parent: bytes, name: str, attributes: Mapping[str, object]
) -> Span:
    start = STARTED + chance.randrange(3600 * SECOND)
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=parent,
        name=name,
        kind=Span.SPAN_KIND_CLIENT,
        start_time_unix_nano=start,
        end_time_unix_nano=start + chance.randrange(SECOND),
        attributes=_key_values(attributes),
    )


def _chat(chance: random.Random) -> dict[str, object]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.agent.name": "bench-bot",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
        "gen_ai.response.id": chance.randbytes(12).hex(),
        "gen_ai.response.finish_reasons": "stop",
        "gen_ai.usage.input_tokens": chance.randrange(100, 4000),
        "gen_ai.usage.output_tokens": chance.randrange(5, 400),
        "gen_ai.input.messages": _messages("user", _text(chance, *MESSAGE_CHARACTERS)),
        "gen_ai.output.messages": _messages("assistant", _text(chance, *MESSAGE_CHARACTERS)),
        "server.address": "api.openai.com",
        "server.port": 443,
        **{f"app.tag.{number}": chance.choice(_WORDS) for number in range(10)},
    }


def _tool(chance: random.Random, name: str) -> dict[str, object]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": chance.randbytes(8).hex(),
        "gen_ai.tool.call.arguments": json.dumps({"order_id": f"A-{chance.randrange(10_000)}"}),
        "gen_ai.tool.call.result": json.dumps({"found": _text(chance, *RESULT_CHARACTERS)}),
    }


def _text(chance: random.Random, least: int, most: int) -> str:
    return " ".join(chance.choices(_WORDS, k=round(chance.randrange(least, most) / _CHARACTERS_A_WORD)))


def _messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def _key_values(attributes: Mapping[str, object]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_any_value(value)) for key, value in attributes.items()]


def _any_value(value: object) -> AnyValue:
    match value:
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case _:
            return AnyValue(string_value=str(value))
