"""Sending traces: the environment of an OpenTelemetry exporter, ready-made OTLP bodies and files, and finished runs."""

import gzip
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from whileai import environment, runs_as_spans, transport
from whileai.credentials import Credential, require
from whileai.errors import WhileIngestError

__all__ = ["WhileIngestError", "ingest_traces", "list_traces", "otel_env", "send_runs", "send_traces"]

GZIP_MAGIC = b"\x1f\x8b"
GZIP_ABOVE = 1_000_000  # bytes of a body that send_runs compresses
BODY_TARGET = 16_000_000  # bytes after which a new request begins: a quarter of what the service takes at once
NOT_NANOSECONDS = 10**15  # below it a time is in ms or s: as nanoseconds it would lie in January 1970
DATASET_KEYS = ("zeroproof.dataset", "whileai.dataset")


def otel_env(api_key: str, dataset: str = "traces", base_url: str | None = None) -> dict[str, str]:
    """The variables that point any OpenTelemetry SDK at the service.

    >>> otel_env("zp_key", dataset="support", base_url="http://127.0.0.1:4318")["OTEL_EXPORTER_OTLP_PROTOCOL"]
    'http/protobuf'
    """
    name = quote(dataset, safe="")
    return {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{_base(base_url)}/v1/traces",
        "OTEL_EXPORTER_OTLP_HEADERS": f"x-api-key={quote(api_key, safe='')}",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_RESOURCE_ATTRIBUTES": ",".join(f"{key}={name}" for key in DATASET_KEYS),
    }


def send_traces(api_key: str, body: bytes, base_url: str | None = None, timeout: float = 60) -> dict[str, Any]:
    """Send one OTLP request as it is: JSON or protobuf, plain or gzip. The answer names the dataset it went to.

    Resending the same body is harmless: a span is known by its ids, so it is tried again when the service is busy.
    """
    plain = _plain(body)
    is_json = plain.lstrip()[:1] == b"{"
    if is_json:
        _refuse_other_time_units(_parsed(plain, "the body"))
    headers = {"Content-Type": "application/json" if is_json else "application/x-protobuf"}
    if plain is not body:
        headers["Content-Encoding"] = "gzip"
    response = transport.exchange(
        "POST",
        f"{_base(base_url)}/v1/traces",
        credential=Credential(api_key, "the api_key argument") if api_key else None,
        content=body,
        headers=headers,
        timeout=timeout,
        idempotent=True,
        failure=WhileIngestError,
    )
    return _answer(response.content, is_json)


def ingest_traces(
    api_key: str, file: str | os.PathLike[str], dataset: str | None = None, base_url: str | None = None
) -> dict[str, Any]:
    """Send a file of OTLP JSON: one document, or one a line as the Collector's file exporter writes; `.gz` too.

    With `dataset=`, everything in the file goes to the dataset of that name.
    """
    answers = [
        send_traces(api_key, json.dumps({"resourceSpans": batch}).encode(), base_url=base_url)
        for batch in _batches(_resource_spans(Path(file), dataset))
    ]
    if not answers:
        raise WhileIngestError(f"{file} holds no resourceSpans; it must be OTLP JSON")
    return _together(answers)


def send_runs(
    rows: Sequence[Mapping[str, Any]],
    *,
    agent: str,
    api_key: str | None = None,
    dataset: str | None = None,
    pass_at: float = 1.0,
    model: str | None = None,
    base_url: str | None = None,
    timeout: float = 60,
) -> dict[str, Any]:
    """Send finished runs that were never traced: one row, with a prompt and perhaps a reply and a reward, is one run.

    A reward of at least `pass_at` is a pass. Runs of one `scenario_id`, else of one prompt, are runs of one task.
    """
    if not rows:
        raise WhileIngestError("no rows to send; give at least one row with a prompt")
    base = _base(base_url)
    key = require("account", api_key, base if base_url else environment.api_url()).key
    spans = runs_as_spans.spans_of(
        rows,
        agent=agent,
        model=model,
        pass_at=pass_at,
        now_ns=time.time_ns(),
        new_id=lambda size: os.urandom(size).hex(),
    )
    answers = []
    for batch in _batches(spans):
        body = json.dumps(runs_as_spans.export_request(agent, dataset or agent, batch)).encode()
        packed = gzip.compress(body, compresslevel=6) if len(body) > GZIP_ABOVE else body
        answers.append(send_traces(key, packed, base_url=base, timeout=timeout))
    return _together(answers)


def list_traces(api_key: str | None = None, base_url: str | None = None, timeout: float = 30) -> dict[str, Any]:
    """What was ingested: one entry per dataset name and day, with rows and bytes, and the account's totals."""
    base = _base(base_url)
    return transport.call(
        "GET",
        f"{base}/traces",
        credential=require("account", api_key, base if base_url else environment.api_url()),
        timeout=timeout,
        failure=WhileIngestError,
    )


def _base(base_url: str | None) -> str:
    return (base_url or environment.trace_url()).rstrip("/")


def _plain(body: bytes) -> bytes:
    if not body.startswith(GZIP_MAGIC):
        return body
    try:
        return gzip.decompress(body)
    except (OSError, EOFError) as problem:
        raise WhileIngestError(f"the body begins like gzip but does not unpack: {problem}") from problem


def _parsed(text: bytes, what: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as problem:
        raise WhileIngestError(f"{what} is not JSON: {problem}") from problem
    if not isinstance(value, dict):
        raise WhileIngestError(f"{what} is not an OTLP request: it must be a JSON object with resourceSpans")
    return value


def _refuse_other_time_units(request: Mapping[str, Any]) -> None:
    """Seconds or milliseconds taken for nanoseconds would hide the traces from every time window."""
    for resource in request.get("resourceSpans") or ():
        for scope in resource.get("scopeSpans") or ():
            for span in scope.get("spans") or ():
                start = span.get("startTimeUnixNano", 0)
                if str(start).isdigit() and 0 < int(start) < NOT_NANOSECONDS:
                    raise WhileIngestError(
                        f"span {span.get('name') or span.get('spanId')!r} starts at {start}, which cannot be "
                        "nanoseconds since 1970: multiply seconds by 10**9, milliseconds by 10**6"
                    )


def _resource_spans(file: Path, dataset: str | None) -> Iterator[dict[str, Any]]:
    text = _plain(file.read_bytes())
    try:
        documents = [_parsed(text, str(file))]
    except WhileIngestError:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        if len(lines) < 2:
            raise
        documents = [_parsed(line, f"line {number} of {file}") for number, line in lines]
    for document in documents:
        for resource_spans in document.get("resourceSpans") or ():
            if dataset is not None:
                resource = resource_spans.setdefault("resource", {})
                kept = [item for item in resource.get("attributes") or () if item.get("key") not in DATASET_KEYS]
                named = runs_as_spans.attributes(dict.fromkeys(DATASET_KEYS, dataset))
                resource["attributes"] = [*kept, *named]
            yield resource_spans


def _batches(items: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for item in items:
        weight = len(json.dumps(item))
        if batch and size + weight > BODY_TARGET:
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += weight
    if batch:
        yield batch


def _answer(content: bytes, is_json: bool) -> dict[str, Any]:
    if not content.strip():
        return {}
    if is_json:
        return _parsed(content, "the service's answer")
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    answer: dict[str, Any] = MessageToDict(ExportTraceServiceResponse.FromString(content))
    return answer


def _together(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One answer for what went out as several requests."""
    if len(answers) == 1:
        return answers[0]
    rows = sum(answer.get("rows") or 0 for answer in answers)
    return {**answers[-1], "rows": rows, "requests": len(answers)}
