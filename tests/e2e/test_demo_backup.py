"""The backup that docs/operations.md tells of: the folder of a stopped service, copied."""

from __future__ import annotations

import shutil
from pathlib import Path

from support.otlp import chat_run, new_trace_id, traces
from support.service import Service


def test_a_copy_of_a_stopped_folder_serves_the_same_runs(tmp_path: Path) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.mkdir()
    copy.mkdir()
    trace_id = new_trace_id()
    with Service(original) as service, service.client() as client:
        body = traces(chat_run(trace_id, scenario="backup", reward=1.0))
        client.post("/v1/traces", content=body, headers={"content-type": "application/x-protobuf"}).raise_for_status()
        before = client.get(f"/traces/{trace_id}").raise_for_status().json()
        assert service.stop() == 0
        shutil.copytree(original / "data", copy / "data", symlinks=True)
        shutil.rmtree(original / "data")
        with Service(copy) as restored, restored.client() as again:
            assert again.get(f"/traces/{trace_id}").raise_for_status().json() == before
            assert again.get("/readyz").status_code == 200
    assert before["verdict"] == "pass"
