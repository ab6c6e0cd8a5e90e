"""Whose spans these are: the agent and its version, put on the resource and on the root of a run as it leaves."""

from dataclasses import dataclass, field

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from whileai_instrumentation import names

Request = ExportTraceServiceRequest | ExportLogsServiceRequest

OWN_SCOPE = "whileai"  # of `whileai.run`, whose agent was named for this very function
# A framework's own word for the agent, kept when the name given to `instrument` takes its place.
FRAMEWORK_AGENT = "whileai.framework_agent"
_AGENT_KEYS = (names.AGENT, "agent.name")


@dataclass(frozen=True)
class Identity:
    """What `instrument` was told about this process."""

    agent: str | None = None
    version: str | None = None
    dataset: str | None = None
    _resource: tuple[tuple[str, str], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = {
            names.AGENT_OF_PROCESS: self.agent,
            names.AGENT_VERSION: self.version,
            names.DATASET: self.dataset,
        }
        object.__setattr__(self, "_resource", tuple((key, value) for key, value in given.items() if value))

    def mark(self, request: Request) -> None:
        """Write the identity into a request."""
        if isinstance(request, ExportLogsServiceRequest):
            for of_logs in request.resource_logs:
                self._mark_resource(of_logs.resource)
            return
        for of_spans in request.resource_spans:
            self._mark_resource(of_spans.resource)
            if self.agent:
                for of_scope in of_spans.scope_spans:
                    named_by_user = of_scope.scope.name == OWN_SCOPE
                    for span in of_scope.spans:
                        if not span.parent_span_id and not named_by_user:
                            _name_root(span, self.agent)

    def _mark_resource(self, resource: Resource) -> None:
        for key, value in self._resource:
            _put(resource, key, value)


def _put(target: Resource | Span, key: str, value: str) -> None:
    for present in target.attributes:
        if present.key == key:
            present.value.CopyFrom(AnyValue(string_value=value))
            return
    target.attributes.append(KeyValue(key=key, value=AnyValue(string_value=value)))


def _name_root(span: Span, agent: str) -> None:
    """The root names the agent as the user does; what its framework called it stays beside that."""
    told = [present for present in span.attributes if present.key in _AGENT_KEYS]
    framework = next((present.value.string_value for present in told if present.value.string_value != agent), None)
    for present in told:
        present.value.CopyFrom(AnyValue(string_value=agent))
    if not told or all(present.key != names.AGENT for present in told):
        _put(span, names.AGENT, agent)
    if framework:
        _put(span, FRAMEWORK_AGENT, framework)
