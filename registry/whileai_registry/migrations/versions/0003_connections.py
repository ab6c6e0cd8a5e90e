"""Accounts elsewhere that an account is connected to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from whileai_registry.columns import Moment, Text

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "connections",
        sa.Column("account_id", Text, nullable=False),
        sa.Column("provider", Text, nullable=False),
        sa.Column("username", Text, nullable=False),
        sa.Column("sealed", Text, nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_connections_account_id_accounts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "provider", name=op.f("pk_connections")),
    )
