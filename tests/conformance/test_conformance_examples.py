"""The Python of the README and of the page on self-hosting, run as it stands against a real service."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import httpx
from conformance.conftest import Platform
from support.hub import TOKEN, USER
from support.otlp import chat_run, new_trace_id, traces
from support.peers import Peer
from support.person import person_at
from support.rows import shelf

ROOT = Path(__file__).resolve().parents[2]
# What the README's reader has already: a span at hand, and the run that it grades.
README_BEGINS = "from opentelemetry import trace\nspan = trace.get_tracer('tests').start_span('run')\n"
GRADED = "4bf92f3577b34da6a3ce929d0e0e4736"


def blocks(document: str) -> str:
    """The Python of a document in one piece."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL))


def run(peer: Peer, program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """With our client, as a user would run a file."""
    file = folder / "example.py"
    file.write_text(program)
    command = [str(peer.driver.python), str(file)]
    return subprocess.run(command, env=peer.env(), cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_the_readme_leads_from_spans_to_files(ours: Peer, tmp_path: Path) -> None:
    spans = [
        span
        for task in ("refunds/mug", "task-7")  # the second is held out
        for number in range(4)
        for span in chat_run(
            GRADED if (task, number) == ("refunds/mug", 0) else new_trace_id(),
            agent="refund-desk",
            scenario=task,
            prompt=f"About {task}",
            reward=float(number % 2),
        )
    ]
    headers = {"x-api-key": ours.key, "content-type": "application/x-protobuf"}
    httpx.post(f"{ours.url}/v1/traces", content=traces(spans), headers=headers).raise_for_status()
    done = run(ours, README_BEGINS + blocks("README.md"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 tasks are worth training on" in done.stdout
    assert len((tmp_path / "train.jsonl").read_text().splitlines()) == 4
    assert len((tmp_path / "holdout.jsonl").read_text().splitlines()) == 4
    made = {row["name"]: row for row in ours("wai.datasets()")["datasets"]}
    assert made["refunds-v2"]["published"]
    assert made["refunds-v2"]["parentDatasetId"] == made["refund-desk-rl"]["datasetId"]


def test_the_page_on_self_hosting_does_what_it_says(ours: Peer, platform: Platform, tmp_path: Path) -> None:
    headers = {"x-api-key": ours.key}
    httpx.post(f"{ours.url}/hf/me", headers=headers, json={"token": TOKEN}).raise_for_status()
    made = ours("wai.push_rows(rows, 'refunds')", rows=shelf())["datasetId"]
    with person_at(ours.url) as person:
        person.sign_in_with_key(ours.key)
        token = person.session_token()
    begins = f"session_token, dataset_id = {token!r}, {made!r}\n"
    ends = "\nprint(credential['credential'], again['status'], again['rows'])\n"
    done = run(ours, begins + blocks("docs/self-hosting.md") + ends, tmp_path)
    assert done.returncode == 0, done.stderr
    account, told = done.stdout.splitlines()
    assert account.startswith("standard None ")
    assert re.fullmatch(r"zp_dc_\S+ ready 12", told)
    assert f"zp-{made}" in platform.hub.repositories[f"{USER}/refunds"].tags
