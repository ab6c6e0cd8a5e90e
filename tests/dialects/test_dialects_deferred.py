"""What of a run waits to be asked for is the same whenever, and by whomever, it is asked for."""

import copy
import pickle
from dataclasses import asdict, fields, replace

import pytest

from whileai_dialects import Attributes, Run, Span, summarise

WAITING = ("steps", "messages", "tools", "notes")
TALK = '[{"role": "user", "parts": [{"type": "text", "content": "is it late?"}]}]'
ANSWER = '[{"role": "assistant", "parts": [{"type": "text", "content": "yes, by two days"}]}]'
TOOLS = '[{"type": "function", "function": {"name": "track", "parameters": {"type": "object"}}}]'


def told() -> Run:
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": TALK,
        "gen_ai.output.messages": ANSWER,
        "gen_ai.tool.definitions": TOOLS,
    }
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "track",
        "gen_ai.tool.call.arguments": '{"parcel": 7}',
        "gen_ai.tool.call.result": '{"late": 2}',
    }
    return summarise(
        [
            Span("t", "a", "missing", "chat", start=1, end=2, attributes=Attributes.of(chat)),
            Span("t", "b", "a", "execute_tool track", start=3, end=4, attributes=Attributes.of(tool)),
        ]
    )


def test_each_field_that_waits_is_told_when_it_is_asked_for_alone() -> None:
    whole = asdict(told())
    for name in WAITING:
        assert getattr(told(), name) == whole[name] != []


def test_a_field_is_told_once_and_stays_what_it_became() -> None:
    run = told()
    assert run.steps is run.steps
    run.notes.append("read by hand")
    assert run.notes[-1] == "read by hand"


def test_runs_told_and_untold_are_equal_copied_and_pickled_alike() -> None:
    first, second = told(), told()
    assert first.messages
    assert first == second
    assert copy.deepcopy(told()) == pickle.loads(pickle.dumps(told())) == replace(told()) == first
    assert repr(told()) == repr(first)


def test_the_number_of_steps_is_known_before_they_are_told_and_after() -> None:
    run = told()
    assert (run.step_count, len(run.steps), run.step_count) == (2, 2, 2)
    assert Run("t", steps=[{"text": "by hand"}]).step_count == 1


def test_what_waits_is_no_field_more_and_a_misspelt_field_is_an_error() -> None:
    run = told()
    assert {item.name for item in fields(run)} == asdict(run).keys()
    with pytest.raises(AttributeError, match="'Run' has no field 'massages'"):
        getattr(run, "massages")  # noqa: B009  # mypy refuses the misspelt name


def test_told_all_at_once_nothing_waits_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    run = told()
    run.tell_all()
    run.tell_all()
    monkeypatch.setattr(Run, "__getattr__", None)  # whatever still waited could not be told now
    assert all(getattr(run, name) for name in WAITING)
