"""A shop's agents and their runs, as test data that looks like life: scenarios, outcomes, two versions, some errors."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from support import otlp

PROTOBUF = {"content-type": "application/x-protobuf"}
MINUTE = 60 * otlp.SECOND

# scenario -> (what is asked, how often it is done right)
SCENARIOS: dict[str, tuple[str, float]] = {
    "late-parcel": ("My parcel {order} is late. What can you do?", 0.5),
    "broken-cup": ("The cup from order {order} arrived broken, I want my money back.", 0.7),
    "wrong-size": ("Please exchange order {order} for a larger size.", 0.3),
    "double-charge": ("I was charged twice for {order}.", 0.45),
    "gift-note": ("Can you add a gift note to order {order}?", 1.0),
    "cancel-shipped": ("Cancel order {order} please, it has left already.", 0.4),
    "new-address": ("Change the address of order {order} to 5 Elm Street.", 0.6),
    "lost-invoice": ("Send me the invoice for {order} again.", 0.0),
    "half-refund": ("Only one of the two lamps in {order} works.", 0.55),
    "loyalty-points": ("Where are my points for {order}?", 0.65),
    "pickup-moved": ("Can I pick {order} up in another shop?", 0.35),
    "price-drop": ("{order} is cheaper today, may I have the difference?", 0.5),
}
MODELS = ("gpt-4o-mini", "gpt-4o-mini", "claude-3-5-haiku-latest")
TOKENS = {"gen_ai.usage.input_tokens": (180, 900), "gen_ai.usage.output_tokens": (20, 160)}
TOOLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("lookup_order", {"item": "teapot", "amount": 42.5}),
    ("issue_refund", {"refund_id": "RF-9001"}),
)
ANSWERS = {True: "Done: the refund of order {order} is on its way.", False: "I am sorry, I cannot do that for {order}."}


def shop_runs(count: int, *, agent: str, now: int | None = None, minutes: float = 55, seed: int = 7) -> dict[str, Any]:
    """Requests by version of `count` runs over the last minutes; the same ones for the same seed."""
    chance = random.Random(seed)
    moment = time.time_ns() if now is None else now
    by_version: dict[str, list[Span]] = {"v1": [], "v2": []}
    for number in range(count):
        scenario = list(SCENARIOS)[number % len(SCENARIOS)]
        ago = chance.random() ** 1.3 * minutes
        start = moment - int(ago * MINUTE)
        spans = _run(chance, agent, scenario, f"A-{1000 + number}", start)
        by_version["v2" if ago < minutes * 0.4 else "v1"] += spans
    return {
        version: otlp.traces(spans, {"service.name": "shop", "whileai.model_version": version})
        for version, spans in by_version.items()
        if spans
    }


def send(client: httpx.Client, bodies: Sequence[bytes] | Mapping[str, bytes]) -> None:
    for body in bodies.values() if isinstance(bodies, Mapping) else bodies:
        client.post("/v1/traces", content=body, headers=PROTOBUF).raise_for_status()


def _run(chance: random.Random, agent: str, scenario: str, order: str, start: int) -> list[Span]:
    ask, rate = SCENARIOS[scenario]
    passed = chance.random() < rate
    spans = otlp.chat_run(
        otlp.new_trace_id(),
        agent=agent,
        scenario=scenario,
        prompt=ask.format(order=order),
        answer=ANSWERS[passed].format(order=order),
        model=chance.choice(MODELS),
        start=start,
        reward=float(passed),
    )
    chat, root = spans
    took = int(chance.lognormvariate(0.2, 0.5) * otlp.SECOND)
    root.end_time_unix_nano = start + took
    chat.start_time_unix_nano, chat.end_time_unix_nano = start + took * 3 // 4, start + took - 1_000_000
    for attribute in chat.attributes:
        if attribute.key in TOKENS:
            attribute.value.int_value = chance.randint(*TOKENS[attribute.key])
    for number, (tool, result) in enumerate(TOOLS[: 1 + passed]):
        told = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.call.arguments": json.dumps({"order_id": order}),
            "gen_ai.tool.call.result": json.dumps({"order_id": order, **result}),
        }
        begun = start + took // 4 * (1 + number)
        name = f"execute_tool {tool}"
        call = otlp.span(root.trace_id.hex(), None, root.span_id.hex(), name, start=begun, attributes=told)
        spans.append(call)
    if chance.random() < 0.04:
        root.status.code = Status.STATUS_CODE_ERROR
        root.status.message = "tool issue_refund timed out"
    return spans


def crawl(trace_id: str, spans: int) -> bytes:
    """One run of so many spans: a tree two levels deep."""
    now = time.time_ns()
    root = otlp.new_span_id()
    told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "crawler"}
    made = [otlp.span(trace_id, root, None, "invoke_agent crawler", start=now, milliseconds=60_000, attributes=told)]
    parent = root
    for number in range(spans - 1):
        span_id = otlp.new_span_id()
        first = number % 100 == 0
        called = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "fetch", "number": number}
        made.append(
            otlp.span(
                trace_id,
                span_id,
                root if first else parent,
                f"fetch page {number}",
                start=now + number * 5_000_000,
                milliseconds=4,
                attributes=called,
            )
        )
        parent = span_id if first else parent
    return otlp.traces(made)
