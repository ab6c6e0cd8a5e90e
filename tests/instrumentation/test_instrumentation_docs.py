"""What the pages tell a newcomer to write is run as it stands there; what they show of a file is in the file."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from support import model_server
from support.agents import Agents
from support.node import node_folder, run_node
from support.otlp_receiver import Receiver, values
from support.service import KEY, Service
from support.side_venv import ROOT

DOCS = ROOT / "docs"
NODE = ROOT / "examples" / "node"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


def test_the_code_of_the_page_runs_from_top_to_bottom(receiver: Receiver, agent: Agents) -> None:
    *first, last = blocks("instrument.md", "python")
    ran = agent("\n".join([*first, "whileai.flush()", last]))
    assert ran.code == 0, ran.err
    graded, sampled = [values(span.attributes) for span in receiver.spans()]
    assert graded["whileai.scenario_id"] == "refund-042"
    assert [values(record.attributes)["gen_ai.evaluation.name"] for record in receiver.records()] == ["score", "style"]
    assert sampled["whileai.token_ids"] == [42, 43]


def test_every_example_and_file_the_page_links_to_is_there() -> None:
    for page in ("instrument.md", "node.md"):
        links = re.findall(r"\]\(([^)#]+)\)", (DOCS / page).read_text())
        assert [link for link in links if not (DOCS / link).exists()] == []


def test_the_page_on_node_shows_the_file_that_is_run() -> None:
    (shown, _) = blocks("node.md", "js")
    assert shown in (NODE / "tracing.mjs").read_text()


@pytest.mark.skipif(shutil.which("npm") is None, reason="Node is not installed")
def test_the_vercel_ai_sdk_on_node_arrives_whole(service: Service) -> None:
    folder = node_folder("node", NODE)
    with model_server.serving() as model:
        own = {
            "WHILEAI_API_URL": service.url,
            "WHILEAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{model}/v1",
            "OPENAI_API_KEY": "none",
        }
        wrote = run_node(folder, "refund.mjs", own)
    trace_id, _, answer = wrote.strip().partition(" ")
    assert answer == model_server.ANSWER
    with service.client() as client:
        run = client.get(f"/traces/{trace_id}").json()
    assert (run["agent"], run["scenarioId"], run["evalSet"]) == ("refund-bot", "refund-042", "smoke")
    assert (run["prompt"], run["finalText"]) == (model_server.PROMPT, model_server.ANSWER)
    assert [(step["tool"], step["result"]) for step in run["steps"] if "tool" in step] == [
        ("lookup_order", model_server.ORDER),
        ("issue_refund", model_server.REFUND),
    ]
    assert (run["verdict"], run["usage"]["inputTokens"]) == ("pass", 300)


def test_the_node_example_asks_for_what_it_imports() -> None:
    wanted = json.loads((NODE / "package.json").read_text())["dependencies"]
    imported = set()
    for path in Path(NODE).glob("*.mjs"):
        imported |= set(re.findall(r'from "([^."][^"]*)"', path.read_text()))
    assert imported == set(wanted)
