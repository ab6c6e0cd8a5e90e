"""Every example, with its real framework, a scripted model and the running service: the whole conversation is there,
under the right agent, with its scenario and its verdict."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import model_server
from support.agents import run_program
from support.service import KEY, Service
from support.side_venv import ROOT, python_of

EXAMPLES = ROOT / "examples"
REQUIREMENTS = Path(__file__).parent / "requirements"
QUICK = tuple(
    (f"with_{framework}", "common")
    for framework in ("openai", "anthropic", "pydantic_ai", "openai_agents", "langgraph", "smolagents")
)
LONG = (
    ("with_strands", "strands"),
    ("with_agent_framework", "agent-framework"),
    ("with_google_adk", "google-adk"),
    ("with_llama_index", "llama-index"),
    ("with_agno", "agno"),
    *(
        (example, family)
        for family in ("opentelemetry", "openllmetry")
        for example in ("with_openai", "with_anthropic", "with_openai_agents", "with_langgraph")
    ),
    *((example, "doubled") for example in ("with_openai", "with_openai_agents", "with_langgraph")),
)


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with model_server.serving() as url:
        yield url


def environment(service: Service, model: str, folder: Path) -> dict[str, str]:
    return {
        "WHILEAI_API_URL": service.url,
        "WHILEAI_API_KEY": KEY,
        "WHILEAI_HOME": str(folder),
        "OPENAI_BASE_URL": f"{model}/v1",
        "OPENAI_API_BASE": f"{model}/v1",
        "OPENAI_API_KEY": "none",
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "none",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


@pytest.mark.parametrize(
    ("example", "requirements"), [*QUICK, *(pytest.param(*pair, marks=pytest.mark.soak) for pair in LONG)]
)
def test_the_whole_conversation_is_at_the_service(
    example: str, requirements: str, service: Service, model: str, tmp_path: Path
) -> None:
    python = python_of(requirements, REQUIREMENTS / f"{requirements}.txt")
    ran = run_program([str(python), str(EXAMPLES / f"{example}.py")], environment(service, model, tmp_path))
    assert ran.returncode == 0, ran.stderr
    trace_id, _, answer = ran.stdout.splitlines()[-1].partition(" ")
    assert answer == model_server.ANSWER
    with service.client() as client:
        run = client.get(f"/traces/{trace_id}").json()
    assert run["state"] == "complete"
    # A workflow's root names the agent as `instrument` does, and its agents have the names of the framework.
    (root,) = [span for span in run["spans"] if not span["parentSpanId"]]
    assert (run["agent"] if requirements == "common" else root["attributes"]["gen_ai.agent.name"]) == "refund-bot"
    assert root["resource"]["whileai.agent"] == "refund-bot"
    assert run["modelVersion"] == "v1"
    assert (run["scenarioId"], run["evalSet"]) == ("refund-042", "smoke")
    assert (run["reward"], run["verdict"], run["status"]) == (1.0, "pass", "ok")
    assert run["model"].removeprefix("openai/") in ("gpt-4o-mini", "claude-sonnet-4-5")
    assert run["prompt"].endswith(model_server.PROMPT)
    assert run["finalText"].strip() == model_server.ANSWER
    assert [call for call in calls(run) if call[0] != "final_answer"] == [
        ("lookup_order", {"order_id": "A-1001"}, model_server.ORDER),
        ("issue_refund", {"order_id": "A-1001", "amount": 25.5}, model_server.REFUND),
    ]
    assert run["usage"]["inputTokens"] == 3 * model_server.INPUT_TOKENS
    assert run["usage"]["outputTokens"] == 3 * model_server.OUTPUT_TOKENS
    assert {span["attributes"]["whileai.scenario_id"] for span in run["spans"]} == {"refund-042"}


def calls(run: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """The tools' calls; a result that a framework wrote down as Python prints it is read as such."""
    return [(step["tool"], step["arguments"], read(step["result"])) for step in run["steps"] if "tool" in step]


def read(result: Any) -> Any:
    return ast.literal_eval(result) if isinstance(result, str) and result.startswith("{'") else result


def test_of_two_instrumentors_for_one_library_the_line_says_which_is_left_off(
    service: Service, model: str, tmp_path: Path
) -> None:
    python = python_of("common", REQUIREMENTS / "common.txt")
    program = "import whileai; whileai.instrument(exclude=['anthropic'])"
    ran = run_program([str(python), "-c", program], environment(service, model, tmp_path))
    assert "anthropic" not in ran.stderr
    assert "openai (openinference-instrumentation-openai)" in ran.stderr


def test_no_content_of_a_framework_leaves_when_it_must_not(service: Service, model: str, tmp_path: Path) -> None:
    python = python_of("common", REQUIREMENTS / "common.txt")
    own = {**environment(service, model, tmp_path), "WHILEAI_CAPTURE_CONTENT": "0"}
    for example in ("with_openai", "with_pydantic_ai"):
        ran = run_program([str(python), str(EXAMPLES / f"{example}.py")], own)
        assert ran.returncode == 0, ran.stderr
        with service.client() as client:
            text = client.get(f"/traces/{ran.stdout.split()[0]}").text
        assert "A-1001" not in text
        assert "refund desk of a small shop" not in text
        assert "gpt-4o-mini" in text


def test_every_example_is_run() -> None:
    written = {path.stem for path in EXAMPLES.glob("with_*.py")}
    assert {example for example, _ in (*QUICK, *LONG)} == written
