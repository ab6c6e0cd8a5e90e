"""A recording service for every test that wants one, and an environment without the machine's own settings."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from client.recording_service import Service

from whileai import configuration, transport


@pytest.fixture
def service() -> Iterator[Service]:
    running = Service()
    yield running
    transport.close()
    running.close()


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, no variable of the machine, and no waiting between attempts."""
    for name in [name for name in os.environ if name.startswith(("WHILEAI_", "ZEROPROOF_"))]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    monkeypatch.setenv("WHILEAI_HOME", str(home))
    monkeypatch.setattr(transport, "sleep", lambda _seconds: None)
    monkeypatch.setattr(configuration, "_process", configuration.Settings())
    return home


@pytest.fixture
def platform(service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """The service, with the client pointed at it and a key in the environment."""
    monkeypatch.setenv("WHILEAI_API_URL", service.url)
    monkeypatch.setenv("WHILEAI_API_KEY", "zp_environment")
    return service
