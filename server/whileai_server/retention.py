"""`WHILEAI_RETENTION_DAYS`: spans, and what was made of them, expire by arrival. Datasets keep their rows."""

from __future__ import annotations

from whileai_ingest import Store

_ARRIVED = {
    "spans": "version",
    "log_records": "version",
    "measurements": "version",
    "runs": "last_arrival",
}


def apply_retention(store: Store, days: int | None) -> None:
    """Make the tables' TTL what the setting says; off removes it."""
    for table, column in _ARRIVED.items():
        ((create,),) = store.query(
            "SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = {table:String}",
            {"table": table},
        )
        if days is not None:
            expires = f"toDateTime(intDiv({column}, 1000000000), 'UTC') + INTERVAL {days:d} DAY"
            store.command(f"ALTER TABLE {table} MODIFY TTL {expires}")
        elif " TTL " in create:
            store.command(f"ALTER TABLE {table} REMOVE TTL")
