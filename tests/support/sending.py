"""Sending to an `Ingest` from a test, until it can be read."""

from __future__ import annotations

import asyncio

from whileai_ingest import Ingest, Receipt, Signal


def send(ingest: Ingest, account: str, body: bytes, signal: Signal = Signal.TRACES) -> Receipt:
    """Acknowledged and readable."""
    receipt = asyncio.run(ingest.accept(account, signal, body))
    assert ingest.settle(60)
    return receipt
