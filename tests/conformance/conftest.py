"""The real service as a process, and each test twice: once with the published client, once with ours.

Every test has an account of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.hub import Hub
from support.peers import Driver, Name, Peer
from support.published import our_python, published_python
from support.service import Service

from whileai_registry import Registry

CLIENTS: tuple[Name, ...] = ("published", "ours")
_INTERPRETERS: dict[Name, Callable[[], Path]] = {"published": published_python, "ours": our_python}
# The Hub of the tests takes large files the way that every Hub takes them; Xet needs one of its own.
QUICK = {"WHILEAI_RUN_QUIET_SECONDS": "2", "HF_HUB_DISABLE_XET": "1"}
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Platform:
    """The service, and its records for what only an operator can do: make an account without a form."""

    service: Service
    registry: Registry
    hub: Hub

    @property
    def url(self) -> str:
        return self.service.url

    def new_account(self) -> tuple[str, str]:
        """An account and its key."""
        account = self.registry.accounts.sign_in(f"peer{next(_numbers)}@example.com").id
        return account, self.registry.keys.create(account, "conformance").secret

    def get(self, path: str, key: str, **params: Any) -> Any:
        """What the API says, past both clients."""
        answer = httpx.get(self.url + path, headers={"x-api-key": key}, params=params, timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    folder = tmp_path_factory.mktemp("conformance")
    with Hub() as hub, Service(folder, {**QUICK, "HF_ENDPOINT": hub.url}) as service:
        registry = Registry(f"sqlite:///{folder}/data/records.db")
        yield Platform(service, registry, hub)
        registry.close()


@pytest.fixture(scope="session")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Name], Driver]]:
    folder = tmp_path_factory.mktemp("drivers")
    made: dict[Name, Driver] = {}

    def driver(name: Name) -> Driver:
        if name not in made:
            made[name] = Driver(name, _INTERPRETERS[name](), folder / f"{name}.log")
        return made[name]

    yield driver
    for opened in made.values():
        opened.close()


@pytest.fixture(params=CLIENTS)
def new_peer(
    request: pytest.FixtureRequest, platform: Platform, drivers: Callable[[Name], Driver], tmp_path: Path
) -> Callable[[], Peer]:
    """Makes users of one client, each with an account and a home of its own."""
    return lambda: make_peer(drivers(request.param), platform, tmp_path)


@pytest.fixture
def peer(new_peer: Callable[[], Peer]) -> Peer:
    return new_peer()


@pytest.fixture
def stranger(new_peer: Callable[[], Peer]) -> Peer:
    """The same client with the key of another account."""
    return new_peer()


@pytest.fixture
def ours(platform: Platform, drivers: Callable[[Name], Driver], tmp_path: Path) -> Peer:
    """Our own client only."""
    return make_peer(drivers("ours"), platform, tmp_path)


def make_peer(driver: Driver, platform: Platform, folder: Path) -> Peer:
    account, key = platform.new_account()
    home = folder / f"home-{account}"
    home.mkdir()
    return Peer(driver, platform.url, key, home, account)
