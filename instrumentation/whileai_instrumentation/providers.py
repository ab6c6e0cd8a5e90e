"""The providers that spans and log records come from: the ones that are there are joined, missing ones are made.

A provider of ours keeps everything: OpenTelemetry's default of 128 attributes a span cuts a long conversation short
where messages are flattened into one attribute each.
"""

import os
from typing import Any

from opentelemetry import _logs, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider

from whileai_instrumentation.processors import OutboxLogProcessor, OutboxSpanProcessor
from whileai_instrumentation.warnings_once import warn

PLENTY = 100_000
_COUNT_LIMITS = {
    "max_span_attributes": ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT"),
    "max_event_attributes": ("OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT"),
    "max_events": ("OTEL_SPAN_EVENT_COUNT_LIMIT",),
}


def join_tracing(processor: OutboxSpanProcessor, service_name: str | None) -> bool:
    """Hang the processor into the tracer provider of this process; False when the one that is there takes none."""
    provider: Any = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):
        made = TracerProvider(resource=_resource(service_name), span_limits=_limits())
        trace.set_tracer_provider(made)
        provider = trace.get_tracer_provider()  # another thread may have been first
    if isinstance(provider, TracerProvider):
        # Not the method of a subclass: Phoenix's, for one, puts the new processor in the place of its own exporter.
        TracerProvider.add_span_processor(provider, processor)
        return True
    return _add(provider, "add_span_processor", processor)


def join_logging(processor: OutboxLogProcessor, service_name: str | None) -> bool:
    """The same for log records."""
    provider: Any = _logs.get_logger_provider()
    if not hasattr(provider, "add_log_record_processor") and type(provider).__name__ == "ProxyLoggerProvider":
        _logs.set_logger_provider(LoggerProvider(resource=_resource(service_name)))
        provider = _logs.get_logger_provider()
    return _add(provider, "add_log_record_processor", processor)


def joined() -> tuple[Any, Any]:
    """The providers in force, to see whether they are still the ones that were joined."""
    return trace.get_tracer_provider(), _logs.get_logger_provider()


def _add(provider: Any, method: str, processor: object) -> bool:
    add = getattr(provider, method, None)
    if add is None:
        warn(
            "provider",
            "%s.%s takes no processors, so nothing can be sent from it; call whileai.instrument() before it is set, "
            "or use OpenTelemetry's SDK",
            type(provider).__module__,
            type(provider).__qualname__,
        )
        return False
    add(processor)
    return True


def _resource(service_name: str | None) -> Resource:
    """The resource as the environment says it; the agent's name where it names no service."""
    resource = Resource.create()
    named = str(resource.attributes.get("service.name", ""))
    if service_name and (not named or named.startswith("unknown_service")):
        resource = resource.merge(Resource({"service.name": service_name}))
    return resource


def _limits() -> SpanLimits:
    wanted = {
        name: PLENTY
        for name, variables in _COUNT_LIMITS.items()
        if not any(os.environ.get(variable) for variable in variables)
    }
    return SpanLimits(**wanted)
