"""kill -9 in the middle of the work: every acknowledged span and score is there afterwards, exactly once."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from pathlib import Path

import grpc
import httpx
import pytest
from support.grpc_export import exporter
from support.otlp import chat_run, new_trace_id, traces
from support.service import Service


class Load:
    """Threads that send until told to stop, and remember what was acknowledged."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.spans: dict[str, int] = {}
        self.scores: dict[str, float] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._dice = random.Random(11)
        senders = (self._http_small, self._http_large, self._grpc, self._score)
        self._threads = [threading.Thread(target=sender) for sender in senders]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _acknowledged(self, trace_ids: list[str]) -> None:
        with self._lock:
            self.spans.update(dict.fromkeys(trace_ids, 2))

    def _http(self, runs: int) -> None:
        with self.service.client() as client:
            while not self._stop.is_set():
                trace_ids = [new_trace_id() for _ in range(runs)]
                body = traces([one for trace_id in trace_ids for one in chat_run(trace_id)])
                try:
                    answer = client.post("/v1/traces", content=body, headers={"content-type": "application/x-protobuf"})
                except httpx.HTTPError:
                    continue
                if answer.status_code == 200:
                    self._acknowledged(trace_ids)

    def _http_small(self) -> None:
        self._http(1)

    def _http_large(self) -> None:
        self._http(256)

    def _grpc(self) -> None:
        with grpc.insecure_channel(self.service.grpc) as channel:
            export = exporter(channel, self.service.key)
            while not self._stop.is_set():
                trace_id = new_trace_id()
                try:
                    export(traces(chat_run(trace_id)))
                except grpc.RpcError:
                    continue
                self._acknowledged([trace_id])

    def _score(self) -> None:
        with self.service.client() as client:
            while not self._stop.is_set():
                with self._lock:
                    known = list(self.spans)
                if not known:
                    time.sleep(0.01)
                    continue
                trace_id, value = self._dice.choice(known), self._dice.random()
                try:
                    answer = client.post("/v1/scores", json={"traceId": trace_id, "value": value})
                except httpx.HTTPError:
                    # Whether it was taken is unknown: what the run says now is right either way.
                    self.scores.pop(trace_id, None)
                    continue
                if answer.status_code == 200 and answer.json()["applied"]:
                    self.scores[trace_id] = value


@pytest.mark.parametrize("rounds", [3, pytest.param(30, marks=pytest.mark.soak)])
def test_every_acknowledged_span_and_score_survives_kill_9_exactly_once(tmp_path: Path, rounds: int) -> None:
    service = Service(tmp_path)
    spans: dict[str, int] = {}
    scores: dict[str, float] = {}
    dice = random.Random(5)
    try:
        for _ in range(rounds):
            service.start()
            with Load(service) as load:
                time.sleep(1.5 + dice.random() * 2)
                service.kill()
            spans |= load.spans
            scores |= load.scores
        assert len(spans) > 100
        service.start()
        with service.client() as client:
            found = _all_runs(client)
            missing = spans.keys() - found.keys()
            assert not missing, f"{len(missing)} of {len(spans)} acknowledged traces are gone"
            wrong = {trace_id for trace_id, count in spans.items() if found[trace_id]["spanCount"] != count}
            assert not wrong, f"{len(wrong)} traces have another number of spans"
            told = {trace_id: found[trace_id]["reward"] for trace_id in scores}
            assert told == scores
            for trace_id in dice.sample(sorted(spans), 20):
                run = client.get(f"/traces/{trace_id}").json()
                ids = Counter(one["spanId"] for one in run["spans"])
                assert len(ids) == 2
                assert set(ids.values()) == {1}
        assert service.stop() == 0
    finally:
        service.kill()


def _all_runs(client: httpx.Client) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    cursor = ""
    while True:
        query = {"from": "all", "limit": "500", **({"cursor": cursor} if cursor else {})}
        page = client.get("/traces", params=query).raise_for_status().json()
        for run in page["traces"]:
            assert run["traceId"] not in found, "a run was listed twice"
            found[run["traceId"]] = run
        if not page["next"]:
            return found
        cursor = page["next"]
