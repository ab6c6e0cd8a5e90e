"""A receiver that misbehaves on demand, providers of a test's own, agent programs, and the real service."""

from __future__ import annotations

import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.agents import Agents, Outboxes, Ran, run_program
from support.otlp_receiver import Receiver, receiving
from support.service import KEY, Service

from whileai_instrumentation import warnings_once
from whileai_instrumentation.courier import Courier
from whileai_instrumentation.encoding import Encoder
from whileai_instrumentation.outbox import Outbox
from whileai_instrumentation.spool import Spool
from whileai_instrumentation.transport import HttpTransport


@pytest.fixture(autouse=True)
def _every_warning_is_told() -> None:
    warnings_once.forget()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as one:
        yield one


@pytest.fixture
def outboxes(receiver: Receiver) -> Iterator[Outboxes]:
    """Makes outboxes that send to the receiver, and closes them."""
    made: list[Outbox] = []

    def make(
        encoder: Encoder | None = None, spool: Path | None = None, url: str | None = None, **bounds: int
    ) -> Outbox:
        transport = HttpTransport(url or receiver.url, KEY)
        kept = Spool(spool) if spool is not None else None
        made.append(Outbox(Courier(transport, encoder or Encoder(), kept, receiver.url), **bounds))
        return made[-1]

    yield make
    receiver.open.set()
    for outbox in made:
        outbox.close(0.1)
    for thread in threading.enumerate():  # so that none sends to a receiver that is gone, or speaks in another test
        if thread.name == "whileai-outbox":
            thread.join(60)
    for outbox in made:
        outbox.courier.transport.close()


@pytest.fixture
def agent(receiver: Receiver, tmp_path: Path) -> Agents:
    """Runs a program with the receiver as its service."""

    def run(code: str, *, command: tuple[str, ...] = (sys.executable,), **environment: str) -> Ran:
        program = tmp_path / "agent.py"
        program.write_text(textwrap.dedent(code))
        own = {"WHILEAI_API_URL": receiver.url, "WHILEAI_API_KEY": KEY, "WHILEAI_HOME": str(tmp_path / "home")}
        return Ran(run_program([*command, str(program)], {**own, **environment}))

    return run


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("service")) as one:
        yield one
