"""OTLP from wherever it lies (files, bodies, documents, an SDK's spans) as spans and log records."""

import base64
import gzip
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from whileai_dialects import LogRecord, Span
from whileai_dialects.wire import LogWire, SpanWire

GZIP_MAGIC = b"\x1f\x8b"
IDS = ("traceId", "spanId", "parentSpanId")


@dataclass
class Telemetry:
    """What was read, in the order it lay there."""

    spans: list[Span] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)


def read(source: Any) -> Telemetry:
    """Spans and log records of a file or folder, a body, an OTLP document, a list of any of these, or of SDK spans.

    Files are JSON, JSON lines or protobuf, perhaps gzipped. A folder is read by file name; in a list, later copies of a
    span replace earlier ones.
    """
    telemetry = Telemetry()
    for document in _documents(source):
        _add(telemetry, document)
    return telemetry


Document = TracesData | LogsData


def _documents(source: Any) -> Iterator[Document]:
    if isinstance(source, str | os.PathLike):
        yield from _text_or_path(source)
    elif isinstance(source, bytes):
        yield from _body(source, "the body")
    elif isinstance(source, Mapping):
        yield _parsed(source)
    elif isinstance(source, Iterable):
        items = list(source)
        if items and all(isinstance(item, Mapping) and "traceId" in item for item in items):
            yield _parsed({"resourceSpans": [{"scopeSpans": [{"spans": items}]}]})
        elif items and all(hasattr(item, "get_span_context") for item in items):
            yield _of_sdk_spans(items)
        else:
            for item in items:
                yield from _documents(item)
    else:
        raise ValueError(
            f"OTLP cannot be read from a {type(source).__name__}; give a file, a body, a document or spans"
        )


def _text_or_path(source: str | os.PathLike[str]) -> Iterator[Document]:
    if isinstance(source, str) and source.lstrip()[:1] in ("{", "["):
        yield from _body(source.encode(), "the text")
        return
    path = Path(source)
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    for file in files:
        if path.is_dir() and not _is_telemetry(file):
            continue
        yield from _body(file.read_bytes(), str(file), logs=".logs." in file.name)


def _is_telemetry(file: Path) -> bool:
    name = file.name.removesuffix(".gz")
    return name.endswith((".pb", ".json", ".jsonl")) and not name.endswith(".headers.json")


def _body(body: bytes, what: str, *, logs: bool = False) -> Iterator[Document]:
    plain = gzip.decompress(body) if body.startswith(GZIP_MAGIC) else body
    if plain.lstrip()[:1] in (b"{", b"["):
        for value in _json_documents(plain, what):
            yield from _documents(value)
        return
    try:
        yield LogsData.FromString(plain) if logs else TracesData.FromString(plain)
    except DecodeError as problem:
        raise ValueError(f"{what} is neither JSON nor OTLP protobuf: {problem}") from problem


def _json_documents(plain: bytes, what: str) -> list[Any]:
    try:
        return [json.loads(plain)]
    except ValueError as problem:
        lines = [line for line in plain.splitlines() if line.strip()]
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            raise ValueError(f"{what} is not JSON: {problem}") from problem


def _parsed(document: Mapping[str, Any]) -> Document:
    """An OTLP/JSON document. Its ids are hex, where protobuf's own JSON has base64; unknown fields do not matter."""
    kind: type[TracesData] | type[LogsData] = LogsData if "resourceLogs" in document else TracesData
    try:
        return ParseDict(_with_base64_ids(document), kind(), ignore_unknown_fields=True)
    except (ParseError, ValueError, TypeError) as problem:
        raise ValueError(f"not an OTLP document: {problem}") from problem


def _with_base64_ids(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: base64.b64encode(bytes.fromhex(inner)).decode()
            if key in IDS and isinstance(inner, str)
            else _with_base64_ids(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_with_base64_ids(inner) for inner in value]
    return value


def _of_sdk_spans(spans: Sequence[Any]) -> Document:
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    return TracesData.FromString(encode_spans(spans).SerializeToString())


def _add(telemetry: Telemetry, document: Document) -> None:
    at = len(telemetry.spans) + len(telemetry.logs)
    if isinstance(document, TracesData):
        for resource_spans in document.resource_spans:
            for scope_spans in resource_spans.scope_spans:
                for span in scope_spans.spans:
                    at += 1
                    frame = _frame(SpanWire, span, resource_spans.resource, scope_spans.scope, at)
                    telemetry.spans.append(Span.from_frame(frame))
    else:
        for resource_logs in document.resource_logs:
            for scope_logs in resource_logs.scope_logs:
                for record in scope_logs.log_records:
                    at += 1
                    frame = _frame(LogWire, record, resource_logs.resource, scope_logs.scope, at)
                    telemetry.logs.append(LogRecord.from_frame(frame))


def _frame(wire: Any, item: Message, resource: Message, scope: Message, version: int) -> bytes:
    """The item with what stands around it, as the service stores it; its place in the source stands for its arrival."""
    framed = wire.FromString(item.SerializeToString())
    framed.resource, framed.scope, framed.version = resource.SerializeToString(), scope.SerializeToString(), version
    frame: bytes = framed.SerializeToString()
    return frame
