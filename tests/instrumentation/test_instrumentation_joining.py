"""How `whileai.instrument` behaves in a process that is not its own: with others' OpenTelemetry, called twice, forked,
frozen, without a key."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.agents import Agents
from support.otlp_receiver import Receiver, values
from support.service import KEY

OWN_EXPORTER = """
import json
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import whileai

own = InMemorySpanExporter()
provider = TracerProvider(resource=Resource.create({"service.name": "shop"}))
provider.add_span_processor(SimpleSpanProcessor(own))
trace.set_tracer_provider(provider)
"""
START = """
import json, os, sys, time
import whileai
from opentelemetry import trace

def work(name):
    with trace.get_tracer("tests").start_as_current_span(name, attributes={"input.value": "from ann@example.com"}):
        pass
"""


def test_a_provider_that_is_there_is_joined_and_its_exporter_sees_what_it_always_saw(
    receiver: Receiver, agent: Agents
) -> None:
    ran = agent(
        OWN_EXPORTER
        + """
whileai.instrument(agent="refund-bot", version="v4", redact="ann@example.com", quiet=True)
assert trace.get_tracer_provider() is provider
with provider.get_tracer("tests").start_as_current_span("ask", attributes={"who": "ann@example.com"}):
    pass
(seen,) = own.get_finished_spans()
print(json.dumps([dict(seen.attributes), dict(seen.resource.attributes)]))
"""
    )
    attributes, resource = ran.told
    assert attributes == {"who": "ann@example.com"}
    assert resource["service.name"] == "shop"
    assert "whileai.agent" not in resource
    assert receiver.span("ask") == {"who": "[redacted]", "gen_ai.agent.name": "refund-bot"}
    sent = values(receiver.resources()[0].attributes)
    assert (sent["service.name"], sent["whileai.agent"], sent["gen_ai.agent.version"]) == ("shop", "refund-bot", "v4")


def test_a_provider_that_would_replace_its_exporter_keeps_it(receiver: Receiver, agent: Agents) -> None:
    ran = agent(
        OWN_EXPORTER.replace(
            "provider = TracerProvider(",
            """
class Replacing(TracerProvider):
    def add_span_processor(self, processor):
        self._active_span_processor._span_processors = ()
        super().add_span_processor(processor)

provider = Replacing(""",
        )
        + """
whileai.instrument(quiet=True)
provider.get_tracer("tests").start_span("seen by both").end()
print(json.dumps([span.name for span in own.get_finished_spans()]))
"""
    )
    assert ran.told == ["seen by both"]
    assert receiver.names() == ["seen by both"]


def test_a_provider_of_ours_names_the_service_and_cuts_nothing_short(receiver: Receiver, agent: Agents) -> None:
    agent(
        START
        + """
whileai.instrument(agent="refund-bot", quiet=True)
with trace.get_tracer("tests").start_as_current_span("long") as span:
    for number in range(1000):
        span.set_attribute(f"llm.input_messages.{number}.message.content", "x")
"""
    )
    assert len(receiver.span("long")) == 1001
    assert values(receiver.resources()[0].attributes)["service.name"] == "refund-bot"


def test_the_environments_own_names_and_limits_stand(receiver: Receiver, agent: Agents) -> None:
    agent(
        START
        + """
whileai.instrument(agent="refund-bot", quiet=True)
with trace.get_tracer("tests").start_as_current_span("long") as span:
    for number in range(1000):
        span.set_attribute(str(number), "x")
""",
        OTEL_SERVICE_NAME="shop",
        OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT="10",
    )
    assert len(receiver.span("long")) == 11  # the name of the agent comes on top, as the span leaves
    assert values(receiver.resources()[0].attributes)["service.name"] == "shop"


def test_calling_it_twice_doubles_nothing_and_the_latest_settings_hold(receiver: Receiver, agent: Agents) -> None:
    ran = agent(
        START
        + """
for version in ("v1", "v2", "v2"):
    whileai.instrument(agent="refund-bot", version=version)
    whileai.instrument(agent="refund-bot", version=version)
    work(version)
    whileai.flush()
"""
    )
    assert ran.code == 0
    assert sorted(receiver.names()) == ["v1", "v2", "v2"]
    versions = [values(resource.attributes)["gen_ai.agent.version"] for resource in receiver.resources()]
    assert versions == ["v1", "v2", "v2"]
    assert ran.err.count("whileai: traces of refund-bot go to") == 1


def test_a_provider_set_after_a_reset_is_joined_by_the_next_call(receiver: Receiver, agent: Agents) -> None:
    agent(
        START
        + """
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.util._once import Once
whileai.instrument(quiet=True)
work("first")
trace.get_tracer_provider().shutdown()
trace._TRACER_PROVIDER_SET_ONCE = Once()
trace.set_tracer_provider(TracerProvider())
whileai.instrument(quiet=True)
work("second")
"""
    )
    assert receiver.names() == ["first", "second"]


def test_a_provider_that_cannot_be_joined_is_told_and_harms_nobody(receiver: Receiver, agent: Agents) -> None:
    ran = agent(
        START
        + """
trace.set_tracer_provider(trace.NoOpTracerProvider())
whileai.instrument(quiet=True)
work("unseen")
print(json.dumps("went on"))
"""
    )
    assert ran.told == "went on"
    assert "NoOpTracerProvider takes no processors" in ran.err
    assert receiver.asked == []


def test_without_a_key_the_agent_runs_and_is_told_once(receiver: Receiver, agent: Agents) -> None:
    ran = agent(START + "whileai.instrument()\nwork('unseen')\nprint(json.dumps('went on'))", WHILEAI_API_KEY="")
    assert ran.told == "went on"
    assert ran.err.count("whileai: nothing is sent: no key for") == 1
    assert receiver.asked == []


def test_the_line_says_where_traces_go_and_what_would_help(agent: Agents) -> None:
    ran = agent(START + "whileai.instrument(agent='refund-bot')")
    (line,) = ran.err.splitlines()
    assert line.startswith("whileai: traces of refund-bot go to http://127.0.0.1:")
    assert ran.out == ""


def test_a_wrong_setting_is_said_at_once(agent: Agents) -> None:
    ran = agent(START + "whileai.instrument(redact='(')")
    assert ran.code == 1
    assert "redact= has the pattern '(', which is no regular expression" in ran.err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_server_sends_each_span_once(receiver: Receiver, agent: Agents) -> None:
    agent(
        START
        + """
whileai.instrument(quiet=True)
work("warmed up")
whileai.flush()
work("of the parent, waiting at the fork")
for number in range(3):
    if os.fork() == 0:
        work(f"child {number}")
        whileai.reward(1.0)
        sys.exit()
for _ in range(3):
    assert os.wait()[1] == 0
""",
        PYTHONWARNINGS="ignore::DeprecationWarning",
    )
    expected = ["child 0", "child 1", "child 2", "of the parent, waiting at the fork", "warmed up"]
    assert sorted(receiver.names()) == expected


def test_a_frozen_process_goes_on_sending_when_it_is_thawed(receiver: Receiver, tmp_path: Path) -> None:
    program = START + (
        "whileai.instrument(quiet=True)\n"
        "for line in sys.stdin:\n    work(line.strip())\n    print(whileai.flush(), flush=True)\n"
    )
    own = {"WHILEAI_API_URL": receiver.url, "WHILEAI_API_KEY": KEY, "WHILEAI_HOME": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, **own},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for name in ("before", "after"):
            process.stdin.write(name + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == "True\n"
            process.send_signal(signal.SIGSTOP)
            process.send_signal(signal.SIGCONT)
    finally:
        process.communicate()
    assert receiver.names() == ["before", "after"]


def test_an_agent_ends_though_the_service_does_not_answer_and_nothing_is_lost(
    receiver: Receiver, agent: Agents
) -> None:
    receiver.open.clear()
    ran = agent(START + "whileai.instrument(quiet=True)\nwork('kept')\nprint(json.dumps('done'))")
    assert ran.told == "done"
    receiver.open.set()
    receiver.traces.clear()
    agent(START + "whileai.instrument(quiet=True)\nwork('next')")
    assert {"kept", "next"} <= set(receiver.names())


def test_the_agents_own_log_says_nothing_of_our_requests(receiver: Receiver, agent: Agents) -> None:
    ran = agent(
        "import logging, httpx, os\nlogging.basicConfig(level=logging.INFO)\n"
        + START
        + "whileai.instrument(quiet=True)\nwork('one')\nwhileai.flush()\n"
        + "httpx.post(os.environ['WHILEAI_API_URL'] + '/v1/of_the_agent', content=b'')"
    )
    assert receiver.names() == ["one"]
    assert "/v1/of_the_agent" in ran.err
    assert "/v1/traces" not in ran.err


def test_a_service_that_is_not_there_costs_the_agent_nothing_but_a_line(agent: Agents, tmp_path: Path) -> None:
    ran = agent(
        START + "whileai.instrument(spool=False, quiet=True)\nwork('lost')\nprint(json.dumps(whileai.flush()))",
        WHILEAI_API_URL="http://127.0.0.1:9",
    )
    assert ran.told is False
    assert "http://127.0.0.1:9 does not take traces now" in ran.err
    assert not (tmp_path / "home" / "spool").exists()


def test_the_program_may_be_run_without_a_line_of_code(receiver: Receiver, agent: Agents, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import builtins\nbuiltins.own_sitecustomize = True\n")
    ran = agent(
        """
        import json, subprocess, sys
        from opentelemetry import trace
        with trace.get_tracer("tests").start_as_current_span("untouched"):
            pass
        print(json.dumps([own_sitecustomize, sys.argv[1:]]))
        """,
        command=(whileai_command(), "run", "--agent", "refund-bot", "--agent-version", "v4", "--", sys.executable),
        PYTHONPATH=str(tmp_path / "own"),
    )
    assert ran.told == [True, []]
    assert receiver.span("untouched") == {"gen_ai.agent.name": "refund-bot"}
    assert "whileai: traces of refund-bot go to" in ran.err


def test_the_programs_exit_code_and_a_missing_program_are_told(agent: Agents) -> None:
    assert agent("raise SystemExit(7)", command=(whileai_command(), "run", "--", sys.executable)).code == 7
    missing = agent("", command=(whileai_command(), "run", "--", "no-such-program"))
    assert (missing.code, missing.err) == (1, "error: there is no program 'no-such-program' on the path\n")


def test_opentelemetrys_own_command_finds_the_distribution(receiver: Receiver, agent: Agents) -> None:
    ran = agent(
        """
        from opentelemetry import trace
        with trace.get_tracer("tests").start_as_current_span("untouched"):
            pass
        """,
        command=(str(Path(sys.executable).with_name("opentelemetry-instrument")), sys.executable),
        WHILEAI_AGENT_NAME="refund-bot",
    )
    assert ran.code == 0, ran.err
    assert receiver.span("untouched") == {"gen_ai.agent.name": "refund-bot"}


def test_without_a_key_opentelemetrys_command_does_what_it_did_before(receiver: Receiver, agent: Agents) -> None:
    ran = agent(
        """
        from opentelemetry import trace
        with trace.get_tracer("tests").start_as_current_span("elsewhere"):
            pass
        """,
        command=(str(Path(sys.executable).with_name("opentelemetry-instrument")), sys.executable),
        WHILEAI_API_KEY="",
        OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
        OTEL_TRACES_EXPORTER="otlp",
        OTEL_METRICS_EXPORTER="none",
        OTEL_LOGS_EXPORTER="none",
    )
    assert ran.code == 0, ran.err
    assert receiver.names() == ["elsewhere"]
    assert "x-api-key" not in receiver.requests[0]


def whileai_command() -> str:
    return str(Path(sys.executable).with_name("whileai"))
