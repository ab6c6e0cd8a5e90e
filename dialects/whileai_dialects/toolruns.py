"""The tools that really ran, from their own spans: name, arguments, result, and whether it failed."""

import re
from collections.abc import Mapping, Sequence

from whileai_dialects.calls import is_failed
from whileai_dialects.events import CHOICE
from whileai_dialects.jsontext import parse_container, parse_literal, structured, unquoted
from whileai_dialects.parts import FAILED, literal_arguments, text_value
from whileai_dialects.reading import Reading
from whileai_dialects.shapes import read_messages
from whileai_dialects.span import ERROR
from whileai_dialects.tree import Tree

# What span names say, where no attribute names the tool.
_NAMES = (
    re.compile(r"^(?:execute_tool|Tool:|tools/call|running tool:) (?P<name>.+)$"),
    re.compile(r"^(?P<name>.+)\.(?:tool|__call__)$"),
)
_NOT_TOOLS = frozenset({"(merged tools)"})  # ADK's frame around parallel calls
_PREFIXED = re.compile(r"^\[TOOL (?:INPUT|OUTPUT|RESULT): [^\]]*\]\n")
_LEVELS = 3  # from a tool's span to its parent, and two frames above that
_UNREAD = object()
_WRAPPED = {"args", "kwargs", "sanitize_inputs_outputs"}


class ToolRun:
    """One run of a tool. What went in and what came back is read when it is asked for."""

    __slots__ = ("_given", "_result", "error", "failed", "id", "name", "readings")

    def __init__(self, reading: Reading, name: str, call_id: str, failed: bool, error: str | None) -> None:
        self.readings = [reading]  # each that tells of this run, the one that stands for it first
        self.name = name
        self.id = call_id
        self.failed = failed
        self.error = error
        self._given: object = _UNREAD
        self._result: object = _UNREAD

    @property
    def start(self) -> int:
        """When it began."""
        return self.readings[0].time

    @property
    def arguments(self) -> object:
        """What the tool was given, from the first reading that tells it."""
        if self._given is _UNREAD:
            self._given = next((value for told in self.readings if (value := _arguments(told)) is not None), None)
        return self._given

    @property
    def result(self) -> object:
        """What the tool gave back, from the first reading that tells it."""
        if self._result is _UNREAD:
            self._result = next((value for told in self.readings if (value := _result(told)) is not None), None)
        return self._result


def tool_runs(tree: Tree, readings: Mapping[str, Reading]) -> list[ToolRun]:
    """The tool runs in order of their start, each once however many instrumentations tell it."""
    kept: list[ToolRun] = []
    by_span: dict[str, ToolRun] = {}
    for span in tree.order:
        reading = readings[span.span_id]
        if reading.kind != "tool":
            continue
        run = _read(reading)
        if span.span_id in tree.children:
            _take_execution(run, [readings[child.span_id] for child in tree.children[span.span_id]])
        if not run.name or run.name in _NOT_TOOLS:
            continue
        same = (_outer_run(tree, by_span, run) or _twin(kept, run)) if kept else None
        if same is None:
            kept.append(run)
        else:
            _merge(same, run)
        by_span[span.span_id] = same or run
    return kept


def _take_execution(run: ToolRun, inner: Sequence[Reading]) -> None:
    """A frame inside a tool's span that carries the same call id tells how the execution ended."""
    for reading in inner:
        if run.id and reading.kind == "chain" and reading.text("call_id") == run.id and is_failed(reading):
            run.failed = True
            run.error = run.error or error_of(reading)


def _outer_run(tree: Tree, by_span: Mapping[str, ToolRun], run: ToolRun) -> ToolRun | None:
    """The run of the same tool that this one is told inside of, at most two frames up."""
    above = run.readings[0].span.span_id
    for _ in range(_LEVELS):
        above = tree.parent.get(above, "")
        if not above:
            return None
        outer = by_span.get(above)
        if outer is not None:
            return outer if _same_tool(outer, run) else None
    return None


def _twin(kept: Sequence[ToolRun], run: ToolRun) -> ToolRun | None:
    """The run that another instrumentation tells beside this one."""
    for other in reversed(kept[-8:]):
        a, b = other.readings[0].span, run.readings[0].span
        if a.scope_name != b.scope_name and _same_tool(other, run) and max(a.start, b.start) < min(a.end, b.end):
            return other
    return None


def _same_tool(one: ToolRun, other: ToolRun) -> bool:
    if one.id and other.id:
        return one.id == other.id
    return one.name == other.name or one.name.endswith(f"__{other.name}") or other.name.endswith(f"__{one.name}")


def _merge(kept: ToolRun, copy: ToolRun) -> None:
    kept.id = kept.id or copy.id
    kept.readings += copy.readings
    kept.failed = kept.failed or copy.failed
    kept.error = kept.error or copy.error


def _read(reading: Reading) -> ToolRun:
    failed = _failed(reading) or _says_error(reading)
    error = None
    if failed:
        result = _result(reading)
        error = error_of(reading) or (text_value(result) if result else None) or "error"
    return ToolRun(reading, _name(reading), reading.id("call_id") or _wrapped_id(reading), failed, error)


def _arguments(reading: Reading) -> object:
    arguments = reading_arguments(reading)
    return _by_events(reading)[0] if arguments is None else arguments


def _result(reading: Reading) -> object:
    result = reading_result(reading)
    return _by_events(reading)[1] if result is None else result


def _name(reading: Reading) -> str:
    told = reading.text("tool") or reading.text("entity")
    if told:
        return told
    match = next((found for pattern in _NAMES if (found := pattern.match(reading.span.name))), None)
    return match["name"] if match else reading.span.name


def reading_arguments(reading: Reading) -> object:
    """What the tool was given, out of the wrappers that packages put around it; None when it is not told."""
    for key in reading.keys("arguments"):
        value = reading.attributes[key]
        if value is not None:
            if isinstance(value, str):
                value = _PREFIXED.sub("", value)
            return unwrapped_arguments(literal_arguments(value))
    return None


def unwrapped_arguments(value: object) -> object:
    """The arguments inside a decorator's {"args", "kwargs"} or a LangChain callback's {"input_str", "inputs"}."""
    if not isinstance(value, dict):
        return value
    if "kwargs" in value and value.keys() <= _WRAPPED:
        kwargs, args = value["kwargs"], value.get("args")
        if not args:
            return kwargs
        # A tool that was called with one object by position was called with that object.
        return args[0] if isinstance(args, list) and len(args) == 1 and not kwargs else dict(value)
    if "input_str" in value:
        inputs = value.get("inputs")
        return inputs if isinstance(inputs, dict) else literal_arguments(value["input_str"])
    return value


def reading_result(reading: Reading) -> object:
    """What the tool gave back; None when it is not told."""
    for key in reading.keys("result"):
        value = reading.attributes[key]
        if value is not None:
            if isinstance(value, str):
                value = _PREFIXED.sub("", value)
            return unwrapped_result(value, adk=key.startswith("gcp."))
    return None


def unwrapped_result(value: object, adk: bool = False) -> object:
    """A result out of the wrappers that packages put around it; JSON objects and arrays as what they are."""
    value = structured(unquoted(value) if isinstance(value, str) else value)
    if isinstance(value, dict):
        if isinstance(value.get("tool_output"), dict):  # LlamaIndex
            return unwrapped_result(value["tool_output"])
        if "raw_output" in value and "tool_name" in value:
            return structured(value["raw_output"])
        told = _told_message(value)
        if told is not None:
            return structured(told)
        if value.keys() <= {"output"} and value:
            return unwrapped_result(value["output"])
        if value.keys() == {"id", "name", "response"}:  # Gemini's function response
            return unwrapped_result(value["response"], adk=True)
        if adk and value.keys() == {"result"}:
            return structured(value["result"])
        if "content" in value and value.keys() <= {
            "content",
            "isError",
            "is_error",
            "meta",
            "_meta",
            "structuredContent",
        }:
            return unwrapped_result(value["content"])  # MCP
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        block = value[0]
        text = block.get("text", block.get("content"))
        if isinstance(text, str) and block.keys() <= {"text", "content", "type", "annotations", "meta", "_meta"}:
            return structured(text)
    return value


def _wrapped_id(reading: Reading) -> str:
    """The call id in the tool message that a result is wrapped in, '' when there is none."""
    for key in reading.keys("result"):
        value = reading.attributes[key]
        if isinstance(value, str) and '"tool_id"' in value:  # LlamaIndex
            told = structured(value)
            if isinstance(told, dict) and isinstance(told.get("tool_id"), str):
                return str(told["tool_id"])
        if isinstance(value, str) and "tool_call_id" in value:
            for message in read_messages(value, "tool"):
                for part in message.parts:
                    if part.kind == "result" and part.id:
                        return part.id
    return ""


def _told_message(value: Mapping[str, object]) -> object:
    """The content of a tool message that the result was wrapped in."""
    if not (value.keys() & {"lc", "data", "output", "outputs", "update"}) and value.get("type") != "tool":
        return None
    for message in read_messages(dict(value), "tool"):
        for part in message.parts:
            if part.kind == "result":
                return part.value
    return None


def _by_events(reading: Reading) -> tuple[object, object]:
    """What a tool was given and gave back, where span events tell it."""
    given: object = None
    back: object = None
    if reading.silent:
        return given, back
    for name, payload in reading.told():
        if name == "gen_ai.tool.message":
            given = literal_arguments(payload.get("content"))
        elif name == CHOICE:
            back = unwrapped_result(payload.get("message"))
        elif name == "tool.output":
            told = next((payload[key] for key in ("output", "content", "result") if key in payload), None)
            back = unwrapped_result(_PREFIXED.sub("", told) if isinstance(told, str) else told)
    if given is None or back is None:
        for record in (
            *(r.attributes for r in reading.details()),
            *(e.attributes for e in reading.span.events if e.attributes),
        ):
            for message in read_messages(record.get("gen_ai.input.messages")):
                given = next((part.value for part in message.parts if part.kind == "call"), given)
            for message in read_messages(record.get("gen_ai.output.messages")):
                back = next((unwrapped_result(part.value) for part in message.parts if part.kind == "result"), back)
    return given, back


def _failed(reading: Reading) -> bool:
    if is_failed(reading):
        return True
    for event in reading.span.events:
        if event.name == "exception":
            return True
    return "tool_status" in reading.found and any(
        str(reading.attributes[key]).lower() in FAILED for key in reading.keys("tool_status")
    )


def _says_error(reading: Reading) -> bool:
    """Whether the result itself is marked as an error."""
    for key in reading.keys("result"):
        value = reading.attributes[key]
        if not isinstance(value, str) or "rror" not in value[:400] + value[-400:]:
            continue
        parsed = parse_container(value) or parse_literal(value)
        holders = (
            [parsed, *(parsed.get(name) for name in ("output", "data", "kwargs", "tool_output"))]
            if isinstance(parsed, dict)
            else []
        )
        for holder in holders:
            if isinstance(holder, dict):
                inner = holder.get("kwargs")
                if _marked(holder) or (isinstance(inner, dict) and _marked(inner)):
                    return True
    return False


def _marked(holder: Mapping[str, object]) -> bool:
    """Whether a wrapper says that what it wraps is an error; a tool's own answer with a status of its own does not."""
    if holder.get("isError") is True or holder.get("is_error") is True:
        return True
    return holder.get("status") == "error" and bool(holder.keys() & {"tool_call_id", "toolUseId"})


def error_of(reading: Reading) -> str | None:
    """The message of what went wrong: the exception's own words first, then the status, then the kind of error."""
    for event in reversed(reading.span.events):
        if event.name == "exception":
            message = event.attributes.get("exception.message") or event.attributes.get("exception.type")
            if isinstance(message, str) and message:
                return message
    if reading.span.status_code == ERROR and reading.span.status_message:
        return reading.span.status_message
    return reading.text("error") or ("error" if reading.span.status_code == ERROR else None)
