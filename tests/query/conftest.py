"""The real API over one embedded engine, records on SQLite and a folder for files; an account for each test."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient
from support.api import Caller, Clock
from support.engine import engine_url

from whileai_ingest import Ingest, Store
from whileai_query import Objects, Services, create_api
from whileai_registry import Registry, Signer, Vault

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("service")
    registry = Registry(f"sqlite:///{folder}/records.db")
    registry.migrate()
    ingest = Ingest(folder / "journal", Store(engine_url()), CollectorRegistry(), journal_max_bytes=1 << 30)
    ingest.start()
    yield Services(
        ingest,
        registry,
        Objects(f"file://{folder}/objects"),
        Signer(b"s" * 32),
        Vault(b"s" * 32),
        hub_url="http://127.0.0.1:9",  # nobody listens there
    )
    ingest.close()
    registry.close()


@pytest.fixture
def new_caller(services: Services) -> Iterator[Callable[[], Caller]]:
    """Makes an account with its key, and a client that speaks to an application of its own."""
    opened: list[TestClient] = []

    def make() -> Caller:
        account = services.registry.accounts.sign_in(f"tester{next(_numbers)}@example.com").id
        key = services.registry.keys.create(account, "tests").secret
        clock = Clock()
        own = replace(services, clock=clock)
        client = TestClient(create_api(own), raise_server_exceptions=False)
        opened.append(client)
        return Caller(client, own, clock, account, key)

    yield make
    for client in opened:
        client.close()


@pytest.fixture
def caller(new_caller: Callable[[], Caller]) -> Caller:
    return new_caller()
