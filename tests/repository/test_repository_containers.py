"""The container files against what they must fit: each other, and the service's settings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from whileai_server.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {f"WHILEAI_{name.upper()}" for name in Settings.model_fields}


def read_yaml(name: str) -> dict[str, Any]:
    document = yaml.safe_load((ROOT / name).read_text())
    assert isinstance(document, dict)
    return document


def names_in(text: str) -> set[str]:
    return set(re.findall(r"\bWHILEAI_[A-Z_]+", text))


def test_the_pipelines_use_what_the_collector_file_declares() -> None:
    collector = read_yaml("otel-collector.yaml")
    service = collector["service"]
    assert set(service["pipelines"]) == {"traces", "logs", "metrics"}
    for pipeline in service["pipelines"].values():
        assert pipeline["receivers"] == ["otlp"]
        assert pipeline["processors"][0] == "memory_limiter"
        for kind in ("receivers", "processors", "exporters"):
            assert set(pipeline[kind]) <= set(collector[kind])
    assert set(service["extensions"]) == set(collector["extensions"])


def test_the_collector_listens_where_sdks_send_and_forwards_with_the_key() -> None:
    collector = read_yaml("otel-collector.yaml")
    protocols = collector["receivers"]["otlp"]["protocols"]
    assert protocols["grpc"]["endpoint"].endswith(":4317")
    assert protocols["http"]["endpoint"].endswith(":4318")
    exporter = collector["exporters"]["otlp_http"]
    assert exporter["endpoint"] == "${env:WHILEAI_TRACE_URL:-http://127.0.0.1:14318}"
    assert exporter["headers"] == {"x-api-key": "${env:WHILEAI_API_KEY}"}


def test_the_collector_batches_behind_a_queue_that_survives_it() -> None:
    collector = read_yaml("otel-collector.yaml")
    queue = collector["exporters"]["otlp_http"]["sending_queue"]
    assert queue["storage"] in collector["extensions"]
    assert queue["batch"]["min_size"] <= queue["batch"]["max_size"]
    assert "batch" not in collector["processors"]
    assert collector["exporters"]["otlp_http"]["retry_on_failure"]["max_elapsed_time"] == "0s"


def test_a_request_that_the_service_takes_passes_the_collector() -> None:
    protocols = read_yaml("otel-collector.yaml")["receivers"]["otlp"]["protocols"]
    largest = Settings.model_fields["max_request_bytes"].default
    assert protocols["http"]["max_request_body_size"] == largest
    assert protocols["grpc"]["max_recv_msg_size_mib"] * 1024**2 == largest


def test_compose_starts_the_service_its_stores_and_the_collector() -> None:
    services = read_yaml("compose.yaml")["services"]
    assert set(services) == {"service", "clickhouse", "postgres", "collector"}
    for name in ("clickhouse", "postgres"):
        assert services["service"]["depends_on"][name] == {"condition": "service_healthy"}
        assert "healthcheck" in services[name]
    assert services["collector"]["depends_on"]["service"] == {"condition": "service_healthy"}


def test_compose_sets_only_variables_that_the_service_reads() -> None:
    service = read_yaml("compose.yaml")["services"]["service"]
    assert {"WHILEAI_CLICKHOUSE_URL", "WHILEAI_RECORDS_URL", "WHILEAI_BOOTSTRAP_KEY"} <= set(service["environment"])
    assert set(service["environment"]) <= SETTINGS


def test_compose_keeps_every_volume_it_mounts() -> None:
    compose = read_yaml("compose.yaml")
    mounted = {volume.partition(":")[0] for service in compose["services"].values() for volume in service["volumes"]}
    assert {name for name in mounted if not name.startswith(".")} == set(compose["volumes"])


def test_the_image_runs_as_nobody_special_and_tells_when_it_is_ready() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    last_stage = dockerfile[dockerfile.rindex("\nFROM ") :]
    assert re.search(r"^USER (?!root)\w+$", last_stage, re.MULTILINE)
    assert "/readyz" in last_stage
    assert names_in(dockerfile) <= SETTINGS


def test_the_image_gets_every_room_and_nothing_else_of_the_tree() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert ignored[0] == "*"
    allowed = {line[1:] for line in ignored if line.startswith("!")}
    copied = {
        source
        for line in (ROOT / "Dockerfile").read_text().splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for source in line.split()[1:-1]
    }
    assert copied == allowed
