"""Taking out what must not leave: patterns or a user's function over every text of a request.

Text that is JSON, as messages and tool arguments are, is opened, so that escapes hide nothing and what comes out is
JSON again. A function that fails takes its text out altogether.
"""

import inspect
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from whileai_instrumentation.errors import UsageError
from whileai_instrumentation.warnings_once import warn

REDACTED = "[redacted]"
FAILED = "[redaction failed]"

Redact = Callable[[str, str], str]
"""From the key a text stands under, and the text, to what may leave."""

Pattern = str | re.Pattern[str]
Wish = Pattern | Iterable[Pattern] | Callable[..., Any] | None


def redactor(wish: Wish) -> Redact | None:
    """One function for what may be given as `redact=`: a pattern, several, or a function of (text) or (key, text)."""
    if wish is None:
        return None
    if isinstance(wish, (str, re.Pattern)):
        wish = [wish]
    if callable(wish):
        return _guarded(wish)
    patterns = [_compiled(pattern) for pattern in wish]

    def by_patterns(_key: str, text: str) -> str:
        for pattern in patterns:
            text = pattern.sub(REDACTED, text)
        return text

    return by_patterns if patterns else None


def redact_request(request: ExportTraceServiceRequest | ExportLogsServiceRequest, redact: Redact) -> None:
    """Redact every text of a request in place."""
    if isinstance(request, ExportTraceServiceRequest):
        for of_resource in request.resource_spans:
            _attributes(of_resource.resource.attributes, redact)
            for of_scope in of_resource.scope_spans:
                _attributes(of_scope.scope.attributes, redact)
                for span in of_scope.spans:
                    _span(span, redact)
        return
    for of_logs in request.resource_logs:
        _attributes(of_logs.resource.attributes, redact)
        for scope_logs in of_logs.scope_logs:
            _attributes(scope_logs.scope.attributes, redact)
            for record in scope_logs.log_records:
                _attributes(record.attributes, redact)
                _value("body", record.body, redact)


def redact_text(key: str, text: str, redact: Redact) -> str:
    """What may leave of a text, opened when it is JSON."""
    if text[:1] in '{["' and len(text) > 1:
        try:
            value = json.loads(text)
        except ValueError:
            return redact(key, text)
        cleaned = _json(key, value, redact)
        if cleaned != value:
            text = json.dumps(cleaned, ensure_ascii=False, separators=(", ", ": "))
        return text
    return redact(key, text)


def _span(span: Span, redact: Redact) -> None:
    span.name = redact("name", span.name)
    if span.status.message:
        span.status.message = redact("status", span.status.message)
    _attributes(span.attributes, redact)
    for event in span.events:
        event.name = redact("event", event.name)
        _attributes(event.attributes, redact)
    for link in span.links:
        _attributes(link.attributes, redact)


def _attributes(attributes: "RepeatedCompositeFieldContainer[KeyValue]", redact: Redact) -> None:
    for attribute in attributes:
        _value(attribute.key, attribute.value, redact)


def _value(key: str, value: AnyValue, redact: Redact) -> None:
    match value.WhichOneof("value"):
        case "string_value":
            text = redact_text(key, value.string_value, redact)
            if text != value.string_value:
                value.string_value = text
        case "int_value" | "double_value" as kind:
            number = str(getattr(value, kind))
            text = redact(key, number)
            if text != number:
                value.string_value = text
        case "bytes_value":
            _bytes(key, value, redact)
        case "array_value":
            for member in value.array_value.values:
                _value(key, member, redact)
        case "kvlist_value":
            for pair in value.kvlist_value.values:
                pair.key = redact(key, pair.key)
                _value(pair.key, pair.value, redact)


def _bytes(key: str, value: AnyValue, redact: Redact) -> None:
    try:
        text = value.bytes_value.decode()
    except UnicodeDecodeError:
        return  # no text
    cleaned = redact_text(key, text, redact)
    if cleaned != text:
        value.bytes_value = cleaned.encode()


def _json(key: str, value: Any, redact: Redact) -> Any:
    match value:
        case str():
            return redact_text(key, value, redact)
        case dict():
            return {redact(key, name): _json(name, member, redact) for name, member in value.items()}
        case list():
            return [_json(key, member, redact) for member in value]
        case bool() | None:
            return value
        case _:  # a number, which may be a card's
            text = redact(key, str(value))
            return value if text == str(value) else text


def _compiled(pattern: Pattern) -> re.Pattern[str]:
    if isinstance(pattern, re.Pattern):
        return pattern
    if not isinstance(pattern, str):
        raise UsageError(f"redact= takes regular expressions or a function, not {type(pattern).__name__}")
    try:
        return re.compile(pattern)
    except re.error as problem:
        raise UsageError(f"redact= has the pattern {pattern!r}, which is no regular expression: {problem}") from problem


def _guarded(function: Callable[..., Any]) -> Redact:
    takes_key = _takes_key(function)

    def guarded(key: str, text: str) -> str:
        try:
            answer = function(key, text) if takes_key else function(text)
        except Exception as problem:
            warn("redact", "redact= failed, its text was taken out: %s: %s", type(problem).__name__, problem)
            return FAILED
        return REDACTED if answer is None else str(answer)

    return guarded


def _takes_key(function: Callable[..., Any]) -> bool:
    """Whether a function wants (key, text) and not the text alone."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    return len(required) >= 2 or (len(required) < 1 and len(positional) >= 2)
