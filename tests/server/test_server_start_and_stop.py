"""How the service starts, says that it cannot, and stops."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import threading
import time
from pathlib import Path

import httpx
import pytest
from support.otlp import chat_run, new_trace_id, traces
from support.service import Service

PROTOBUF = {"content-type": "application/x-protobuf"}


def failed_start(service: Service, *arguments: str, **environment: str) -> str:
    """The one line on stderr of a start that must fail."""
    done = subprocess.run(
        service.command("serve", "--data", str(service.folder / "data"), *arguments),
        env=service.env() | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert "ready" not in done.stdout
    sentences = [line for line in done.stderr.splitlines() if line.startswith("whileai serve: ")]
    assert len(sentences) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return sentences[0]


def test_it_is_ready_when_it_says_so_and_stops_with_zero(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        assert httpx.get(f"{service.url}/healthz").json() == {"status": "alive"}
        ready = httpx.get(f"{service.url}/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "ready")
        assert "whileai_journal_backlog_bytes" in httpx.get(f"{service.url}/metrics").text
        assert service.stop() == 0


def test_sigint_is_a_stop_too(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        assert service.process is not None
        service.process.send_signal(signal.SIGINT)
        assert service.process.wait(30) == 0


def test_an_open_connection_does_not_hold_up_the_stop(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        host, port = service.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as idle:
            idle.sendall(b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc")
            started = time.monotonic()
            assert service.stop() == 0
            assert time.monotonic() - started < 30


def test_a_stop_under_load_loses_nothing_acknowledged(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    stop = threading.Event()

    def send() -> None:
        with service.client() as client:
            while not stop.is_set():
                trace_id = new_trace_id()
                try:
                    answer = client.post("/v1/traces", content=traces(chat_run(trace_id)), headers=PROTOBUF)
                except httpx.HTTPError:
                    return
                if answer.status_code == 200:
                    acknowledged.append(trace_id)

    with Service(tmp_path) as service:
        senders = [threading.Thread(target=send) for _ in range(3)]
        for sender in senders:
            sender.start()
        deadline = time.monotonic() + 20
        while len(acknowledged) <= 20 and time.monotonic() < deadline:
            time.sleep(0.1)
        code = service.stop()
        stop.set()
        for sender in senders:
            sender.join()
        assert code == 0
        assert len(acknowledged) > 20
        service.start()
        with service.client() as client:
            for trace_id in acknowledged:
                assert client.get(f"/traces/{trace_id}?spans=0").json()["spanCount"] == 2


def test_the_first_start_writes_the_key_where_the_client_looks(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        for path in (tmp_path / "data" / "credentials.json", tmp_path / "home" / "credentials.json"):
            told = json.loads(path.read_text())
            assert (told["api_key"], told["api_url"]) == (service.key, service.url)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "data" / "secret").stat().st_mode) == 0o600


def test_a_key_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    home = tmp_path / "home" / "credentials.json"
    home.parent.mkdir()
    home.write_text('{"api_key": "zp_of_another_service"}')
    with Service(tmp_path):
        assert "zp_of_another_service" in home.read_text()


def test_the_stored_key_follows_the_service_to_another_port(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        first = service.url
        assert service.stop() == 0
        service.start()
        assert service.url != first
        for folder in ("data", "home"):
            assert json.loads((tmp_path / folder / "credentials.json").read_text())["api_url"] == service.url


def test_a_second_server_on_the_folder_names_the_first(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        assert service.process is not None
        sentence = failed_start(service, "--http-port", "0", "--grpc-port", "0")
        assert str(service.process.pid) in sentence
        assert service.url in sentence


@pytest.mark.parametrize("flag", ["--http-port", "--grpc-port"])
def test_a_taken_port_names_its_holder(tmp_path: Path, flag: str) -> None:
    other = "--grpc-port" if flag == "--http-port" else "--http-port"
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        sentence = failed_start(Service(tmp_path), flag, str(port), other, "0")
    assert str(port) in sentence
    assert str(os.getpid()) in sentence


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"WHILEAI_CLICKHOUSE_URL": "clickhouse://127.0.0.1:9/default"}, "ClickHouse"),
        ({"WHILEAI_CLICKHOUSE_URL": "mysql://nowhere"}, "ClickHouse"),
        ({"WHILEAI_RECORDS_URL": "postgresql://nobody@127.0.0.1:9/none"}, "records"),
        ({"WHILEAI_BOOTSTRAP_KEY": "short"}, "WHILEAI_BOOTSTRAP_KEY"),
        ({"WHILEAI_MAX_REQUEST_BYTES": "many"}, "WHILEAI_MAX_REQUEST_BYTES"),
        ({"WHILEAI_LOG_LEVEL": "loud"}, "loud"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(tmp_path: Path, environment: dict[str, str], named: str) -> None:
    assert named in failed_start(Service(tmp_path), "--http-port", "0", "--grpc-port", "0", **environment)


def test_a_start_after_kill_9_takes_the_folder_again(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        trace_id = new_trace_id()
        with service.client() as client:
            client.post("/v1/traces", content=traces(chat_run(trace_id)), headers=PROTOBUF).raise_for_status()
        service.kill()
        service.start()
        with service.client() as client:
            assert client.get(f"/traces/{trace_id}").json()["spanCount"] == 2


def test_every_answer_has_a_request_id_and_no_payload_reaches_the_log(tmp_path: Path) -> None:
    secret = "the-customer-s-words"
    with Service(tmp_path, environment={"WHILEAI_LOG_LEVEL": "debug"}) as service, service.client() as client:
        sent = client.post("/v1/traces", content=traces(chat_run(new_trace_id(), prompt=secret)), headers=PROTOBUF)
        listed = client.get("/traces", params={"q": secret})
        assert sent.headers["x-request-id"] != listed.headers["x-request-id"]
        log = service.stderr()
        assert sent.headers["x-request-id"] in log
        assert secret not in log
        assert service.key not in log
