"""The documents against what they describe: settings, metrics, commands, links."""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from starlette.routing import Route

from whileai.cli.main import parser
from whileai_collector import BY_PATH
from whileai_ingest.metrics import IngestMetrics
from whileai_query.app import ROUTERS
from whileai_server.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")])
# A default that a table says in words, because it depends on another setting.
_IN_WORDS = {None: {"none", "off", "a random one", "the request's own origin"}, "": {"none"}}


def first_table(text: str) -> dict[str, str]:
    """Variable -> default, from the rows of a document's first table."""
    table = re.search(r"(^\|.*\n)+", text, re.MULTILINE)
    assert table is not None
    rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in table[0].splitlines()[2:]]
    return {row[0].strip("`"): row[-1].strip("`") for row in rows}


def code_in(text: str) -> str:
    """The fenced blocks and the inline code, each piece from a new line on."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return "\n".join([*blocks, *re.findall(r"`([^`\n]+)`", text)])


def verbs() -> set[str]:
    actions = parser()._subparsers
    assert actions is not None
    return {
        name
        for action in actions._group_actions
        if isinstance(action, argparse._SubParsersAction)
        for name in action.choices
    }


def test_the_settings_page_lists_every_setting_and_no_other() -> None:
    listed = first_table((ROOT / "docs" / "settings.md").read_text())
    assert set(listed) == {f"WHILEAI_{name.upper()}" for name in Settings.model_fields}


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_the_settings_page_tells_the_default(name: str) -> None:
    told = first_table((ROOT / "docs" / "settings.md").read_text())[f"WHILEAI_{name.upper()}"]
    default = Settings.model_fields[name].default
    derived = "<data>" in told or "$WHILEAI_HOME" in told
    if default is None or default == "":
        assert derived or told in _IN_WORDS[default]
    else:
        assert told == (str(default).lower() if isinstance(default, bool) else str(default))


def test_the_operations_page_lists_every_metric() -> None:
    registry = CollectorRegistry()
    IngestMetrics(registry)
    counted = {metric.name + ("_total" if metric.type == "counter" else "") for metric in registry.collect()}
    told = set(re.findall(r"^\| `(whileai_\w+)", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE))
    assert told == counted


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_inside_the_tree_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text())
    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_in_a_document_exist(document: Path) -> None:
    code = code_in(document.read_text())
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^make ([a-z][a-z-]+)", code, re.MULTILINE)) <= targets
    assert set(re.findall(r"^whileai ([a-z]+)", code, re.MULTILINE)) <= verbs()


def test_the_calls_of_the_api_page_exist() -> None:
    routed = {
        (method, re.sub(r"{\w+}", "{}", route.path))
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, Route)
        for method in route.methods or ()
    }
    routed |= {("POST", path) for path in BY_PATH} | {("GET", "/openapi.json")}
    told = re.findall(
        r"^(GET|POST|PUT|DELETE) (/[^\s?]*)", code_in((ROOT / "docs" / "api.md").read_text()), re.MULTILINE
    )
    assert {(method, re.sub(r"{\w+}", "{}", path)) for method, path in told} <= routed


def test_the_readme_shows_the_two_commands_on_its_first_screen() -> None:
    first_screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:32])
    assert "make demo" in first_screen
    assert "pip install '.[server]'\nwhileai serve" in first_screen
    assert "OTLP" in first_screen


def test_a_fragment_of_the_changelog_is_of_a_known_kind_and_one_line() -> None:
    for fragment in (ROOT / ".changelog").iterdir():
        assert re.fullmatch(r"[a-z0-9-]+\.(added|changed|fixed)\.md", fragment.name), fragment.name
        assert len(fragment.read_text().strip().splitlines()) == 1, fragment.name


def test_the_key_recipe_of_the_readme_reads_the_file_that_the_service_writes(tmp_path: Path) -> None:
    recipe = re.search(r"^export OTEL_EXPORTER_OTLP_HEADERS=.*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert recipe is not None
    (tmp_path / ".whileai").mkdir()
    (tmp_path / ".whileai" / "credentials.json").write_text(
        '{"api_key": "zp_0123", "api_url": "http://127.0.0.1:4318"}'
    )
    command = f"{recipe[0]}; echo $OTEL_EXPORTER_OTLP_HEADERS"
    shown = subprocess.run(
        ["bash", "-c", command],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/usr/local/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() == "x-api-key=zp_0123"
