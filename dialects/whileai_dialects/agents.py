"""Whose run it is: the outermost agent, by attribute where one names it, else by span name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whileai_dialects.jsontext import parse_container
from whileai_dialects.reading import Reading
from whileai_dialects.tree import Tree

# Names of agent spans: `invoke_agent X`, `agent_run [X]`, `X.run`, `X.<task>._execute_core`, `X.agent`.
_SPAN_NAMES = (
    re.compile(r"^(?:invoke_agent|create_agent|agent run|invoke_workflow) (?P<name>.+)$"),
    re.compile(r"^agent_run \[(?P<name>.+)\]$"),
    re.compile(r"^(?P<name>[^.]+)\..*_execute_core$", re.DOTALL),
    re.compile(r"^(?P<name>.+)\.(?:run|arun|agent|workflow)$"),
)
_AGENTS = frozenset(("agent", "create"))
_SDK = re.compile(r"^(?:ClaudeAgentSDK|haystack)\.")
# What frameworks call any agent's span.
_GENERIC = frozenset(
    {
        "agent",
        "agent run",
        "agent workflow",
        "agentexecutor",
        "invocation",
        "invoke_agent",
        "haystack_pipeline",
        "langgraph",
        "claude_code.interaction",
    }
)


@dataclass(frozen=True, slots=True)
class Cast:
    """The agents of a run: the main one's name and reading, and all names in order of the tree."""

    main: str | None
    reading: Reading | None
    names: list[str]


def cast_of(tree: Tree, readings: Mapping[str, Reading]) -> Cast:
    """The agents of a run. An agent's own span outranks a workflow's, and both a mention on some other span."""
    order = tree.downward
    named_agents = [
        (told, reading)
        for span in order
        if (reading := readings[span.span_id]).kind in _AGENTS and (told := reading.text("agent"))
    ]
    declared = _declared(tree, readings)
    if declared is not None:
        named_agents.insert(0, declared)
    if named_agents:
        return Cast(*named_agents[0], list(dict.fromkeys([name for name, _ in named_agents])))
    ranked: list[list[tuple[str, Reading]]] = [[], [], [], []]
    for span in order:
        reading = readings[span.span_id]
        told = reading.text("agent")
        if reading.kind in _AGENTS:
            if named := _span_name(reading):
                ranked[0].append((named, reading))
            elif reading.has("function"):
                ranked[3].append((reading.text("function") or "", reading))
        elif told:
            ranked[2].append((told, reading))
        elif reading.kind == "workflow" and (entity := reading.text("entity")) and entity.lower() not in _GENERIC:
            ranked[2].append((entity.removesuffix(".workflow"), reading))
        elif reading.kind == "chain" and (known := _attached_name(reading)):
            ranked[1].append((known, reading))
        elif reading.has("function"):
            ranked[3].append((reading.text("function") or "", reading))
    found = [pair for rank in ranked for pair in rank]
    own = ranked[0] or found[:1]
    names = list(dict.fromkeys(name for name, _ in own))
    if not found:
        outer = next((readings[s.span_id] for s in order if readings[s.span_id].kind in ("agent", "workflow")), None)
        return Cast(None, outer, [])
    return Cast(found[0][0], found[0][1], names)


def _declared(tree: Tree, readings: Mapping[str, Reading]) -> tuple[str, Reading] | None:
    """The agent that the process says it is, when a top span carries that name, whatever kind the framework gave it."""
    for span in tree.tops:
        declared = span.resource.get("whileai.agent")
        if isinstance(declared, str) and declared and readings[span.span_id].text("agent") == declared:
            return declared, readings[span.span_id]
    return None


def outer_readings(tree: Tree, readings: Mapping[str, Reading], main: Reading | None) -> Sequence[Reading]:
    """The main agent's span and what stands above it, outermost first; without an agent, the tops."""
    if main is None:
        return [readings[span.span_id] for span in tree.tops]
    above = [readings[span.span_id] for span in tree.ancestors(main.span.span_id)]
    return [*reversed(above), main]


def _span_name(reading: Reading) -> str | None:
    name = reading.span.name
    for pattern in _SPAN_NAMES:
        match = pattern.match(name)
        if match is not None:
            name = match["name"]
            break
    else:
        if reading.text("operation") in ("invoke_agent", "interaction") or reading.has("function"):
            return None
    return None if name.lower() in _GENERIC or _SDK.match(name) else name


def _attached_name(reading: Reading) -> str | None:
    """The agent's name in what LangChain attaches to every span, or in what a LlamaIndex step gave back."""
    value = reading.value("metadata")
    metadata = parse_container(value) if isinstance(value, str) else None
    name = metadata.get("lc_agent_name") if isinstance(metadata, dict) else None
    if not name and isinstance(output := reading.value("answered"), str) and '"current_agent_name"' in output:
        told = parse_container(output)
        name = told.get("current_agent_name") if isinstance(told, dict) else None
    return name if isinstance(name, str) and name else None
