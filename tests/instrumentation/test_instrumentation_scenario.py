"""A scenario is on every span begun inside its block, wherever the code of the block goes; and on no other."""

from __future__ import annotations

import pytest
from support.agents import Agents
from support.otlp_receiver import Receiver

from whileai_instrumentation import UsageError, scenario

START = """
import asyncio, json, multiprocessing, os, subprocess, sys, threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import whileai
whileai.instrument(agent="refund-bot", quiet=True)
from opentelemetry import trace

def work(name):
    with trace.get_tracer("tests").start_as_current_span(name):
        pass
"""
HERE, NOWHERE = ("refund-042", "smoke"), (None, None)


def marks(receiver: Receiver) -> dict[str, tuple[str | None, str | None]]:
    """The scenario and eval set of each span."""
    found = {name: receiver.span(name) for name in receiver.names()}
    return {name: (told.get("whileai.scenario_id"), told.get("whileai.eval_set")) for name, told in found.items()}


def test_every_span_of_a_block_and_no_other_is_marked(receiver: Receiver, agent: Agents) -> None:
    ran = agent(
        START
        + """
work("before")
with whileai.scenario("refund-042", eval_set="smoke") as block:
    with trace.get_tracer("tests").start_as_current_span("outer"):
        work("inner")
    with whileai.scenario("nested"):
        work("nested")
    work("again")
work("after")
print(json.dumps(block.trace_ids))
"""
    )
    assert len(ran.told) == 2  # the runs of the nested block are the nested block's
    assert marks(receiver) == {
        "before": NOWHERE,
        "outer": HERE,
        "inner": HERE,
        "nested": ("nested", "smoke"),
        "again": HERE,
        "after": NOWHERE,
    }


def test_it_goes_into_threads_and_pools_and_tasks(receiver: Receiver, agent: Agents) -> None:
    agent(
        START
        + """
pool = ThreadPoolExecutor(1)
pool.submit(work, "pool warmed up outside").result()

class Own(threading.Thread):
    def run(self):
        work("thread with a run of its own")

async def tasks():
    await asyncio.gather(asyncio.create_task(asyncio.to_thread(work, "to_thread")), task("task"))
    await asyncio.get_running_loop().run_in_executor(pool, work, "executor")

async def task(name):
    work(name)

with whileai.scenario("refund-042", eval_set="smoke"):
    for thread in (threading.Thread(target=work, args=("thread",)), Own(), threading.Timer(0, work, ["timer"])):
        thread.start()
        thread.join()
    pool.submit(work, "pool").result()
    list(pool.map(work, ["map"]))
    asyncio.run(tasks())
pool.submit(work, "pool again outside").result()
"""
    )
    outside = {"pool warmed up outside", "pool again outside"}
    inside = {"thread", "thread with a run of its own", "timer", "pool", "map", "to_thread", "task", "executor"}
    assert marks(receiver) == {**dict.fromkeys(outside, NOWHERE), **dict.fromkeys(inside, HERE)}


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_it_goes_into_child_processes(receiver: Receiver, agent: Agents, method: str) -> None:
    ran = agent(
        START
        + f"""
if __name__ == "__main__":
    methods = multiprocessing.get_context({method!r})
    with ProcessPoolExecutor(1, mp_context=methods) as pool:
        pool.submit(work, "pool outside").result()
        with whileai.scenario("refund-042", eval_set="smoke"):
            pool.submit(work, "pool").result()
            child = methods.Process(target=work, args=("process",))
            child.start()
            child.join()
            subprocess.run([sys.executable, "-c", os.environ["CHILD"]], check=True)
            subprocess.run([sys.executable, "-c", os.environ["CHILD"], "given"], check=True, env=dict(os.environ))
    work("parent")
    print(json.dumps("BAGGAGE" in os.environ))
""",
        CHILD=START + "work('subprocess' + ' '.join(sys.argv[1:]))",
        PYTHONWARNINGS="ignore::DeprecationWarning",
    )
    assert ran.told is False
    inside = dict.fromkeys(["pool", "process", "subprocess", "subprocessgiven"], HERE)
    assert marks(receiver) == {"pool outside": NOWHERE, "parent": NOWHERE, **inside}


def test_a_child_process_goes_on_in_the_run_it_was_started_from(receiver: Receiver, agent: Agents) -> None:
    agent(
        START
        + """
with whileai.scenario("refund-042"), trace.get_tracer("tests").start_as_current_span("root"):
    subprocess.run([sys.executable, "-c", os.environ["CHILD"]], check=True)
""",
        CHILD=START + "work('child')\nwhileai.reward(1.0)",
    )
    spans = {span.name: span for span in receiver.spans()}
    assert spans["child"].trace_id == spans["root"].trace_id
    assert spans["child"].parent_span_id == spans["root"].span_id
    (graded,) = receiver.records()  # the root is another process's, so the grade goes beside it
    assert (graded.trace_id, graded.span_id) == (spans["root"].trace_id, spans["root"].span_id)


def test_another_tools_traceparent_joins_no_runs(receiver: Receiver, agent: Agents) -> None:
    agent(START + "work('run')", TRACEPARENT="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    (run,) = receiver.spans()
    assert run.parent_span_id == b""


def test_a_span_in_a_context_of_its_own_is_marked_too(receiver: Receiver, agent: Agents) -> None:
    agent(
        START
        + """
from opentelemetry.context import Context
with whileai.scenario("refund-042", eval_set="smoke"):
    trace.get_tracer("tests").start_span("detached", context=Context()).end()
"""
    )
    assert marks(receiver) == {"detached": HERE}


@pytest.mark.parametrize("wrong", ["", None, 7])
def test_a_scenario_without_an_id_is_refused(wrong: object) -> None:
    with pytest.raises(UsageError, match="scenario's id"), scenario(wrong):  # type: ignore[arg-type]  # that is the point
        pass
