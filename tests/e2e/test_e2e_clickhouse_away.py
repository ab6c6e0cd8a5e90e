"""ClickHouse refuses, hangs or cuts: the journal holds, and everything is in afterwards, exactly once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from support.clickhouse_server import clickhouse_port, database_url
from support.otlp import chat_run, new_trace_id, traces
from support.service import Service
from support.tcp_proxy import Mode, TcpProxy

PROTOBUF = {"content-type": "application/x-protobuf"}
JOURNAL_BYTES = 200 << 10


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TcpProxy]:
    with clickhouse_port(tmp_path_factory.mktemp("clickhouse")) as port, TcpProxy(port) as running:
        yield running


@pytest.fixture
def service(proxy: TcpProxy, tmp_path: Path) -> Iterator[Service]:
    proxy.become("pass")
    environment = {
        "WHILEAI_CLICKHOUSE_URL": database_url(proxy.port) + "?send_receive_timeout=3&connect_timeout=2",
        "WHILEAI_JOURNAL_MAX_BYTES": str(JOURNAL_BYTES),
    }
    with Service(tmp_path, environment=environment) as running:
        yield running


def send(client: httpx.Client, trace_id: str, answer: str = "Done.") -> httpx.Response:
    return client.post("/v1/traces", content=traces(chat_run(trace_id, answer=answer)), headers=PROTOBUF)


def fill(client: httpx.Client) -> list[str]:
    """Send until the journal is full; what was acknowledged."""
    acknowledged: list[str] = []
    for _ in range(2000):
        trace_id = new_trace_id()
        answer = send(client, trace_id, "x" * 3000)
        if answer.status_code == 503:
            assert 1 <= int(answer.headers["retry-after"]) <= 60
            return acknowledged
        assert answer.status_code == 200
        acknowledged.append(trace_id)
    raise AssertionError("the journal has no bound")


def wait_until_not_ready(service: Service) -> None:
    deadline = time.monotonic() + 20
    while httpx.get(f"{service.url}/readyz", timeout=20).status_code != 503:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def wait_until_readable(client: httpx.Client, trace_id: str) -> None:
    deadline = time.monotonic() + 30
    while (answer := client.get(f"/traces/{trace_id}")).status_code == 503:
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.2)


@pytest.mark.parametrize("mode", ["refuse", "hang", "cut"])
def test_the_journal_holds_while_clickhouse_is_away_and_all_is_in_once_afterwards(
    service: Service, proxy: TcpProxy, mode: Mode
) -> None:
    with service.client() as client:
        before = new_trace_id()
        send(client, before).raise_for_status()
        assert client.get(f"/traces/{before}").status_code == 200
        proxy.become(mode)
        acknowledged = fill(client)
        assert len(acknowledged) > 20
        wait_until_not_ready(service)
        asked = client.get(f"/traces/{acknowledged[0]}")
        assert asked.status_code == 503
        assert asked.headers["retry-after"]
        proxy.become("pass")
        wait_until_readable(client, acknowledged[-1])
        for trace_id in [before, *acknowledged]:
            run = client.get(f"/traces/{trace_id}").json()
            assert len({one["spanId"] for one in run["spans"]}) == len(run["spans"]) == 2
        listed = client.get("/traces", params={"from": "all", "limit": 500}).json()["traces"]
        assert len(listed) == min(500, 1 + len(acknowledged))


def test_what_the_journal_held_survives_kill_9_too(service: Service, proxy: TcpProxy) -> None:
    proxy.become("refuse")
    with service.client() as client:
        acknowledged = fill(client)
    service.kill()
    proxy.become("pass")
    service.start()
    with service.client() as client:
        for trace_id in acknowledged:
            assert client.get(f"/traces/{trace_id}?spans=0").json()["spanCount"] == 2


def test_the_service_stops_in_time_though_clickhouse_is_away(service: Service, proxy: TcpProxy) -> None:
    proxy.become("hang")
    with service.client() as client:
        send(client, new_trace_id()).raise_for_status()
    started = time.monotonic()
    assert service.stop() == 0
    assert time.monotonic() - started < 30
