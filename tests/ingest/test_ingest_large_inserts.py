"""An insert that the driver sends in several blocks: every one of them has to arrive."""

from __future__ import annotations

import os

from whileai_ingest import Ingest

ROWS, RAW = 600, 16 << 10  # some eight megabytes; the driver makes a block of about two


def test_every_row_of_an_insert_of_many_blocks_arrives(ingest: Ingest, account: str) -> None:
    rows = [[account, number, "spans", "large", os.urandom(RAW)] for number in range(ROWS)]
    ingest.store.insert("quarantine", ("account", "version", "kind", "error", "raw"), rows)
    found = ingest.store.query(
        "SELECT version, raw FROM quarantine WHERE account = {account:String} ORDER BY version",
        {"account": account},
        as_bytes=["raw"],
    )
    assert found == [(version, raw) for _, version, _, _, raw in rows]
