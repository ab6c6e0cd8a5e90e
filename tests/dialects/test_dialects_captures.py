"""Every captured run, in every flavour, reads as the run that happened."""

import base64
import gzip
import hashlib
import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from whileai_dialects import LogRecord, Run, Span, summarise
from whileai_dialects.wire import LogWire, SpanWire

# Another folder of captures in the same layout can be checked with WHILEAI_OTLP_CAPTURES.
CAPTURES = Path(os.environ.get("WHILEAI_OTLP_CAPTURES") or Path(__file__).parents[1] / "fixtures" / "otlp")
BODY = re.compile(r"^(\d+)\.(traces|logs)\.(pb|json)(\.gz)?$")
FIELDS = ("agent", "model", "provider", "prompt", "system", "finalText", "status", "conversationId", "spanCount")
DIRECTORIES = sorted(path.parent.name for path in CAPTURES.glob("*/truth.json"))


@cache
def captured(directory: str) -> tuple[dict[str, list[Span]], dict[str, list[LogRecord]]]:
    spans: dict[str, list[Span]] = {}
    logs: dict[str, list[LogRecord]] = {}
    files = sorted(path for path in (CAPTURES / directory).iterdir() if BODY.match(path.name))
    for arrived, path in enumerate(files, 2 * 10**18):
        data = decoded(path)
        for resource, scope, item in items(data):
            wire = SpanWire if isinstance(data, TracesData) else LogWire
            tail = wire(version=arrived, resource=resource.SerializeToString(), scope=scope.SerializeToString())
            frame = item.SerializeToString() + tail.SerializeToString()
            if isinstance(data, TracesData):
                spans.setdefault(item.trace_id.hex(), []).append(Span.from_frame(frame))
            else:
                logs.setdefault(item.trace_id.hex(), []).append(LogRecord.from_frame(frame))
    return spans, logs


def decoded(path: Path) -> TracesData | LogsData:
    data = TracesData() if ".traces." in path.name else LogsData()
    body = path.read_bytes()
    body = gzip.decompress(body) if path.suffix == ".gz" else body
    if ".pb" in path.name:
        data.ParseFromString(body)
        return data
    return ParseDict(json.loads(body, object_hook=with_base64_ids), data, ignore_unknown_fields=True)


def with_base64_ids(document: dict[str, Any]) -> dict[str, Any]:
    """OTLP/JSON has hexadecimal ids where protobuf's own JSON has base64."""
    ids = document.keys() & {"traceId", "spanId", "parentSpanId"}
    return document | {key: base64.b64encode(bytes.fromhex(document[key])).decode() for key in ids}


def items(data: TracesData | LogsData) -> Iterator[tuple[Any, Any, Any]]:
    if isinstance(data, TracesData):
        for spans in data.resource_spans:
            for scoped in spans.scope_spans:
                yield from ((spans.resource, scoped.scope, span) for span in scoped.spans)
    else:
        for logs in data.resource_logs:
            for records in logs.scope_logs:
                yield from ((logs.resource, records.scope, record) for record in records.log_records)


def runs() -> Iterator[Any]:
    for directory in DIRECTORIES:
        for run in json.loads((CAPTURES / directory / "truth.json").read_text("utf-8"))["runs"]:
            name = f"{directory}-{run['scenario']}-{run.get('call', 1)}-{run['traceId'][:4]}"
            yield pytest.param(directory, run, id=name)


def answers(run: Run) -> dict[str, Any]:
    return {
        "agent": run.agent,
        "model": run.model,
        "provider": run.provider,
        "prompt": run.prompt,
        "system": run.system,
        "finalText": run.final_text,
        "status": run.status,
        "conversationId": run.conversation_id,
        "spanCount": run.span_count,
        "usage.inputTokens": run.usage.input_tokens,
        "usage.outputTokens": run.usage.output_tokens,
        "usage.cachedInputTokens": run.usage.cached_input_tokens,
        "usage.reasoningTokens": run.usage.reasoning_tokens,
    }


@pytest.mark.parametrize(("directory", "truth"), list(runs()))
def test_a_captured_run_reads_as_what_happened(directory: str, truth: dict[str, Any]) -> None:
    spans, logs = captured(directory)
    run = summarise(spans.get(truth["traceId"], []), logs.get(truth["traceId"], []))
    assert faults(truth, run) == []


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_the_order_of_arrival_changes_nothing(directory: str) -> None:
    spans, logs = captured(directory)
    for trace_id, own in spans.items():
        told = logs.get(trace_id, [])
        assert summarise(own[::-1], told) == summarise(own, told)


def faults(truth: dict[str, Any], run: Run) -> list[str]:
    """What the reader answered wrongly, one sentence each."""
    expect, accept, got = truth["expect"], truth.get("accept", {}), answers(run)
    wanted = {field: expect[field] for field in FIELDS if field in expect}
    wanted |= {f"usage.{field}": count for field, count in expect.get("usage", {}).items()}
    found = [
        f"{field}: want {want!r}, got {got[field]!r}"
        for field, want in wanted.items()
        if not any(same_fact(right, got[field]) for right in [want, *accept.get(field, [])])
    ]
    if "steps" in expect:
        kinds = ("tool",) if truth.get("ignoreUserSteps") else ("tool", "user")
        steps = [step for step in run.steps if any(kind in step for kind in kinds)]
        wrong = [steps_fault(want, steps, kinds) for want in [expect["steps"], *accept.get("steps", [])]]
        if None not in wrong:
            found.append(f"steps: {wrong[0]}")
    return found


def steps_fault(wanted: list[dict[str, Any]], steps: list[dict[str, Any]], kinds: tuple[str, ...]) -> str | None:
    wanted = [step for step in wanted if any(kind in step for kind in kinds)]
    if len(wanted) != len(steps):
        return f"want {len(wanted)} steps, got {len(steps)}: {steps}"
    return next((fault for want, got in zip(wanted, steps, strict=True) if (fault := step_fault(want, got))), None)


def step_fault(want: dict[str, Any], got: dict[str, Any]) -> str | None:
    if "user" in want:
        return None if same_fact(want["user"], got.get("user")) else f"want {want}, got {got}"
    wrong = [
        "tool" not in got or got["tool"] not in [want["tool"], *want.get("acceptTool", ())],
        "arguments" in want and not same_value(want["arguments"], got.get("arguments")),
        "result" in want
        and not any(same_result(right, got.get("result")) for right in [want["result"], *want.get("acceptResult", ())]),
        "resultContains" in want
        and want["resultContains"] not in json.dumps([got.get("result"), got.get("error")], ensure_ascii=False),
        "error" in want and bool(got.get("error")) != want["error"],
    ]
    return f"want {want}, got {got}" if any(wrong) else None


def same_fact(want: Any, got: Any) -> bool:
    if isinstance(want, dict):
        return isinstance(got, str) and want["contains"].strip() in got
    if isinstance(want, str) and isinstance(got, str):
        return want.strip() == got.strip()
    return bool(want == got)


def same_result(want: Any, got: Any) -> bool:
    if isinstance(want, dict) and want.keys() == {"sha256", "chars"}:
        digest = hashlib.sha256(str(got).encode("utf-8", "surrogatepass")).hexdigest()
        return bool(len(str(got)) == want["chars"] and digest == want["sha256"])
    return same_value(want, got)


def same_value(want: Any, got: Any) -> bool:
    """Values are compared as what they tell: a JSON text as its value, white space at the ends left out."""
    want, got = parsed(want), parsed(got)
    if isinstance(want, dict) and isinstance(got, dict):
        return want.keys() == got.keys() and all(same_value(item, got[key]) for key, item in want.items())
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(map(same_value, want, got))
    return isinstance(want, bool) == isinstance(got, bool) and bool(want == got)


def parsed(value: Any) -> Any:
    if isinstance(value, str):
        value = value.strip()
        if value[:1] in ("{", "[", '"'):
            try:
                return parsed(json.loads(value))
            except ValueError:
                return value
    return value
