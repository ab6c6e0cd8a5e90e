"""Node's stock exporters, which send OTLP as JSON: spans, log records and metrics, with only an address and a key."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.node import node_folder, run_node
from support.service import Service

NODE = Path(__file__).with_name("node")
TOTAL = re.compile(r'^whileai_items_accepted_total\{signal="(\w+)"\} (\S+)$', re.MULTILINE)

pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="Node is not installed")


def accepted(service: Service) -> dict[str, float]:
    told = httpx.get(f"{service.url}/metrics").text
    return {signal: float(count) for signal, count in TOTAL.findall(told)}


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_a_run_its_log_records_and_metrics_arrive_whole(service: Service, http: httpx.Client, compression: str) -> None:
    before = accepted(service)
    folder = node_folder("node-exporters", NODE)
    sent = json.loads(
        run_node(folder, "send.mjs", {"URL": service.url, "KEY": service.key, "COMPRESSION": compression})
    )
    assert sent["failures"] == []
    run: dict[str, Any] = http.get(f"/traces/{sent['trace']}").json()
    assert (run["agent"], run["service"], run["state"]) == ("node-bot", "stock-node", "complete")
    assert (run["prompt"], run["finalText"]) == ("the ask", "the answer")
    chat = next(span for span in run["spans"] if span["spanId"] == sent["chat"])
    told = chat["attributes"]
    assert (told["text"], told["lone"], told["flag"], told["list"]) == ("é\0☃ \U0001f600", "\ufffd!", False, ["a", "b"])
    assert (told["whole"], told["half"], told["numbers"]) == (2**53 - 1, 0.1 + 0.2, [1, 2.5])
    assert (chat["status"], chat["statusMessage"], chat["events"][0]["name"]) == ("error", "broken", "token")
    assert chat["links"][0]["traceId"] == sent["trace"]
    after = accepted(service)
    grown = {signal: after[signal] - before.get(signal, 0) for signal in ("traces", "logs", "metrics")}
    assert grown == {"traces": 2, "logs": 2, "metrics": 3}


def test_a_wrong_key_is_told_to_each_exporter(service: Service) -> None:
    folder = node_folder("node-exporters", NODE)
    sent = json.loads(run_node(folder, "send.mjs", {"URL": service.url, "KEY": "zp_wrong", "COMPRESSION": "none"}))
    assert len(sent["failures"]) == 3
    assert all("Unauthorized" in failure for failure in sent["failures"])
