"""What instrumentation costs an agent: the import, the set-up, each span beyond the plain SDK, each grade.

Each thing is measured in a process of its own, several times, plain and instrumented in turn. Spans are measured in
processor time, of the agent's thread and of the whole process, because another program's load must not count. Prints a
table, and with `--json FILE` writes the numbers.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.agents import run_program
from support.otlp_receiver import receiving
from support.service import KEY, Service

ROUNDS = 7
TARGET_RATIO = 1.15

# A model call's span as frameworks write it: about 3.7 KB, nested below a root, bursts with pauses as agents have.
SPANS = """
import json, sys, time
from opentelemetry import trace

MESSAGES = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "x" * 1700}]}])
ATTRIBUTES = {
    "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.response.model": "gpt-4o-mini", "gen_ai.response.id": "chatcmpl-1", "gen_ai.request.temperature": 0.7,
    "gen_ai.usage.input_tokens": 120, "gen_ai.usage.output_tokens": 39,
    "gen_ai.input.messages": MESSAGES, "gen_ai.output.messages": MESSAGES,
}
BURSTS, SPANS = 60, 50

def burst(tracer):
    with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
        for _ in range(SPANS):
            with tracer.start_as_current_span("chat", attributes=ATTRIBUTES):
                pass

def measure(flush):
    tracer = trace.get_tracer("bench")
    burst(tracer)
    flush()
    alone, whole = 0.0, time.process_time()
    for _ in range(BURSTS):
        started = time.thread_time()
        burst(tracer)
        alone += time.thread_time() - started
        flush()
    whole = time.process_time() - whole
    count = BURSTS * (SPANS + 1)
    print(json.dumps([alone / count * 1e6, whole / count * 1e6]))
"""
PLAIN = """
import os
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
exporter = OTLPSpanExporter(
    os.environ["WHILEAI_API_URL"] + "/v1/traces", headers={"x-api-key": "bench"}, compression=Compression.Gzip
)
provider.add_span_processor(BatchSpanProcessor(exporter))
trace.set_tracer_provider(provider)
measure(provider.force_flush)
"""
INSTRUMENTED = """
import whileai
whileai.instrument(agent="bench", quiet=True, only=[])
measure(whileai.flush)
"""
SCENARIO = """
import whileai
whileai.instrument(agent="bench", quiet=True, only=[])
with whileai.scenario("bench", eval_set="bench"):
    measure(whileai.flush)
"""
START = """
import time
started = time.perf_counter()
import whileai
imported = time.perf_counter()
whileai.instrument(quiet=True)
print([(imported - started) * 1e3, (time.perf_counter() - imported) * 1e3])
"""
SCORES = """
import time
import whileai, whileai.simulations as wai
whileai.instrument(agent="bench", quiet=True, only=[])

@whileai.run
def run():
    return whileai.current_trace_id()

ids = [run() for _ in range(100)]
wai.send_score(ids[0], 1.0)
started = time.perf_counter()
for trace_id in ids:
    wai.send_score(trace_id, 1.0)
print([(time.perf_counter() - started) / len(ids) * 1e3])
"""


def measure() -> dict[str, float]:
    """The medians of all rounds."""
    spans = {"plain": PLAIN, "instrumented": INSTRUMENTED, "in a scenario": SCENARIO}
    alone: dict[str, list[float]] = {name: [] for name in spans}
    whole: dict[str, list[float]] = {name: [] for name in spans}
    with tempfile.TemporaryDirectory() as folder, receiving() as receiver:
        environment = {"WHILEAI_API_URL": receiver.url, "WHILEAI_API_KEY": "bench", "WHILEAI_HOME": folder}
        starts = [numbers(START, environment) for _ in range(ROUNDS)]
        for _ in range(ROUNDS):
            for name, code in spans.items():
                one, other = numbers(SPANS + code, environment)
                alone[name].append(one)
                whole[name].append(other)
    with tempfile.TemporaryDirectory() as folder, Service(Path(folder)) as service:
        environment = {"WHILEAI_API_URL": service.url, "WHILEAI_API_KEY": KEY, "WHILEAI_HOME": folder}
        scores = [numbers(SCORES, environment)[0] for _ in range(3)]
    middle: Callable[[Sequence[float]], float] = statistics.median
    plain, sent = middle(alone["plain"]), middle(whole["plain"])
    return {
        "import_ms": middle([start[0] for start in starts]),
        "instrument_ms": middle([start[1] for start in starts]),
        "span_plain_us": plain,
        "span_instrumented_us": middle(alone["instrumented"]),
        "span_in_scenario_us": middle(alone["in a scenario"]),
        "span_ratio": middle(alone["instrumented"]) / plain,
        "span_in_scenario_ratio": middle(alone["in a scenario"]) / plain,
        "sent_span_plain_us": sent,
        "sent_span_instrumented_us": middle(whole["instrumented"]),
        "sent_span_ratio": middle(whole["instrumented"]) / sent,
        "sent_span_in_scenario_ratio": middle(whole["in a scenario"]) / sent,
        "send_score_ms": middle(scores),
    }


def numbers(code: str, environment: Mapping[str, str]) -> list[float]:
    """The numbers that a program prints on its last line."""
    done: subprocess.CompletedProcess[str] = run_program([sys.executable, "-c", code], environment)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return [float(number) for number in json.loads(done.stdout.splitlines()[-1])]


def table(result: Mapping[str, float]) -> str:
    rows = [
        ("import whileai", f"{result['import_ms']:.1f} ms"),
        ("whileai.instrument(), nothing to switch on", f"{result['instrument_ms']:.0f} ms"),
        ("a span, plain SDK", f"{result['span_plain_us']:.1f} µs"),
        ("a span, instrumented", f"{result['span_instrumented_us']:.1f} µs, × {result['span_ratio']:.2f}"),
        ("a span in a scenario", f"{result['span_in_scenario_us']:.1f} µs, × {result['span_in_scenario_ratio']:.2f}"),
        ("a span with its sending, plain SDK", f"{result['sent_span_plain_us']:.1f} µs"),
        (
            "a span with its sending, instrumented",
            f"{result['sent_span_instrumented_us']:.1f} µs, × {result['sent_span_ratio']:.2f}",
        ),
        ("the same in a scenario", f"× {result['sent_span_in_scenario_ratio']:.2f}"),
        (f"target: at most × {TARGET_RATIO}", "met" if result["sent_span_ratio"] <= TARGET_RATIO else "missed"),
        ("send_score, the run's spans included", f"{result['send_score_ms']:.1f} ms"),
    ]
    width = max(len(what) for what, _ in rows)
    return "\n".join(f"{what:<{width}}  {number}" for what, number in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    args = parser.parse_args()
    result = measure()
    print(table(result))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
