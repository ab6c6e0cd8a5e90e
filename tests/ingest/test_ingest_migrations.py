"""The schema at start: idempotent, safe when killed half-way, and written for a cluster when settings say so."""

from __future__ import annotations

import re

import pytest

from whileai_ingest import Ingest, Store, StoreOptions
from whileai_ingest.migrations import files, migrate, placeholders, statements


def columns(ingest: Ingest) -> list[tuple[str, ...]]:
    return ingest.store.query(
        "SELECT table, name, type FROM system.columns WHERE database = currentDatabase() ORDER BY table, name"
    )


def test_a_second_start_changes_nothing(ingest: Ingest) -> None:
    before = columns(ingest)
    migrate(ingest.store)
    assert columns(ingest) == before


def test_a_start_that_was_killed_half_way_is_finished_by_the_next(ingest: Ingest) -> None:
    before = columns(ingest)
    # As after a kill between the statements and the note in the ledger.
    ingest.store.command("ALTER TABLE schema_migrations DELETE WHERE 1", settings={"mutations_sync": 2})
    migrate(ingest.store)
    assert columns(ingest) == before
    noted = ingest.store.query("SELECT name FROM schema_migrations FINAL ORDER BY name")
    assert [name for (name,) in noted] == [name for name, _ in files()]


@pytest.mark.parametrize("options", [StoreOptions(), StoreOptions(cluster="main", replicated=True)])
def test_every_statement_parses_for_one_server_and_for_a_cluster(ingest: Ingest, options: StoreOptions) -> None:
    laid_out = Store(ingest.store.url, options)
    filled = placeholders(laid_out)
    laid_out.close()
    for _, text in files():
        for statement in statements(text, filled):
            (parsed,) = ingest.store.query("SELECT formatQuery({sql:String})", {"sql": statement})[0]
            assert "$" not in parsed
            if options.replicated and "ENGINE" in parsed:
                assert re.search(r"ON CLUSTER main\b", parsed)
                assert "ReplicatedReplacingMergeTree" in parsed
