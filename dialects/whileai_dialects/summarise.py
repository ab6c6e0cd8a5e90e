"""From the spans of one trace to the run that they tell.

One pure function: the writer uses it for the stored run, the reader for the answer, the cut for the rows, so that a
number is the same wherever it is read. What only some of them ask for (steps, messages, tools, notes) is told when it
is asked for.
"""

from collections.abc import Mapping, Sequence

from whileai_dialects import grades
from whileai_dialects.agents import Cast, cast_of, outer_readings
from whileai_dialects.calls import ModelCall, is_failed, model_calls
from whileai_dialects.chat import chat_of
from whileai_dialects.definitions import definitions_of
from whileai_dialects.facts import read_facts
from whileai_dialects.log import LogRecord
from whileai_dialects.notes import notes_of
from whileai_dialects.providers import vendor_of
from whileai_dialects.reading import Reading
from whileai_dialects.run import Grading, Run
from whileai_dialects.span import Span, latest, when
from whileai_dialects.split import pass_rule
from whileai_dialects.steps import entries_of, step_count_of, steps_of
from whileai_dialects.talk import final_of, read_talk, tokens_of
from whileai_dialects.toolruns import error_of, tool_runs
from whileai_dialects.tree import Tree, build_tree
from whileai_dialects.usage import cost_of, counted, usage_of

Readings = Mapping[str, Reading]


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
    read_facts(run, tree, readings, calls)
    outer = outer_readings(tree, readings, cast.reading)
    _outcome(run, tree, readings, calls, outer)
    _tell(run, tree, readings, calls, cast, outer)
    counting = counted(calls, outer)
    run.usage = usage_of(counting)
    run.cost_usd = cost_of(counting, lambda call: vendor_of(call.text("provider")) or run.provider)
    return run


def _times(run: Run, tree: Tree, logs: Sequence[LogRecord]) -> None:
    order = tree.order
    if order:
        run.start = when(order[0])[0]
        run.end = max(when(order[-1])[0], max([span.end for span in order]))
        run.first_arrival = min([span.first_arrival for span in order if span.first_arrival], default=0)
        run.version = max([span.version for span in order])
    if logs:
        run.version = max(run.version, max([log.version for log in logs]))
    run.last_arrival = run.version
    run.span_count, run.has_root = len(order), tree.has_root


def _measure(run: Run, tree: Tree, logs: Sequence[LogRecord], scores: Sequence[Grading]) -> None:
    run.scores = grades.standing([*grades.inline_gradings(tree.order, logs), *scores])
    if scores:
        run.version = max(run.version, max([grading.version for grading in scores]))
    verdict = grades.verdict_score(run.scores)
    if verdict is not None:
        run.reward, run.verdict = verdict.value, pass_rule(verdict.value, verdict.pass_at)


def _outcome(run: Run, tree: Tree, readings: Readings, calls: Sequence[ModelCall], outer: Sequence[Reading]) -> None:
    """A run fails by an exception that ended it or a model call that nothing made good; a failed tool is told on."""
    tops = [reading for span in tree.tops if (reading := readings[span.span_id]).kind != "tool"]
    failed = next((reading for reading in (*tops, *outer) if is_failed(reading)), None)
    chats = [call for call in calls if call.readings[0].kind != "embedding"]
    last = max(chats, key=lambda call: when(call.first.span), default=None)
    if failed is None and last is not None and last.failed:
        failed = last.first
    if failed is not None:
        run.status = "error"
        run.error = error_of(failed) or "error"


def _tell(
    run: Run,
    tree: Tree,
    readings: Readings,
    calls: Sequence[ModelCall],
    cast: Cast,
    outer: Sequence[Reading],
) -> None:
    talk = read_talk(tree, readings, calls, cast, outer)
    run.prompt, run.system = talk.prompt, talk.system
    entries = entries_of(talk.main.items, [thread.items for thread in talk.subs], tool_runs(tree, readings))
    run.final_text = final_of(entries, outer, run.status == "error")
    uses = [entry.use for entry in entries if entry.use is not None]
    run.tool_names = list(dict.fromkeys([use.name for use in uses]))
    system = run.system
    run.defer(
        {"steps": step_count_of(entries)},
        steps=lambda: steps_of(entries),
        messages=lambda: chat_of(system, entries, talk.main.tokens),
        tools=lambda: next((tools for call in reversed(calls) if (tools := definitions_of(call.first))), []),
        notes=lambda: notes_of(tree, talk.main, uses),
    )
    carried = [tokens for call in calls if (tokens := tokens_of(call))]
    if len(carried) == 1:
        # Several calls have token ids of their own on their messages; as one list they would lose their bounds.
        run.prompt_token_ids = _list(carried[0].get("prompt_token_ids"))
        run.token_ids = _list(carried[0].get("token_ids"))
        run.logprobs = _list(carried[0].get("logprobs"))


def _list(value: object) -> list[object] | None:
    return value if isinstance(value, list) else None
