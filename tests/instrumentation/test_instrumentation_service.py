"""From an agent to the running service and back: read after grading, and nothing lost while the service was away."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from support.agents import run_program
from support.service import KEY, Service

START = """
import json
import whileai, whileai.simulations as wai
whileai.instrument(agent="refund-bot", version="v4")

@whileai.run
def desk(request):
    return "Done."

with whileai.scenario("refund-042", eval_set="smoke") as block:
"""


def run(service: Service, body: str, folder: Path) -> list[str]:
    """Run an agent; the trace ids it printed."""
    own = {"WHILEAI_API_URL": service.url, "WHILEAI_API_KEY": KEY, "WHILEAI_HOME": str(folder / "home")}
    program = START + body + "\nprint(json.dumps(block.trace_ids))"
    ran = run_program([sys.executable, "-c", program], own)
    assert ran.returncode == 0, ran.stderr
    ids: list[str] = json.loads(ran.stdout.splitlines()[-1])
    return ids


def test_a_grade_sent_by_the_process_that_made_the_run_finds_it(service: Service, tmp_path: Path) -> None:
    (trace_id,) = run(
        service,
        "    desk('hello')\n"
        "answer = wai.send_score(block.trace_ids[0], 1.0)\n"
        "assert answer['applied'] == 1 and not answer['pending'], answer",
        tmp_path,
    )
    with service.client() as client:
        told = client.get(f"/traces/{trace_id}").json()
    assert (told["agent"], told["scenarioId"], told["evalSet"]) == ("refund-bot", "refund-042", "smoke")
    assert (told["prompt"], told["finalText"], told["verdict"]) == ("hello", "Done.", "pass")


def test_the_latest_reward_counts_even_just_after_the_run(service: Service, tmp_path: Path) -> None:
    (trace_id,) = run(
        service,
        "    whileai.run(lambda: whileai.reward(0.0))()\n    whileai.reward(1.0)\n    whileai.score('style', 0.5)",
        tmp_path,
    )
    with service.client() as client:
        told = client.get(f"/traces/{trace_id}").json()
    assert [(score["name"], score["value"]) for score in told["scores"]] == [("score", 1.0), ("style", 0.5)]
    assert told["scores"][0]["history"][0]["value"] == 0.0


def test_the_line_will_do_for_grpc_too(service: Service, tmp_path: Path) -> None:
    own = {"WHILEAI_API_KEY": KEY, "WHILEAI_HOME": str(tmp_path)}
    program = f"""
import whileai
whileai.instrument(agent="refund-bot", protocol="grpc", endpoint="http://{service.grpc}", spool=False)
print(whileai.run(lambda: whileai.current_trace_id())(), whileai.flush())
"""
    ran = run_program([sys.executable, "-c", program], own)
    assert ran.returncode == 0, ran.stderr
    trace_id, flushed = ran.stdout.split()
    assert flushed == "True"
    with service.client() as client:
        assert client.get(f"/traces/{trace_id}").json()["agent"] == "refund-bot"


def test_runs_made_while_the_service_was_down_arrive_once_when_it_is_back(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        service.kill()
        ids = run(service, "    desk('one')\n    desk('two')", tmp_path)
        assert list((tmp_path / "home" / "spool").rglob("*.otlp.gz"))
        before = service.url
        service.start()
        own = {
            "WHILEAI_API_URL": service.url,
            "WHILEAI_API_KEY": KEY,
            "WHILEAI_HOME": str(tmp_path / "home"),
        }
        moved(tmp_path / "home" / "spool", before, service.url)
        again = run_program([sys.executable, "-c", START + "    desk('three')"], own)
        assert again.returncode == 0, again.stderr
        with service.client() as client:
            runs = [client.get(f"/traces/{trace_id}").json() for trace_id in ids]
        assert [(told["prompt"], told["spanCount"]) for told in runs] == [("one", 1), ("two", 1)]


def moved(spool: Path, before: str, after: str) -> None:
    """The service came back on another port, where a real one would have kept its own."""
    from whileai.agent_process import spool_folder

    old, new = (spool / spool_folder(url, KEY).name for url in (before, after))
    old.rename(new)
