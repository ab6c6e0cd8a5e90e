"""What of a request is content: what was said, asked of tools, and answered. With `capture_content=False` it is taken
out of what leaves, whether or not the framework has a switch of its own.

A text is content by the words of its key. That is broad on purpose: an attribute of a framework nobody has seen yet is
rather lost than let out. Numbers and booleans always stay.
"""

import re
from collections.abc import Iterator

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

_WORDS = """
    agents all_messages answer args arguments backstory body candidate chunk code completion completions content
    contents context crew_agents crew_tasks definitions description document documents embedding embeddings entity
    events expected_output explanation final_result goal history input inputs instructions invocation_parameters
    kwargs llm_request llm_response logprobs message messages metadata model_output model_request_parameters
    observation output outputs parameters prompt prompt_token_ids prompts query question reasoning
    request_parameters response response_body result results return schema statement system_instructions
    system_prompt system_prompt_preview task tasks template text thinking token_ids tool_args tool_arguments
    tool_call_args tool_calls tool_input tool_response toolcall toolcalls tools transcript user_prompt
    user_system_prompt value variables
"""
_CONTENT = re.compile(rf"(?:^|[._])(?:{'|'.join(_WORDS.split())})(?:$|[._])", re.IGNORECASE)

# Facts whose keys hold such a word all the same.
_FACTS = re.compile(
    r"""^(?:
      gen_ai\.(?:conversation|data_source|operation|provider|request|system|token|usage|workflow)(?:\.\w+)*
    | gen_ai\.agent\.(?:id|name|version)
    | gen_ai\.response\.(?:id|model|finish_reasons|time_to_first_chunk)
    | gen_ai\.output\.type | gen_ai\.prompt\.name
    | gen_ai\.tool\.(?:name|type|call\.id)
    | gen_ai\.evaluation\.(?:name|score\.\w+)
    | (?:input|output)\.mime_type | openinference\.span\.kind
    | llm\.(?:model_name|provider|system|token_count.*|request\.(?:model_name|type)|response\.(?:model_name|model|id))
    | llm\.(?:input|output)_messages\.\d+\.message\.role
    | ai\.response\.(?:id|model|finishReason|timestamp) | ai\.toolCall\.(?:name|id)
    | traceloop\.entity\.(?:name|path|version)
    | (?:tool_call|tool)\.(?:id|name)
    | exception\.type | error\.type | event\.name
    | http\.(?!.*(?:body|header)).*
    | (?:url|server|client|network|rpc|service|telemetry|process|host|os)\..*
    | whileai\.(?!.*token_ids|logprobs).*
    | zeroproof\..*
    )$""",
    re.VERBOSE,
)
# What may quote content in words of its own.
_QUOTING = ("exception.message", "exception.stacktrace", "error.message")
# Some frameworks name a span by what was asked. A name of so few words, without a sentence's signs, is no request.
_MOST_WORDS = 3
_SENTENCE = re.compile(r"[?!,;]|: ")
_NAMING = ("gen_ai.agent.name", "gen_ai.tool.name", "gen_ai.request.model", "agent.name", "tool.name")


def is_content(key: str) -> bool:
    """Whether a text under this key may be what somebody said.

    >>> is_content("gen_ai.input.messages"), is_content("gen_ai.request.model"), is_content("tenant")
    (True, False, False)
    """
    if _FACTS.match(key):
        return False
    return key in _QUOTING or _CONTENT.search(_snake(key)) is not None


def leave_out_content(request: ExportTraceServiceRequest | ExportLogsServiceRequest) -> None:
    """Take the content out of a request in place."""
    if isinstance(request, ExportTraceServiceRequest):
        for span in _spans(request):
            _strip(span.attributes)
            _unquote(span)
            for event in span.events:
                _strip(event.attributes)
        return
    for of_resource in request.resource_logs:
        for of_scope in of_resource.scope_logs:
            for record in of_scope.log_records:
                _strip(record.attributes)
                record.ClearField("body")


def _spans(request: ExportTraceServiceRequest) -> Iterator[Span]:
    for of_resource in request.resource_spans:
        for of_scope in of_resource.scope_spans:
            yield from of_scope.spans


def _strip(attributes: "RepeatedCompositeFieldContainer[KeyValue]") -> None:
    kept = [attribute for attribute in attributes if not (_is_text(attribute.value) and is_content(attribute.key))]
    if len(kept) < len(attributes):
        copies = [KeyValue.FromString(attribute.SerializeToString()) for attribute in kept]
        del attributes[:]
        attributes.extend(copies)


def _unquote(span: Span) -> None:
    """A status says why something failed, and that may quote what was said; the type of the error stays."""
    span.status.ClearField("message")
    known = {attribute.value.string_value for attribute in span.attributes if attribute.key in _NAMING}
    words = span.name.split()
    if " ".join(words[1:]) not in known and (len(words) > _MOST_WORDS or _SENTENCE.search(span.name)):
        span.name = "(left out)"


def _is_text(value: AnyValue) -> bool:
    """Text, or a structure that may hold some; token ids are text in other letters."""
    return value.WhichOneof("value") in ("string_value", "bytes_value", "array_value", "kvlist_value")


def _snake(key: str) -> str:
    """`ai.prompt.toolChoice` as `ai.prompt.tool_choice`, so that words can be told apart."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key)
