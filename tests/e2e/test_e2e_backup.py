"""`whileai backup` and `whileai restore`: on a running service, on a stopped one, and what they refuse."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.otlp import chat_run, new_trace_id, traces
from support.postgres_cluster import Cluster, cluster
from support.rows import shelf
from support.service import Service

ROWS = "".join(json.dumps(row) + "\n" for row in shelf())


def run(service: Service, *words: str) -> subprocess.CompletedProcess[str]:
    """The command as the owner of the service's folder types it."""
    command = [*service.command(*words), "--data", str(service.folder / "data")]
    return subprocess.run(command, env=service.env(), capture_output=True, text=True, check=False, timeout=120)


def send(client: httpx.Client, number: int) -> str:
    """One graded run that was acknowledged."""
    trace_id = new_trace_id()
    body = traces(
        chat_run(trace_id, scenario=f"task {number % 7}", prompt=f"question {number}", reward=float(number % 2))
    )
    headers = {"content-type": "application/x-protobuf"}
    client.post("/v1/traces", content=body, headers=headers).raise_for_status()
    return trace_id


def push(client: httpx.Client, name: str) -> str:
    made = client.post("/datasets", json={"name": name}).raise_for_status().json()
    httpx.put(made["uploadUrl"], content=ROWS).raise_for_status()
    client.post(f"/datasets/{made['datasetId']}/finalize").raise_for_status()
    return str(made["datasetId"])


def pull(client: httpx.Client, dataset_id: str) -> str:
    grant = client.get(f"/datasets/{dataset_id}/download").raise_for_status().json()
    return httpx.get(grant["parts"][0]).raise_for_status().text


@contextmanager
def load(service: Service, acknowledged: list[str]) -> Iterator[None]:
    """Runs and grades that arrive without a pause; what was acknowledged is noted once it was."""
    stop = threading.Event()

    def work() -> None:
        with service.client() as client:
            number = 0
            while not stop.is_set():
                trace_id = send(client, number)
                if number % 3 == 0:
                    client.post(
                        "/v1/scores", json={"traceId": trace_id, "name": "late", "value": 0.5}
                    ).raise_for_status()
                if number % 10 == 9:
                    client.delete(f"/traces/{acknowledged.pop()}").raise_for_status()
                acknowledged.append(trace_id)
                number += 1

    threads = [threading.Thread(target=work)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_what_was_acknowledged_before_a_backup_reads_after_the_folder_is_lost(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    with Service(tmp_path) as service, service.client() as client:
        dataset = push(client, "kept")
        gone = send(client, 0)
        client.delete(f"/traces/{gone}").raise_for_status()
        first = [send(client, number) for number in range(40)]
        client.post("/v1/scores", json={"traceId": first[0], "value": 1.0}).raise_for_status()
        with load(service, acknowledged):
            while len(acknowledged) < 30:
                threading.Event().wait(0.01)
            before = first + acknowledged[:20]
            done = run(service, "backup", str(tmp_path / "backup"))
        assert done.returncode == 0, done.stderr + service.stderr()[-2000:]
        expected = {trace_id: client.get(f"/traces/{trace_id}").raise_for_status().json() for trace_id in before}
        assert not list((tmp_path / "data" / "snapshots").glob("*"))
        assert not list((tmp_path / "data" / "clickhouse" / "shadow").glob("backup_*"))
        service.kill()
        shutil.rmtree(tmp_path / "data")
        restored = run(service, "restore", str(tmp_path / "backup"))
        assert restored.returncode == 0, restored.stderr
        service.start()
        with service.client() as again:
            assert again.get("/readyz").status_code == 200
            found = {trace_id: again.get(f"/traces/{trace_id}") for trace_id in before}
            assert {trace_id: answer.status_code for trace_id, answer in found.items() if answer.is_error} == {}
            # A score that came during the backup may be in it or not; everything else is as it was.
            assert {trace_id: answer.json()["spans"] for trace_id, answer in found.items()} == {
                trace_id: run["spans"] for trace_id, run in expected.items()
            }
            assert [found[trace_id].json()["verdict"] for trace_id in first] == [
                expected[trace_id]["verdict"] for trace_id in first
            ]
            assert again.get(f"/traces/{gone}").status_code == 404
            assert pull(again, dataset) == ROWS
            # It lives on: what comes after a restore is written and read.
            assert again.get(f"/traces/{send(again, 1)}").status_code == 200
            assert again.get("/traces/cuts").json()["runs"] >= len(before)


def test_a_stopped_service_is_backed_up_too(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        with service.client() as client:
            trace_id, dataset = send(client, 1), push(client, "kept")
            before = client.get(f"/traces/{trace_id}").json()
        assert service.stop() == 0
        assert run(service, "backup", str(tmp_path / "backup")).returncode == 0
        shutil.rmtree(tmp_path / "data")
        assert run(service, "restore", str(tmp_path / "backup")).returncode == 0
        service.start()
        with service.client() as client:
            assert client.get(f"/traces/{trace_id}").json() == before
            assert pull(client, dataset) == ROWS


def test_nothing_is_overwritten_and_a_damaged_backup_is_refused(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        with service.client() as client:
            push(client, "kept")
        backup = tmp_path / "backup"
        assert run(service, "backup", str(backup)).returncode == 0
        refusals = [
            (("backup", str(backup)), "is not empty"),
            (("restore", str(backup)), "is not empty"),
            (("restore", str(tmp_path)), "is no backup"),
        ]
        for words, reason in refusals:
            done = run(service, *words)
            assert done.returncode == 2
            assert reason in done.stderr
        service.kill()
        shutil.rmtree(tmp_path / "data")
        rows = next((backup / "objects").rglob("*.jsonl"))
        rows.write_bytes(rows.read_bytes()[:-5])
        done = run(service, "restore", str(backup))
        assert done.returncode == 2
        assert "damaged" in done.stderr
        assert not (tmp_path / "data").exists()
        done = run(service, "backup", str(tmp_path / "other"))
        assert done.returncode == 2
        assert "no data folder" in done.stderr


def test_nobody_without_the_services_secret_makes_a_snapshot(tmp_path: Path) -> None:
    with Service(tmp_path) as service, service.client() as client:
        assert client.post("/snapshot").status_code == 403
        forged = {"authorization": "Bearer WyJ4IiwxXQ.abc"}
        assert client.post("/snapshot", headers=forged).status_code == 403
        assert client.delete("/snapshot", params={"name": "../records.db"}).status_code == 403
        assert not (tmp_path / "data" / "snapshots").exists()


def test_what_a_killed_backup_left_is_removed_at_the_next_start(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        service.kill()
        left = [
            tmp_path / "data" / "snapshots" / "backup_00",
            tmp_path / "data" / "clickhouse" / "shadow" / "backup_00",
        ]
        for folder in left:
            folder.mkdir(parents=True)
        service.start()
        assert [folder.exists() for folder in left] == [False, False]


@pytest.fixture(scope="module")
def postgres() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


@pytest.fixture
def database(postgres: Cluster) -> Callable[[str], str]:
    def create(name: str) -> str:
        postgres.run(f"CREATE DATABASE {name}")
        return postgres.url(name)

    return create


def test_records_in_postgresql_are_dumped_and_brought_back(tmp_path: Path, database: Callable[[str], str]) -> None:
    settings: dict[str, str] = {"WHILEAI_RECORDS_URL": database("before")}
    with Service(tmp_path, settings) as service, service.client() as client:
        dataset, trace_id = push(client, "kept"), send(client, 1)
        done = run(service, "backup", str(tmp_path / "backup"))
        assert done.returncode == 0, done.stderr
        assert not (tmp_path / "backup" / "data" / "records.db").exists()
        service.kill()
        shutil.rmtree(tmp_path / "data")
        settings["WHILEAI_RECORDS_URL"] = database("after")
        done = run(service, "restore", str(tmp_path / "backup"))
        assert done.returncode == 0, done.stderr
        service.start()
        with service.client() as again:
            listed: dict[str, Any] = again.get("/datasets").json()
            assert dataset in [row["datasetId"] for row in listed["datasets"]]
            assert pull(again, dataset) == ROWS
            assert again.get(f"/traces/{trace_id}").status_code == 200
