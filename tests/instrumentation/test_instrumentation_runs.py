"""`@whileai.run`, grades from inside, token ids: what a plain function's run looks like from outside."""

from __future__ import annotations

import json
import math

import pytest
from support.agents import Agents
from support.otlp_receiver import Receiver, values

from whileai_instrumentation import UsageError, record_tokens, reward, score

START = """
import asyncio, gc, json
from dataclasses import dataclass
import whileai
whileai.instrument(agent="refund-bot", version="v4", quiet=True)
from opentelemetry import trace

def step(name):
    with trace.get_tracer("tests").start_as_current_span(name):
        pass
"""


def talk(told: object) -> list[tuple[str, str]]:
    """Messages as (role, text)."""
    return [(message["role"], message["parts"][0]["content"]) for message in json.loads(str(told))]


def test_each_kind_of_function_is_one_run_with_its_steps_inside(receiver: Receiver, agent: Agents) -> None:
    agent(
        START
        + """
@whileai.run
def plain(request):
    step("plain step")
    return "plain answer"

@whileai.run("other-bot", version="v5")
async def coroutine(request):
    await asyncio.sleep(0)
    step("coroutine step")
    return "coroutine answer"

@whileai.run()
def generator(request):
    step("generator step")
    yield "generator "
    yield "answer"

@whileai.run(scenario="refund-042", eval_set="smoke")
async def stream(request):
    yield "stream "
    step("stream step")
    yield "answer"

async def asynchronous():
    assert await coroutine("coroutine?") == "coroutine answer"
    assert [part async for part in stream("stream?")] == ["stream ", "answer"]

assert plain("plain?") == "plain answer"
parts = generator("generator?")
assert next(parts) == "generator "
step("between the parts")
assert list(parts) == ["answer"]
asyncio.run(asynchronous())
"""
    )
    spans = {span.name: span for span in receiver.spans()}
    roots = [span for span in receiver.spans() if span.name.startswith("invoke_agent")]
    assert sorted(root.name for root in roots) == ["invoke_agent other-bot", *["invoke_agent refund-bot"] * 3]
    by_answer = {talk(values(root.attributes)["gen_ai.output.messages"])[0][1]: root for root in roots}
    for kind in ("plain", "coroutine", "generator", "stream"):
        root = by_answer[f"{kind} answer"]
        assert talk(values(root.attributes)["gen_ai.input.messages"]) == [("user", f"{kind}?")]
        assert spans[f"{kind} step"].parent_span_id == root.span_id
    assert spans["between the parts"].parent_span_id == b""
    told = values(by_answer["stream answer"].attributes)
    assert (told["whileai.scenario_id"], told["whileai.eval_set"]) == ("refund-042", "smoke")
    assert receiver.span("stream step")["whileai.scenario_id"] == "refund-042"
    other = values(by_answer["coroutine answer"].attributes)
    assert (other["gen_ai.agent.name"], other["gen_ai.agent.version"]) == ("other-bot", "v5")


def test_a_failing_function_fails_its_run_and_its_caller(receiver: Receiver, agent: Agents) -> None:
    agent(
        START
        + """
@whileai.run
def broken():
    raise ValueError("no such order")

@whileai.run
def half():
    yield "one"
    raise KeyError("two")

for function in (broken, lambda: list(half())):
    try:
        function()
    except (ValueError, KeyError) as problem:
        step(type(problem).__name__)
"""
    )
    failed = [span for span in receiver.spans() if span.name.startswith("invoke_agent")]
    assert [span.status.message for span in failed] == ["ValueError: no such order", "KeyError: 'two'"]
    assert [values(span.attributes)["error.type"] for span in failed] == ["ValueError", "KeyError"]
    assert [event.name for span in failed for event in span.events] == ["exception", "exception"]


def test_a_generator_that_is_left_early_ends_its_run_without_an_error(receiver: Receiver, agent: Agents) -> None:
    agent(
        START
        + """
closed = []

@whileai.run
def stream():
    try:
        yield "one "
        yield "two"
    finally:
        step("cleaning up")
        closed.append(True)

for part in stream():
    break
gc.collect()
assert closed

@whileai.run
def echo():
    heard = yield "first"
    try:
        yield heard
    except KeyError as problem:
        yield "caught"
    return "returned"

talk = echo()
assert next(talk) == "first"
assert talk.send("second") == "second"
assert talk.throw(KeyError("x")) == "caught"
try:
    next(talk)
except StopIteration as end:
    assert end.value == "returned"
"""
    )
    early, whole = [span for span in receiver.spans() if span.name.startswith("invoke_agent")]
    assert talk(values(early.attributes)["gen_ai.output.messages"]) == [("assistant", "one ")]
    assert talk(values(whole.attributes)["gen_ai.output.messages"]) == [("assistant", "firstsecondcaught")]
    assert [early.status.code, whole.status.code] == [0, 0]


def test_whatever_goes_in_and_out_is_shown_as_well_as_can_be(receiver: Receiver, agent: Agents) -> None:
    agent(
        START
        + """
@dataclass
class Order:
    number: str

class Desk:
    @whileai.run("desk")
    def ask(self, order, note=""):
        return Order("B")

@whileai.run("chat")
def chat(messages):
    return None

@whileai.run("opaque")
def opaque(thing):
    return thing

class Opaque:
    def __str__(self):
        raise RuntimeError("not to be shown")

Desk().ask(Order("A"), note=7)
chat([{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}])
assert isinstance(opaque(Opaque()), Opaque)
"""
    )
    desk = receiver.span("invoke_agent desk")
    assert json.loads(talk(desk["gen_ai.input.messages"])[0][1]) == {"order": {"number": "A"}, "note": 7}
    assert json.loads(talk(desk["gen_ai.output.messages"])[0][1]) == {"number": "B"}
    chat = receiver.span("invoke_agent chat")
    assert talk(chat["gen_ai.input.messages"]) == [("system", "be kind"), ("user", "hi")]
    assert "gen_ai.output.messages" not in chat
    assert "gen_ai.input.messages" not in receiver.span("invoke_agent opaque")


def test_a_function_stays_itself(agent: Agents) -> None:
    ran = agent(
        START
        + """
import inspect

@whileai.run
async def documented(x: int) -> int:
    "says what it does"
    return x

print(json.dumps([documented.__name__, documented.__doc__, inspect.iscoroutinefunction(documented)]))
"""
    )
    assert ran.told == ["documented", "says what it does", True]


def test_grades_stand_on_the_root_and_the_latest_counts(receiver: Receiver, agent: Agents) -> None:
    ran = agent(
        START
        + """
@whileai.run
def desk(request):
    whileai.reward(0.0)
    with trace.get_tracer("tests").start_as_current_span("tool"):
        whileai.reward(True)
        whileai.score("style", 0.5, label="fair", explanation="short")
        inside = whileai.current_trace_id()
    return inside

assert whileai.current_trace_id() is None
with whileai.scenario("refund-042"):
    assert whileai.current_trace_id() is None
    inside = desk("?")
    afterwards = whileai.current_trace_id()
    whileai.score("late", 2)
    whileai.reward(0.25, pass_at=0.2)
print(json.dumps([inside, afterwards]))
"""
    )
    inside, afterwards = ran.told
    assert inside == afterwards
    root = receiver.span("invoke_agent refund-bot")
    assert root["whileai.reward"] == 1.0
    assert "whileai.reward" not in receiver.span("tool")
    (event,) = [event for span in receiver.spans() for event in span.events]
    assert event.name == "gen_ai.evaluation.result"
    assert values(event.attributes) == {
        "gen_ai.evaluation.name": "style",
        "gen_ai.evaluation.score.value": 0.5,
        "gen_ai.evaluation.score.label": "fair",
        "gen_ai.evaluation.explanation": "short",
    }
    late, again = receiver.records()
    assert (late.event_name, late.trace_id.hex()) == ("gen_ai.evaluation.result", inside)
    assert values(late.attributes) == {"gen_ai.evaluation.name": "late", "gen_ai.evaluation.score.value": 2.0}
    assert values(again.attributes)["gen_ai.evaluation.name"] == "score"


def test_a_reward_with_its_own_bar_says_the_bar(receiver: Receiver, agent: Agents) -> None:
    agent(START + "whileai.run(lambda: whileai.reward(0.7, pass_at=0.5))()")
    root = receiver.span("invoke_agent refund-bot")
    assert (root["zeroproof.score"], root["zeroproof.score.pass_at"]) == (0.7, 0.5)


def test_a_grade_outside_of_any_run_is_told_and_raises_nothing(receiver: Receiver, agent: Agents) -> None:
    ran = agent(START + "whileai.reward(1.0)\nprint(json.dumps('went on'))")
    assert ran.told == "went on"
    assert "outside of any run" in ran.err
    assert receiver.asked == []


@pytest.mark.parametrize("wrong", [math.nan, math.inf, "1.0", None, [1]])
def test_what_is_no_number_is_no_grade(wrong: object) -> None:
    with pytest.raises(UsageError, match="finite number"):
        reward(wrong)  # type: ignore[arg-type]  # that is the point
    if wrong is not None:
        with pytest.raises(UsageError, match="finite number"):
            score("style", wrong)  # type: ignore[arg-type]  # that is the point


def test_a_measurement_needs_a_name_and_something_measured() -> None:
    with pytest.raises(UsageError, match="name"):
        score("", 1.0)
    with pytest.raises(UsageError, match="neither a value nor a label"):
        score("style")


def test_token_ids_and_logprobs_arrive_with_all_their_bits(receiver: Receiver, agent: Agents) -> None:
    logprobs = [-0.1, -1e-300, 5e-324, -math.inf, 0.1 + 0.2]
    agent(
        START
        + f"""
import numpy

@whileai.run
def sampled():
    whileai.record_tokens(
        token_ids=numpy.array([1, 2, 3, 4, 2**53 + 1]),
        logprobs={logprobs!r},
        prompt_token_ids=range(200_000),
    )

inf = float("inf")
sampled()
""".replace("-inf", "-float('inf')")
    )
    told = receiver.span("invoke_agent refund-bot")
    assert told["whileai.token_ids"] == [1, 2, 3, 4, 2**53 + 1]
    assert told["whileai.logprobs"] == logprobs
    assert told["whileai.prompt_token_ids"] == list(range(200_000))


def test_tokens_that_cannot_be_right_are_refused() -> None:
    with pytest.raises(UsageError, match="2 token_ids and 1 logprobs"):
        record_tokens(token_ids=[1, 2], logprobs=[-0.5])
    with pytest.raises(UsageError, match=r"token_ids\[1\] is 2.5"):
        record_tokens(token_ids=[1, 2.5])  # type: ignore[list-item]  # that is the point
    with pytest.raises(UsageError, match="must be a list of numbers"):
        record_tokens(token_ids="123")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(UsageError, match="flat list"):
        record_tokens(logprobs=[[-0.5]])  # type: ignore[list-item]  # that is the point


def test_without_content_a_run_keeps_its_facts_alone(receiver: Receiver, agent: Agents) -> None:
    agent(
        """
import whileai
whileai.instrument(agent="refund-bot", capture_content=False, quiet=True)

@whileai.run
def desk(request):
    whileai.record_tokens(token_ids=[1], logprobs=[-0.5])
    whileai.reward(1.0)
    raise ValueError("secret in an error")

try:
    desk("a secret request")
except ValueError:
    pass
"""
    )
    told = receiver.span("invoke_agent refund-bot")
    facts = {"gen_ai.operation.name", "gen_ai.agent.name", "whileai.reward", "error.type"}
    assert set(told) == facts
    assert b"secret" not in receiver.traces[0].SerializeToString()
