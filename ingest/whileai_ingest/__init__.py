"""The heart: accept, journal, acknowledge, write. Everything that is stored passes through here."""

from whileai_ingest.errors import (
    IngestError,
    JournalInUse,
    Overloaded,
    StoreRefused,
    StoreUnavailable,
    TooLarge,
    Undecodable,
)
from whileai_ingest.service import Ingest, Receipt, ScoreRow, Signal
from whileai_ingest.store import Store, StoreOptions

__all__ = [
    "Ingest",
    "IngestError",
    "JournalInUse",
    "Overloaded",
    "Receipt",
    "ScoreRow",
    "Signal",
    "Store",
    "StoreOptions",
    "StoreRefused",
    "StoreUnavailable",
    "TooLarge",
    "Undecodable",
]
