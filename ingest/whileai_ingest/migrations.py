"""The ClickHouse schema, brought up to date at start.

Numbered files, each a list of idempotent statements. A file is noted in `schema_migrations` after its last statement,
so a start that was killed half-way runs the file again and changes nothing twice.
"""

from __future__ import annotations

from importlib import resources
from string import Template

from whileai_ingest.fact_view import ensure_fact_view
from whileai_ingest.store import Store

# An acknowledged span must survive a power cut too: the journal is cut only after these parts are on disk.
_TABLE_SETTINGS = {"fsync_after_insert": "1", "fsync_part_directory": "1"}
# Newer engines build column statistics in every merge; ours are never asked, and reading them races with merges.
_WHERE_KNOWN = {"auto_statistics_types": "''"}

_LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migrations ${on_cluster} (name String, applied_at DateTime DEFAULT now())
ENGINE = ${replicated}ReplacingMergeTree(applied_at) ORDER BY name
"""


def files() -> list[tuple[str, str]]:
    """The migrations in order: (name, text)."""
    folder = resources.files("whileai_ingest") / "schema"
    found = ((entry.name, entry.read_text()) for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return sorted(found)


def placeholders(store: Store) -> dict[str, str]:
    """What the schema leaves open: where the tables stand, and what this ClickHouse knows of settings."""
    options = store.options
    asked = [f"{name} = {value}" for name, value in _TABLE_SETTINGS.items()]
    known = store.query(
        "SELECT name FROM system.merge_tree_settings WHERE name IN {names:Array(String)}",
        {"names": list(_WHERE_KNOWN)},
    )
    asked += [f"{name} = {_WHERE_KNOWN[name]}" for (name,) in known]
    return {
        "on_cluster": f"ON CLUSTER '{options.cluster}'" if options.cluster else "",
        "replicated": "Replicated" if options.replicated else "",
        "settings": ", ".join(asked),
    }


def statements(text: str, filled: dict[str, str]) -> list[str]:
    """The statements of one file with its placeholders filled in; a statement ends with `;` at the end of a line."""
    whole = Template(text).substitute(filled)
    return [part.strip() for part in whole.split(";\n") if part.strip()]


def migrate(store: Store) -> None:
    """Run what has not run yet. Raises `StoreUnavailable` or `StoreRefused`."""
    filled = placeholders(store)
    store.command(Template(_LEDGER).substitute(filled))
    done = {name for (name,) in store.query("SELECT name FROM schema_migrations FINAL")}
    for name, text in files():
        if name in done:
            continue
        for statement in statements(text, filled):
            store.command(statement)
        store.insert("schema_migrations", ["name"], [[name]])
    ensure_fact_view(store)
