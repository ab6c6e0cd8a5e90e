"""`instrument`: the one line inside an agent. Puts the parts together; each part is a module of its own."""

import atexit
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from whileai_instrumentation import providers, state
from whileai_instrumentation.carrying import carry_context, take_up_context
from whileai_instrumentation.courier import Courier
from whileai_instrumentation.encoding import Encoder
from whileai_instrumentation.errors import UsageError
from whileai_instrumentation.identity import Identity
from whileai_instrumentation.notice import say
from whileai_instrumentation.outbox import Outbox
from whileai_instrumentation.processors import OutboxLogProcessor, OutboxSpanProcessor
from whileai_instrumentation.redaction import Wish, redactor
from whileai_instrumentation.spool import Spool
from whileai_instrumentation.switching import Switched, switch_on
from whileai_instrumentation.transport import HttpTransport, Transport

Protocol = Literal["http", "grpc"]
FLUSH_SECONDS = 10.0


def instrument(
    agent: str | None = None,
    *,
    endpoint: str,
    api_key: str,
    version: str | None = None,
    dataset: str | None = None,
    capture_content: bool = True,
    redact: Wish = None,
    only: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    prefer: Iterable[str] = (),
    protocol: Protocol = "http",
    spool: Path | None = None,
    quiet: bool = False,
) -> Switched:
    """Send this process's spans and log records to the service at `endpoint`; switch tracing on in what is installed.

    Joins the OpenTelemetry providers that are there, makes them otherwise. Calling it again changes the settings and
    doubles nothing. `spool` is the folder for what cannot be sent; None keeps nothing on disk.
    """
    if protocol not in _TRANSPORTS:
        raise UsageError(f"protocol must be one of {', '.join(_TRANSPORTS)}, not {protocol!r}")
    encoder = Encoder(Identity(agent, version, dataset), capture_content, redactor(redact))
    transport = _TRANSPORTS[protocol](endpoint, api_key)
    courier = Courier(transport, encoder, Spool(spool) if spool is not None else None, endpoint)
    with state.lock:
        setup = state.current()
        if setup is None:
            setup = _new(courier)
            state.put_in_force(setup)
            atexit.register(shutdown)
            carry_context()
            take_up_context()
        else:
            setup.outbox.hand_over(courier)
        _join(setup, agent)
        switched = switch_on(capture_content, only=only, exclude=exclude, prefer=prefer)
    if not quiet:
        say(setup, agent, endpoint, switched)
    return switched


def flush(timeout: float = FLUSH_SECONDS) -> bool:
    """Send what waits; whether the service has all of it. True when nothing is set up, for there is nothing to send."""
    setup = state.current()
    return setup.outbox.flush(timeout) if setup is not None else True


def shutdown() -> None:
    """Send what waits, within a few seconds, keep the rest on disk, and take nothing more."""
    setup = state.current()
    if setup is not None:
        setup.outbox.close()


def _new(courier: Courier) -> state.Setup:
    outbox = Outbox(courier)
    return state.Setup(outbox, OutboxSpanProcessor(outbox), OutboxLogProcessor(outbox))


def _join(setup: state.Setup, agent: str | None) -> None:
    """Hang the processors into the providers in force, each once."""
    tracing, logging = providers.joined()
    if not any(provider is tracing for provider in setup.joined):
        providers.join_tracing(setup.spans, agent)
    if not any(provider is logging for provider in setup.joined):
        providers.join_logging(setup.logs, agent)
    setup.joined = list(providers.joined())


def _grpc(endpoint: str, api_key: str) -> Transport:
    from whileai_instrumentation.grpc_transport import GrpcTransport

    return GrpcTransport(endpoint, api_key)


_TRANSPORTS = {"http": HttpTransport, "grpc": _grpc}
