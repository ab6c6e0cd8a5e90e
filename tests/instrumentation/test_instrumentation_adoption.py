"""Below a framework whose spans never become current, a model library's spans are put where they belong."""

from __future__ import annotations

import threading

from opentelemetry import _logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import set_span_in_context
from support.agents import Outboxes
from support.otlp_receiver import Receiver, values

from whileai_instrumentation import scenario
from whileai_instrumentation.adoption import LANGCHAIN, true_context
from whileai_instrumentation.encoding import Encoder
from whileai_instrumentation.identity import Identity
from whileai_instrumentation.outbox import Outbox
from whileai_instrumentation.processors import OutboxLogProcessor, OutboxSpanProcessor


def provider_of(outbox: Outbox) -> TracerProvider:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(OutboxSpanProcessor(outbox))
    return provider


def test_a_model_call_beneath_a_shy_span_joins_its_run(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes(Encoder(Identity("refund-bot")))
    provider = provider_of(outbox)
    shy, openai = provider.get_tracer(LANGCHAIN), provider.get_tracer("openai")
    logs = LoggerProvider(shutdown_on_exit=False)
    logs.add_log_record_processor(OutboxLogProcessor(outbox))
    with scenario("refund-042") as block:
        graph = shy.start_span("graph")
        step = shy.start_span("step", context=set_span_in_context(graph))
        with openai.start_as_current_span("call") as call, openai.start_as_current_span("inner"):
            logs.get_logger("openai").emit(_logs.LogRecord(event_name="gen_ai.choice"))
        step.end()
        with openai.start_as_current_span("between the steps"):
            pass
        graph.end()
        with openai.start_as_current_span("afterwards"):
            pass
    assert outbox.flush(30)
    spans = {span.name: span for span in receiver.spans()}
    run = spans["graph"].trace_id
    assert {name for name, span in spans.items() if span.trace_id == run} == set(spans) - {"afterwards"}
    assert spans["call"].parent_span_id == spans["step"].span_id
    assert spans["inner"].parent_span_id == spans["call"].span_id
    assert spans["between the steps"].parent_span_id == spans["graph"].span_id
    assert spans["afterwards"].parent_span_id == b""
    assert [record.trace_id for record in receiver.records()] == [run]
    assert true_context(call.get_span_context()).trace_id.to_bytes(16, "big") == run
    assert block.trace_ids == [run.hex(), spans["afterwards"].trace_id.hex()]
    named = [name for name, span in spans.items() if "gen_ai.agent.name" in values(span.attributes)]
    assert sorted(named) == ["afterwards", "graph"]


def test_a_call_in_another_context_is_left_alone(receiver: Receiver, outboxes: Outboxes) -> None:
    outbox = outboxes()
    provider = provider_of(outbox)
    graph = provider.get_tracer(LANGCHAIN).start_span("graph")
    thread = threading.Thread(target=lambda: provider.get_tracer("openai").start_span("call").end())
    thread.start()
    thread.join()
    graph.end()
    assert outbox.flush(30)
    assert [span.parent_span_id for span in receiver.spans()] == [b"", b""]
    assert len({span.trace_id for span in receiver.spans()}) == 2
