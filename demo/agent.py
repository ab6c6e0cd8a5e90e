"""The agent: a refund desk of two tools, built with pydantic-ai. It knows OpenTelemetry and nothing of this service.

Where spans go, and with which key, is said by the standard `OTEL_*` variables; where the model is, by `OPENAI_*`.
Prints one JSON line a run: which trace it was, and what was paid back.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent, RunContext

from demo.scenarios import ORDERS, RUNS_EACH, SCENARIOS

MODEL = "openai-chat:gpt-4o-mini"
INSTRUCTIONS = (
    "You are the refund desk of a small shop. Look an order up before you decide. Pay back what the customer is owed, "
    "no more and no less, and never pay for somebody else's order."
)


@dataclass
class Till:
    """What was paid back during one run."""

    refunds: list[tuple[str, float]] = field(default_factory=list)


def lookup_order(order_id: str) -> dict[str, object]:
    """Everything the shop knows about an order."""
    order = ORDERS.get(order_id)
    return asdict(order) if order else {"error": f"there is no order {order_id}"}


def issue_refund(context: RunContext[Till], order_id: str, amount: float) -> dict[str, object]:
    """Pay money back to the customer's card."""
    context.deps.refunds.append((order_id, amount))
    return {"refunded": amount, "order_id": order_id}


desk = Agent(MODEL, name="refund-desk", deps_type=Till, instructions=INSTRUCTIONS, tools=[lookup_order, issue_refund])


def main() -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    Agent.instrument_all()
    tracer = trace.get_tracer("refund-desk")
    for scenario in SCENARIOS:
        for attempt in range(RUNS_EACH):
            till = Till()
            # The one attribute that training data needs: which task this run tries.
            with tracer.start_as_current_span(
                "ticket", attributes={"zeroproof.scenario_id": scenario.scenario_id}
            ) as span:
                desk.run_sync(scenario.prompt, deps=till, model_settings={"seed": attempt})
                trace_id = trace.format_trace_id(span.get_span_context().trace_id)
            run = {"trace_id": trace_id, "scenario_id": scenario.scenario_id, "refunds": till.refunds}
            print(json.dumps(run), flush=True)
    provider.shutdown()  # sends what is still waiting


if __name__ == "__main__":
    main()
