"""How Alembic runs our steps: on the connection and inside the transaction that `migrate` opened."""

from __future__ import annotations

from alembic import context

from whileai_registry.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite can roll DDL back when the transaction is begun by hand, as ours is; Alembic assumes that it cannot.
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
