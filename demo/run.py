"""`make demo`: a service, an agent that streams its traces to it, a grade for each run, and an RL train and holdout
set as files. Each step is what a user of the platform does; only the model is a script."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import whileai
import whileai.simulations as wai
from demo import service as services
from demo.scenarios import BY_ID, RUNS_EACH, SCENARIOS, is_right
from demo.scripted_model import serving
from demo.service import ROOT, DemoError, Service
from whileai.errors import PlatformError

AGENT = "refund-desk"


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is stopped on the way out
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts its background jobs with it ignored
    keep = os.environ.get("KEEP", "") not in ("", "0")
    parent = Path(os.environ.get("DEMO_DATA") or ROOT / "demo-data")
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=parent))
    started = time.monotonic()
    service, leave_running = None, False
    try:
        say(f"starting the service on {folder}")
        service = services.start(folder)
        walk(service)
        say(f"done in {time.monotonic() - started:.0f} s")
        print(where_to_look(service) if keep else how_to_look(service))
        leave_running = keep
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except (DemoError, PlatformError, OSError) as problem:
        print(f"demo: {problem}", file=sys.stderr)
        return 1
    finally:
        if service is not None and not leave_running:
            service.stop()
    return 0


def walk(service: Service) -> None:
    """Traces in, training data out."""
    own = services.clean_environment(WHILEAI_HOME=str(service.home), WHILEAI_API_URL=service.url)
    os.environ.clear()
    os.environ.update(own)

    say(f"running the agent: {len(SCENARIOS)} situations, {RUNS_EACH} tries each, spans over OTLP to {service.url}")
    runs = run_agent(service)

    say(f"grading {len(runs)} runs by what was paid back")
    passed = 0
    for run in runs:
        good = is_right(BY_ID[run["scenario_id"]], [(order, amount) for order, amount in run["refunds"]])
        wai.send_score(run["trace_id"], 1.0 if good else 0.0)
        passed += good
    print(f"   {passed} passed, {len(runs) - passed} failed")

    say("what a cut would hold")
    report = wai.cuts(agent=AGENT)
    print(f"   {wai.format_cuts(report, agent=AGENT)}")
    for warning in report.get("warnings") or []:
        print(f"   note: {warning}")

    say("cutting an RL train and holdout set")
    made = wai.cut(agent=AGENT, kind="rl")
    paths = {}
    for role in ("train", "holdout"):
        entry = made[role]
        if entry is None:
            raise DemoError(f"the cut made no {role} set: {made}")
        paths[role] = wai.pull(entry["datasetId"], service.folder / f"{role}.jsonl")
        print(f"   {role + ':':9}{entry['rows']:3} rows of {entry['tasks']} tasks in {paths[role]}")

    say("the first row to train on, in short")
    with open(paths["train"], encoding="utf-8") as file:
        print(in_short(json.loads(file.readline())))


def run_agent(service: Service) -> list[dict[str, Any]]:
    """One entry a run, as the agent printed them. Raises `DemoError` when it fails."""
    runs: list[dict[str, Any]] = []
    with serving() as model_url:
        process = services.run_agent(
            services.clean_environment(
                OPENAI_BASE_URL=model_url,
                OPENAI_API_KEY="none-needed",
                OTEL_SERVICE_NAME=AGENT,
                **whileai.otel_env(service.api_key, dataset=AGENT, base_url=service.url),
            )
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                runs.append(json.loads(line))
                tick(len(runs), len(SCENARIOS) * RUNS_EACH)
            if process.wait() != 0:
                raise DemoError("the agent failed; what it said stands above")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    return runs


def in_short(row: dict[str, Any]) -> str:
    """A row as a few lines: the identity, then the talk."""
    lines = [f"   task {row['scenario_id']}, reward {row['reward']:g}, trace {row['lineage']['trace_id']}"]
    for message in row["messages"]:
        calls = [in_one_line(call["function"]) for call in message.get("tool_calls") or []]
        text = " ".join(filter(None, [message.get("content") or "", *calls]))
        lines.append(f"   {message['role'] + ':':11}{text if len(text) <= 100 else text[:99] + '…'}")
    return "\n".join(lines)


def in_one_line(function: dict[str, Any]) -> str:
    arguments = function["arguments"]
    return f"{function['name']}({arguments if isinstance(arguments, str) else json.dumps(arguments)})"


def where_to_look(service: Service) -> str:
    return (
        f"\nThe service is still running (KEEP=1): {service.url}\n"
        f"  look:  WHILEAI_HOME={service.home} {services.COMMAND} traces\n"
        f"         {curl(service, service.url)}\n"
        f"  stop:  kill {service.process.pid}"
    )


def how_to_look(service: Service) -> str:
    return (
        "\nThe service was stopped; its data stay. To look at the runs, start it again:\n"
        f"  WHILEAI_HOME={service.home} {services.COMMAND} serve --data {service.folder / 'data'}\n"
        f"then, in another terminal: {curl(service, 'http://127.0.0.1:4318')}\n"
        "`make demo KEEP=1` leaves it running."
    )


def curl(service: Service, url: str) -> str:
    return f"curl -H 'x-api-key: {service.api_key}' '{url}/traces?agent={AGENT}'"


def say(step: str) -> None:
    print(f"\n▸ {step}", flush=True)


def tick(done: int, total: int) -> None:
    """A counter that overwrites itself on a terminal, and one line at the end elsewhere."""
    if sys.stdout.isatty():
        print(f"\r   {done} of {total} runs", end="\n" if done == total else "", flush=True)
    elif done == total:
        print(f"   {done} runs", flush=True)


if __name__ == "__main__":
    sys.exit(main())
