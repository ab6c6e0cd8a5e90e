"""A database that is not there says so in one sentence, without a password in it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from support.postgres_cluster import cluster

from whileai_registry import InvalidInput, Registry, RegistryUnavailable


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def assert_one_sentence(error: pytest.ExceptionInfo[RegistryUnavailable]) -> None:
    message = str(error.value)
    assert "\n" not in message
    assert "WHILEAI_RECORDS_URL" in message


def test_an_unreachable_postgresql_is_one_sentence_without_the_password() -> None:
    registry = Registry(f"postgresql://while:hunter2@127.0.0.1:{free_port()}/records")
    for call in (registry.ping, registry.migrate, registry.bootstrap):
        with pytest.raises(RegistryUnavailable, match="cannot be reached") as error:
            call()
        assert_one_sentence(error)
        assert "hunter2" not in str(error.value)
    registry.close()


def test_a_folder_that_does_not_exist_is_one_sentence(tmp_path: Path) -> None:
    registry = Registry(f"sqlite:///{tmp_path}/missing/records.db")
    for call in (registry.ping, registry.migrate):
        with pytest.raises(RegistryUnavailable, match="cannot be reached") as error:
            call()
        assert_one_sentence(error)
    registry.close()


def test_a_postgresql_that_goes_away_is_one_sentence_and_serves_again_when_it_is_back() -> None:
    with cluster() as running:
        registry = Registry(running.url("postgres"))
        registry.migrate()
        key = registry.bootstrap().api_key or ""
        running.stop()
        with pytest.raises(RegistryUnavailable, match="cannot be reached") as error:
            registry.authenticate(key)
        assert_one_sentence(error)
        running.start()
        assert registry.authenticate(key) is not None
        registry.close()


def test_a_reachable_database_answers_a_ping(registry: Registry) -> None:
    registry.ping()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("mysql://localhost/records", "must start with sqlite:/// or postgresql://"),
        ("sqlite://", "must name a file"),
        ("sqlite:///:memory:", "must name a file"),
        ("no url:secret", "not a database URL"),
    ],
)
def test_a_url_that_cannot_work_is_refused_before_anything_is_opened(url: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason) as error:
        Registry(url)
    assert "secret" not in str(error.value)
