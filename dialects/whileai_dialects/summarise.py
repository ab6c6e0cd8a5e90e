"""From the spans of one trace to the run that they tell.

One pure function: the writer uses it for the stored run, the reader for the answer, the cut for the rows, so that a number is the
same wherever it is read.
"""

from collections.abc import Iterable, Mapping, Sequence

from whileai_dialects import grades
from whileai_dialects.agents import Cast, cast_of, outer_readings
from whileai_dialects.calls import ModelCall, is_failed, model_calls
from whileai_dialects.chat import chat_of
from whileai_dialects.content import answer_of, ask_of, content_of
from whileai_dialects.definitions import definitions_of
from whileai_dialects.jsontext import parse_container, structured
from whileai_dialects.log import LogRecord
from whileai_dialects.providers import vendor_of
from whileai_dialects.reading import Reading
from whileai_dialects.run import Grading, Run
from whileai_dialects.span import ERROR, Span, latest
from whileai_dialects.split import pass_rule
from whileai_dialects.steps import entries_of, steps_of
from whileai_dialects.thread import Thread
from whileai_dialects.toolruns import error_of, tool_runs
from whileai_dialects.tree import Tree, build_tree, when
from whileai_dialects.usage import cost_of, usage_of

_DATASETS = ("zeroproof.dataset", "whileai.dataset")
_SESSIONS = ("thread_id", "session_id", "conversation_id")


def summarise(spans: Sequence[Span], logs: Sequence[LogRecord] = (), scores: Sequence[Grading] = ()) -> Run:
    """The run that the spans and log records of one trace tell, with its scores."""
    tree = build_tree(latest(spans))
    by_span: dict[str, list[LogRecord]] = {}
    for log in logs:
        by_span.setdefault(log.span_id, []).append(log)
    readings = {span.span_id: Reading(span, by_span.get(span.span_id, ())) for span in tree.order}
    run = Run(trace_id=tree.order[0].trace_id if tree.order else logs[0].trace_id if logs else "")
    _times(run, tree, logs)
    _measure(run, tree, logs, scores)
    if not tree.order:
        return run
    calls = model_calls(tree, readings)
    cast = cast_of(tree, readings)
    run.agent, run.agents = cast.main, cast.names
    _facts(run, tree, readings, calls)
    _outcome(run, tree, readings, calls, cast)
    _talk(run, tree, readings, calls, cast)
    outer = outer_readings(tree, readings, cast.reading)
    run.usage = usage_of(calls, outer)
    run.cost_usd = cost_of(calls, outer, lambda call: vendor_of(call.text("provider")) or run.provider)
    return run


def _times(run: Run, tree: Tree, logs: Sequence[LogRecord]) -> None:
    edges = [when(span) for span in tree.order]
    if edges:
        run.start = min(start for start, _ in edges)
        run.end = max(run.start, max(max(edge) for edge in edges))
    arrivals = [span.first_arrival for span in tree.order if span.first_arrival]
    versions = [span.version for span in tree.order] + [log.version for log in logs]
    run.first_arrival = min(arrivals, default=0)
    run.last_arrival = run.version = max(versions, default=0)
    run.span_count, run.has_root = len(tree.order), tree.has_root


def _measure(run: Run, tree: Tree, logs: Sequence[LogRecord], scores: Sequence[Grading]) -> None:
    run.scores = grades.standing([*grades.inline_gradings(tree.order, logs), *scores])
    run.version = max(run.version, max((grading.version for grading in scores), default=0))
    verdict = grades.verdict_score(run.scores)
    if verdict is not None:
        run.reward, run.verdict = verdict.value, pass_rule(verdict.value, verdict.pass_at)


def _facts(run: Run, tree: Tree, readings: Mapping[str, Reading], calls: Sequence[ModelCall]) -> None:
    outward = sorted(tree.order, key=lambda span: tree.depth[span.span_id])
    ordered = [readings[span.span_id] for span in outward]
    first = tree.order[0].resource
    service = first.get("service.name")
    run.service = service if isinstance(service, str) and service else None
    for key in _DATASETS:
        told = first.get(key)
        if isinstance(told, str) and told:
            run.dataset = told
            break
    chats = [call for call in calls if call.first.kind == "llm"] or list(calls)
    run.model = _first(_asked_model(call) for call in chats) or _first(call.text("response_model") for call in chats)
    run.model = run.model or _first(reading.text("model") or reading.text("response_model") for reading in ordered)
    run.provider = _first(vendor_of(call.text("provider")) for call in chats)
    run.provider = run.provider or _first(vendor_of(reading.text("provider")) for reading in ordered)
    run.model_version = _told(ordered, "version")
    run.scenario_id = _told(ordered, "scenario")
    run.eval_set = _told(ordered, "eval_set")
    run.conversation_id = _told(ordered, "conversation") or _first(_session(reading) for reading in ordered)


def _asked_model(call: ModelCall) -> str | None:
    """The model that was asked for: where one key holds whichever name was known last, the request's parameters say."""
    if not any(key == "llm.model_name" for reading in call.readings for key in reading.keys("model")[:1]):
        return call.text("model")
    for reading in call.readings:
        parameters = structured(reading.value("parameters"))
        if isinstance(parameters, dict) and isinstance(parameters.get("model"), str) and parameters["model"]:
            return str(parameters["model"])
    return call.text("model")


def _told(ordered: Sequence[Reading], fact: str) -> str | None:
    """A fact on any span, outermost first, else on a resource; a better key on an inner span beats a worse one outside."""
    from whileai_dialects.table import FACT

    for key in FACT[fact].keys:
        for reading in ordered:
            if key in reading.attributes:
                text = reading.attributes[key]
                if isinstance(text, str | int | float) and not isinstance(text, bool) and text != "":
                    return str(text)
        for reading in ordered[:1]:
            text = reading.span.resource.get(key)
            if isinstance(text, str) and text:
                return text
    return None


def _session(reading: Reading) -> str | None:
    """The session in what an application attached as JSON."""
    value = reading.value("metadata")
    metadata = parse_container(value) if isinstance(value, str) else None
    if isinstance(metadata, dict):
        for key in _SESSIONS:
            told = metadata.get(key)
            if isinstance(told, str) and told:
                return told
    return None


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)


def _outcome(run: Run, tree: Tree, readings: Mapping[str, Reading], calls: Sequence[ModelCall], cast: Cast) -> None:
    """A run fails by an exception that ended it or by a model call that nothing made good; a failed tool is told to the model."""
    suspects = [readings[span.span_id] for span in tree.tops if readings[span.span_id].kind != "tool"]
    if cast.reading is not None:
        suspects += [cast.reading, *(readings[span.span_id] for span in tree.ancestors(cast.reading.span.span_id))]
    failed = next((reading for reading in suspects if reading.span.status_code == ERROR or is_failed(reading)), None)
    chats = [call for call in calls if call.first.kind == "llm"]
    last = max(chats, key=lambda call: when(call.first.span), default=None)
    if failed is None and last is not None and last.failed:
        failed = last.first
    if failed is not None:
        run.status = "error"
        run.error = error_of(failed) or "error"


def _talk(run: Run, tree: Tree, readings: Mapping[str, Reading], calls: Sequence[ModelCall], cast: Cast) -> None:
    main, subs = _threads(tree, readings, calls, cast)
    outer = outer_readings(tree, readings, cast.reading)
    if not main.items:
        _from_frames(main, tree, readings)
    runs = tool_runs(tree, readings)
    entries = entries_of(main.items, [thread.items for thread in subs], runs)
    run.system = main.system or _first(content_of(reading).system for reading in outer)
    asked = next((item.part.text for item in main.items if item.kind == "user" and item.part.text.strip()), None)
    run.prompt = _ask(outer, asked) or _ask([readings[span.span_id] for span in tree.order], None)
    run.final_text = _final(run, main, outer)
    run.steps = steps_of(entries)
    run.tool_names = list(dict.fromkeys(str(step["tool"]) for step in run.steps if "tool" in step))
    run.messages = chat_of(run.system, entries)
    run.tools = next((tools for call in reversed(calls) if (tools := definitions_of(call.first))), [])


def _threads(
    tree: Tree, readings: Mapping[str, Reading], calls: Sequence[ModelCall], cast: Cast
) -> tuple[Thread, list[Thread]]:
    """The main conversation, and those of agents and tools inside it."""
    main = Thread()
    subs: dict[str, Thread] = {}
    for call in calls:
        if call.first.kind != "llm":
            continue
        owner, inner = _owner(tree, readings, call, cast)
        content = call.content
        thread = main
        if inner and main.items and not main.knows(content.said):
            thread = subs.setdefault(owner, Thread())
        thread.system = thread.system or content.system
        span = call.first.span
        start, end = when(span)
        thread.hear(content.said, start, owner)
        thread.say(content.answered, max(start, end))
    return main, list(subs.values())


def _owner(tree: Tree, readings: Mapping[str, Reading], call: ModelCall, cast: Cast) -> tuple[str, bool]:
    """The invocation a call belongs to, and whether that is inside the main agent's."""
    main = cast.reading.span.span_id if cast.reading is not None else ""
    owner = ""
    inner = False
    for above in tree.ancestors(call.first.span.span_id):
        kind = readings[above.span_id].kind
        if above.span_id == main:
            return owner or main, inner
        if kind in ("agent", "tool"):
            owner = owner or above.span_id
            inner = inner or kind == "tool" or readings[above.span_id].text("agent") != cast.main
        elif kind in ("workflow", "chain") and not owner and above.span_id in tree.parent:
            continue
    top = next(reversed(list(tree.ancestors(call.first.span.span_id))), call.first.span)
    return owner or top.span_id, False


def _from_frames(main: Thread, tree: Tree, readings: Mapping[str, Reading]) -> None:
    """Without any talk on model calls, the outermost span that tells some tells all of it."""
    for span in sorted(tree.order, key=lambda span: tree.depth[span.span_id]):
        reading = readings[span.span_id]
        if reading.kind in ("agent", "workflow", "chain", "other"):
            content = content_of(reading)
            if content.said or content.answered:
                main.system = main.system or content.system
                main.hear(content.said, when(span)[0], span.span_id)
                main.say(content.answered, max(when(span)))
                return


def _ask(outer: Sequence[Reading], asked: str | None) -> str | None:
    """The first user turn, in the caller's own words where a template was put around them."""
    for reading in outer:
        if reading.kind in ("tool", "embedding"):
            continue
        said = [message.text for message in content_of(reading).said if message.role == "user" and message.text.strip()]
        told = said[0] if said else ask_of(reading)
        if told and (asked is None or told.strip() in asked):
            return told
    return asked


def _final(run: Run, main: Thread, outer: Sequence[Reading]) -> str | None:
    """The last assistant text of the outermost span that has one, else the text that ends the conversation."""
    spoken = [item for item in main.items if item.kind in ("text", "call", "result", "user")]
    last = spoken[-1] if spoken else None
    ending = last.part.text if last is not None and last.kind == "text" and last.part.text.strip() else None
    if run.status == "error":
        return ending
    for reading in outer:
        if reading.kind in ("llm", "embedding"):
            continue
        told = answer_of(reading, content_of(reading))
        if told and (ending is None or told.strip() in ending):
            return told
    return ending
