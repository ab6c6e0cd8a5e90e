"""What an agent did, step by step, and the same as messages for a trainer.

The conversation tells what the model asked for and what it was told back; the tool spans tell what really ran. Here
both are paired: by call id, then by name and arguments, then by name and order.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from whileai_dialects.jsontext import write_json
from whileai_dialects.message import Part
from whileai_dialects.parts import text_value
from whileai_dialects.thread import Item
from whileai_dialects.toolruns import ToolRun, unwrapped_result

Step = dict[str, object]


@dataclass(slots=True)
class Use:
    """One use of a tool: what the model asked for, what ran, and what the model was told."""

    call: Part | None = None
    run: ToolRun | None = None
    told: Part | None = None

    @property
    def name(self) -> str:
        """The tool, as the model called it."""
        return (
            (self.call.name if self.call else "")
            or (self.run.name if self.run else "")
            or (self.told.name if self.told else "")
        )

    @property
    def id(self) -> str:
        """The call's id, '' when none is told."""
        return (
            (self.call.id if self.call else "")
            or (self.run.id if self.run else "")
            or (self.told.id if self.told else "")
        )

    @property
    def arguments(self) -> object:
        """What the tool was given; an object wherever one is told."""
        asked = self.call.value if self.call else None
        given = self.run.arguments if self.run else None
        return given if not isinstance(asked, dict) and (isinstance(given, dict) or asked is None) else asked

    @property
    def result(self) -> object:
        """What came back: the value the tool gave, else what the model was told."""
        ran = self.run.result if self.run else None
        told = unwrapped_result(self.told.value) if self.told else None
        if ran is None:
            return told
        if isinstance(ran, str) and ran[:1] in ("{", "[") and isinstance(told, dict | list):
            return told  # the span has only the repr of what the message tells as JSON
        return ran

    @property
    def result_text(self) -> str | None:
        """What the model was told, as text; None when nothing came back."""
        if self.told is not None:
            return self.told.text
        if self.run is None or (self.run.result is None and not self.run.failed):
            return None
        return text_value(self.run.result) if self.run.result is not None else self.run.error or ""

    @property
    def error(self) -> str | None:
        """The message of the failure; None when the tool did not fail, or nothing tells that it did."""
        if self.run is not None and self.run.failed:
            return self.run.error or "error"
        if self.told is not None and self.told.failed:
            return self.told.text or "error"
        return None

    def step(self) -> Step:
        """The step as the API shows it."""
        return {
            "tool": self.name,
            "arguments": self.arguments,
            "result": self.result,
            "callId": self.id or None,
            "error": self.error,
        }


@dataclass(slots=True)
class Entry:
    """A user turn, a text of the model, or the use of a tool, in its place in time."""

    time: int
    item: Item | None = None
    use: Use | None = None
    main: bool = True


def entries_of(main: Sequence[Item], subs: Iterable[Sequence[Item]], runs: Sequence[ToolRun]) -> list[Entry]:
    """All that happened, in true order; `subs` are the conversations of agents inside the main one."""
    uses: list[Use] = []
    entries: list[Entry] = []
    told: list[Part] = []
    is_main = True
    for items in (main, *subs):
        clock = 0
        for item in items:
            kind = item.kind
            if item.time > clock:  # the order inside a conversation is never changed by a clock
                clock = item.time
            if kind == "call":
                use = Use(item.part)
                uses.append(use)
                entries.append(Entry(clock, item, use, is_main))
            elif kind == "result":
                told.append(item.part)
            elif is_main or kind == "text":
                entries.append(Entry(clock, item, None, is_main))
        is_main = False
    left = _pair(uses, runs) if uses else runs
    entries += [Entry(run.start, None, Use(run=run)) for run in left]
    if told:
        _tell([*uses, *(entry.use for entry in entries if entry.use is not None and entry.use.call is None)], told)
    entries.sort(key=_TIME)
    return entries


_TIME = attrgetter("time")


def _pair(uses: Sequence[Use], runs: Sequence[ToolRun]) -> list[ToolRun]:
    """Give each use its run; the runs that nobody asked for are left."""
    left = list(runs)
    for rule in _RULES:
        open_uses: dict[Hashable, list[Use]] = defaultdict(list)
        for use in reversed(uses):
            if use.run is None and use.call is not None:
                open_uses[rule(use.call)].append(use)
        if not open_uses:
            break
        still: list[ToolRun] = []
        for run in left:
            key = rule(run)
            waiting = open_uses.get(key) if key is not None else None
            if waiting:
                waiting.pop().run = run
            else:
                still.append(run)
        left = still
    return left


# What a call and a run have in common, the surest first; None is nothing to go by.
_RULES: tuple[Callable[[Part | ToolRun], Hashable], ...] = (
    lambda call: call.id or None,
    lambda call: _name_and_value(call),
    lambda call: _bare(call.name) or None,
)


def _name_and_value(call: Part | ToolRun) -> Hashable:
    """A name with the arguments; a tool of one argument may be told with the bare value."""
    arguments = call.value if isinstance(call, Part) else call.arguments
    if arguments is None:
        return None
    return (_bare(call.name), _value_key(arguments))


def _value_key(arguments: object) -> str:
    if isinstance(arguments, dict) and len(arguments) == 1:
        arguments = next(iter(arguments.values()))
    return arguments if isinstance(arguments, str) else write_json(arguments)


def _tell(uses: Sequence[Use], told: Sequence[Part]) -> None:
    """Give each use the result that the model was told: by call id, else the first of its name, else the first open."""
    by_id: dict[str, list[Use]] = defaultdict(list)
    for use in reversed(uses):
        if use.id:
            by_id[use.id].append(use)
    loose: list[Part] = []
    for part in told:
        waiting = by_id.get(part.id) if part.id else None
        if waiting:
            waiting.pop().told = part
        else:
            loose.append(part)
    if not loose:
        return
    still_open = [use for use in uses if use.told is None]
    for part in loose:
        found = next((use for use in still_open if part.name and _bare(use.name) == _bare(part.name)), None)
        found = found or next(iter(still_open), None)
        if found is not None:
            found.told = part
            still_open.remove(found)


def _bare(name: str) -> str:
    """A tool's name without the server that offers it (`mcp__shop__lookup_order`)."""
    return name.rpartition("__")[2]


def step_count_of(entries: Sequence[Entry]) -> int:
    """How many steps `steps_of` gives."""
    users = texts = uses = 0
    for entry in entries:
        if entry.use is not None:
            uses += 1
        elif entry.item is not None and entry.item.kind == "user":
            users += 1
        elif entry.item is not None and entry.item.kind == "text" and entry.item.part.text.strip():
            texts += 1
    return uses + texts + max(0, users - 1)


def steps_of(entries: Sequence[Entry]) -> list[Step]:
    """The steps of a run; its first user turn is its prompt and no step."""
    steps: list[Step] = []
    asked = False
    for entry in entries:
        if entry.use is not None:
            steps.append(entry.use.step())
        elif entry.item is not None and entry.item.kind == "user":
            if asked:
                steps.append({"user": entry.item.part.text})
            asked = True
        elif entry.item is not None and entry.item.kind == "text" and entry.item.part.text.strip():
            steps.append({"text": entry.item.part.text})
    return steps
