"""The whole service on PostgreSQL and a bucket instead of its embedded stores: every flow of datasets and keys."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from support.bucket import Bucket, bucket
from support.otlp import chat_run, new_trace_id, traces
from support.postgres_cluster import Cluster, cluster
from support.rows import shelf
from support.service import Service

ROWS = "".join(json.dumps(row) + "\n" for row in shelf())


@pytest.fixture(scope="module")
def postgres() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


@pytest.fixture(scope="module")
def s3() -> Iterator[Bucket]:
    with bucket() as made:
        yield made


@pytest.fixture
def service(tmp_path: Path, postgres: Cluster, s3: Bucket) -> Iterator[Service]:
    settings = {"WHILEAI_RECORDS_URL": postgres.url("postgres"), "WHILEAI_OBJECTS_URL": s3.url, **s3.environment}
    with Service(tmp_path, settings) as running:
        yield running


def push(client: httpx.Client, **about: object) -> str:
    made = client.post("/datasets", json={"name": "shelf", **about}).raise_for_status().json()
    httpx.put(made["uploadUrl"], content=ROWS).raise_for_status()
    client.post(f"/datasets/{made['datasetId']}/finalize").raise_for_status()
    return str(made["datasetId"])


def pull(client: httpx.Client, dataset_id: str) -> str:
    grant = client.get(f"/datasets/{dataset_id}/download").raise_for_status().json()
    return httpx.get(grant["parts"][0]).raise_for_status().text


def test_accounts_keys_sets_and_cuts_live_on_postgresql_and_a_bucket(service: Service, s3: Bucket) -> None:
    signed_up = httpx.post(f"{service.url}/signup", json={"email": "ana@example.com"}).raise_for_status().json()
    with service.client(**{"x-api-key": signed_up["api_key"]}) as ana, service.client() as local:
        train = push(ana, agent="Desk")
        held = push(ana, name="shelf-holdout", purpose="holdout", parentDatasetId=train)
        assert pull(ana, train) == ROWS
        assert ana.get(f"/datasets/{train}").json()["siblingDatasetId"] == held
        assert ana.get(f"/datasets/{train}/profile").json()["profile"]["pass_rate"] == 0.5
        assert ana.post(f"/datasets/{train}/publish", json={"agent": "Desk"}).raise_for_status().json()["published"]
        assert pull_public(service, train) == ROWS
        assert local.get(f"/datasets/{train}").status_code == 404

        spans = [span for number in range(4) for span in run(number)]
        headers = {"content-type": "application/x-protobuf"}
        ana.post("/v1/traces", content=traces(spans), headers=headers).raise_for_status()
        made = ana.post("/datasets/cut", json={"holdout": 0}).raise_for_status().json()["made"]
        assert len(pull(ana, made[0]["datasetId"]).splitlines()) == 4

        keys = s3.list_keys()
        assert sum(train in key for key in keys) == 1
        ana.delete(f"/datasets/{train}").raise_for_status()
        assert not [key for key in s3.list_keys() if train in key]
        assert s3.unfinished() == 0

    service.stop()
    service.start()
    with service.client(**{"x-api-key": signed_up["api_key"]}) as ana:
        assert pull(ana, held) == ROWS
        assert ana.get("/me").json()["email"] == "ana@example.com"


def pull_public(service: Service, dataset_id: str) -> str:
    grant = httpx.get(f"{service.url}/catalog/{dataset_id}/download").raise_for_status().json()
    return httpx.get(grant["downloadUrl"]).raise_for_status().text


def run(number: int) -> Sequence[Span]:
    return chat_run(new_trace_id(), scenario="refund", prompt="Refund it.", reward=float(number % 2))
