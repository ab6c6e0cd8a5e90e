"""One running service for the tests of the edge."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from support.service import Service


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(
        tmp_path_factory.mktemp("service"), environment={"WHILEAI_MAX_REQUEST_BYTES": str(8 << 20)}
    ) as running:
        yield running
        assert running.stop() == 0


@pytest.fixture
def http(service: Service) -> Iterator[httpx.Client]:
    with service.client() as client:
        yield client
