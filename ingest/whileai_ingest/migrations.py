"""The ClickHouse schema, brought up to date at start.

Numbered files, each a list of idempotent statements. A file is noted in `schema_migrations` after its last statement,
so a start that was killed half-way runs the file again and changes nothing twice.
"""

from __future__ import annotations

from importlib import resources
from string import Template

from whileai_ingest.store import Store

_LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migrations ${on_cluster} (name String, applied_at DateTime DEFAULT now())
ENGINE = ${replicated}ReplacingMergeTree(applied_at) ORDER BY name
"""


def files() -> list[tuple[str, str]]:
    """The migrations in order: (name, text)."""
    folder = resources.files("whileai_ingest") / "schema"
    found = ((entry.name, entry.read_text()) for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return sorted(found)


def statements(text: str, placeholders: dict[str, str]) -> list[str]:
    """The statements of one file with its placeholders filled in; a statement ends with `;` at the end of a line."""
    filled = Template(text).substitute(placeholders)
    return [part.strip() for part in filled.split(";\n") if part.strip()]


def migrate(store: Store) -> None:
    """Run what has not run yet. Raises `StoreUnavailable` or `StoreRefused`."""
    placeholders = store.options.placeholders()
    store.command(Template(_LEDGER).substitute(placeholders))
    done = {name for (name,) in store.query("SELECT name FROM schema_migrations FINAL")}
    for name, text in files():
        if name in done:
            continue
        for statement in statements(text, placeholders):
            store.command(statement)
        store.insert("schema_migrations", ["name"], [[name]])
