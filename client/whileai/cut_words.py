"""The report of `cuts` in one sentence: what can be trained on, or what is missing and the call that supplies it."""

from collections.abc import Callable, Mapping
from typing import Any

Report = Mapping[str, Any]


def format_cuts(report: Report, *, agent: str | None = None) -> str:
    """Say what a cut would hold.

    >>> print(format_cuts({"rl": {"prompts": 8, "rows": 48, "train": 6, "holdout": 2}}))
    8 tasks are worth training on (48 runs; 6 tasks to train, 2 held out): wai.cut(kind="rl") makes the sets.
    """
    named = agent or _part(report, "filter").get("agent")
    return next(say(report, named) for applies, say in SENTENCES if applies(report))


def _rl(report: Report, agent: str | None) -> str:
    rl = _part(report, "rl")
    return (
        f"{_tasks(_count(rl, 'prompts'))} worth training on ({_many(_count(rl, 'rows'), 'run')}; {_split(rl)}): "
        f"{_call(agent, 'rl')} makes the sets."
    )


def _sft(report: Report, agent: str | None) -> str:
    sft = _part(report, "sft")
    prompts = _count(sft, "prompts")
    return (
        f"No task is passed only sometimes, but {_many(prompts, 'task')} {'has' if prompts == 1 else 'have'} "
        f"a passing run to imitate ({_split(sft)}): {_call(agent, 'sft')} makes the sets."
    )


def _no_verdict(report: Report, _agent: str | None) -> str:
    return (
        f"Nothing to train on yet: {_many(_count(report, 'noReward'), 'run')} of known tasks, none with a verdict; "
        "grade them with wai.send_score(trace_id, 1.0)."
    )


def _no_scenario(report: Report, _agent: str | None) -> str:
    return (
        f"Nothing to train on yet: {_many(_count(report, 'runs'), 'run')}, and none says which task it tried; "
        "set zeroproof.scenario_id on the spans."
    )


def _no_contrast(report: Report, _agent: str | None) -> str:
    more, solved = _count(_part(report, "more"), "prompts"), _count(_part(_part(report, "kinds"), "solved"), "prompts")
    return (
        f"Nothing to train on yet: {_many(more, 'task')} with too few runs, {solved} always passed; "
        "send more runs of the same tasks, then read wai.cuts() again."
    )


# In this order; the first that applies is said.
SENTENCES: tuple[tuple[Callable[[Report], bool], Callable[[Report, str | None], str]], ...] = (
    (lambda report: _count(_part(report, "rl"), "prompts") > 0, _rl),
    (lambda report: _count(_part(report, "sft"), "prompts") > 0, _sft),
    (lambda report: _count(report, "prompts") == 0 and _count(report, "noReward") > 0, _no_verdict),
    (lambda report: _count(report, "prompts") == 0, _no_scenario),
    (lambda _report: True, _no_contrast),
)


def _part(report: Report, name: str) -> Report:
    return report.get(name) or {}


def _count(report: Report, name: str) -> int:
    return int(report.get(name) or 0)


def _many(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def _tasks(count: int) -> str:
    return f"{_many(count, 'task')} {'is' if count == 1 else 'are'}"


def _split(part: Report) -> str:
    held = _count(part, "holdout")
    return f"{_many(_count(part, 'train'), 'task')} to train, {held or 'none'} held out"


def _call(agent: str | None, kind: str) -> str:
    return f'wai.cut(agent="{agent}", kind="{kind}")' if agent else f'wai.cut(kind="{kind}")'
