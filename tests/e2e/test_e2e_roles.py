"""The service split: two collectors and a query process on one ClickHouse and one set of records."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from support.clickhouse_server import clickhouse_port, database_url
from support.otlp import chat_run, new_trace_id, traces
from support.service import Service

PROTOBUF = {"content-type": "application/x-protobuf"}


@dataclass
class Split:
    collectors: tuple[Service, Service]
    query: Service


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Split]:
    folder = tmp_path_factory.mktemp("split")
    with ExitStack() as undo:
        port = undo.enter_context(clickhouse_port(folder))
        shared = {
            "WHILEAI_CLICKHOUSE_URL": database_url(port),
            "WHILEAI_RECORDS_URL": f"sqlite:///{folder / 'records.db'}",
            "WHILEAI_SECRET_KEY": "a secret that all parts share, long enough",
        }

        def part(name: str, role: str) -> Service:
            (folder / name).mkdir()
            return undo.enter_context(Service(folder / name, environment=shared, role=role))

        yield Split((part("one", "collector"), part("two", "collector")), part("query", "query"))


def send(service: Service, body: bytes) -> None:
    with service.client() as client:
        client.post("/v1/traces", content=body, headers=PROTOBUF).raise_for_status()


def eventually(client: httpx.Client, trace_id: str, spans: int) -> dict[str, object]:
    """The listed run; with split roles it may lag behind the acknowledgement."""
    deadline = time.monotonic() + 40
    while True:
        listed = client.get("/traces", params={"from": "all", "limit": 500}).raise_for_status().json()["traces"]
        found: dict[str, object] = next((run for run in listed if run["traceId"] == trace_id), {})
        if found.get("spanCount") == spans:
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.5)


def test_what_one_collector_takes_the_query_process_shows(split: Split) -> None:
    trace_id = new_trace_id()
    send(split.collectors[0], traces(chat_run(trace_id, scenario="s")))
    with split.query.client() as client:
        assert eventually(client, trace_id, 2)["scenarioId"] == "s"


def test_a_trace_that_comes_by_two_collectors_is_one_run_in_the_end(split: Split) -> None:
    trace_id = new_trace_id()
    chat, root = chat_run(trace_id, answer="from the other half")
    send(split.collectors[0], traces([chat]))
    send(split.collectors[1], traces([root]))
    with split.query.client() as client:
        listed = eventually(client, trace_id, 2)
        assert (listed["agent"], listed["finalText"]) == ("refund-bot", "from the other half")


def test_scores_and_deletions_go_through_the_query_process(split: Split) -> None:
    trace_id = new_trace_id()
    send(split.collectors[1], traces(chat_run(trace_id)))
    with split.query.client() as client:
        eventually(client, trace_id, 2)
        assert client.post("/v1/scores", json={"traceId": trace_id, "value": 1}).json()["applied"] == 1
        assert client.get(f"/traces/{trace_id}").json()["verdict"] == "pass"
        assert client.delete(f"/traces/{trace_id}").status_code == 204
        assert client.get(f"/traces/{trace_id}").status_code == 404


def test_each_part_has_only_its_own_doors(split: Split) -> None:
    with split.query.client() as client:
        assert client.post("/v1/traces", content=b"", headers=PROTOBUF).status_code in (404, 405)
    assert split.query.grpc == "none"
    with split.collectors[0].client() as client:
        assert client.get("/traces").status_code == 404
    for part in (*split.collectors, split.query):
        assert httpx.get(f"{part.url}/readyz").status_code == 200


def test_a_part_without_shared_stores_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="WHILEAI_CLICKHOUSE_URL and WHILEAI_RECORDS_URL"):
        Service(tmp_path, role="collector").start()
