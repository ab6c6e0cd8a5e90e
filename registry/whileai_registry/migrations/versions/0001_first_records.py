"""The first records: accounts, keys, agents, datasets and upload grants."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from whileai_registry.columns import Moment, Text

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", Text, nullable=False),
        sa.Column("name", Text, nullable=False),
        sa.Column("email", Text),
        sa.Column("tier", Text, nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("expires_at", Moment),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("email", name=op.f("uq_accounts_email")),
    )
    op.create_table(
        "agents",
        sa.Column("account_id", Text, nullable=False),
        sa.Column("key", Text, nullable=False),
        sa.Column("id", Text, nullable=False),
        sa.Column("name", Text, nullable=False),
        sa.Column("description", Text),
        sa.Column("tools", sa.JSON(none_as_null=True)),
        sa.Column("system_prompt", Text),
        sa.Column("model", Text),
        sa.Column("harness", sa.JSON(none_as_null=True)),
        sa.Column("frontier", sa.JSON(none_as_null=True)),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("updated_at", Moment, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_agents_account_id_accounts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "key", name=op.f("pk_agents")),
    )
    op.create_table(
        "datasets",
        sa.Column("id", Text, nullable=False),
        sa.Column("account_id", Text, nullable=False),
        sa.Column("name", Text, nullable=False),
        sa.Column("purpose", Text, nullable=False),
        sa.Column("mode", Text),
        sa.Column("agent", Text),
        sa.Column("agent_key", Text),
        sa.Column("description", Text),
        sa.Column("parent_id", Text),
        sa.Column("sibling_id", Text),
        sa.Column("status", Text, nullable=False),
        sa.Column("error", Text),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("lineage", sa.JSON(none_as_null=True)),
        sa.Column("report", sa.JSON(none_as_null=True)),
        sa.Column("profile", sa.JSON(none_as_null=True)),
        sa.Column("hf", sa.JSON(none_as_null=True)),
        sa.Column("card", sa.JSON(none_as_null=True)),
        sa.Column("published_at", Moment),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("finalized_at", Moment),
        sa.CheckConstraint("rows >= 0 AND size_bytes >= 0", name=op.f("ck_datasets_counts")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_datasets_account_id_accounts"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["sibling_id"], ["datasets.id"], name=op.f("fk_datasets_sibling_id_datasets"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_datasets")),
    )
    op.create_index(op.f("ix_datasets_account_id_agent_key"), "datasets", ["account_id", "agent_key"])
    op.create_index(op.f("ix_datasets_account_id_created_at_id"), "datasets", ["account_id", "created_at", "id"])
    op.create_index(op.f("ix_datasets_published_at_id"), "datasets", ["published_at", "id"])
    op.create_index(op.f("ix_datasets_sibling_id"), "datasets", ["sibling_id"])

    op.create_table(
        "keys",
        sa.Column("id", Text, nullable=False),
        sa.Column("account_id", Text, nullable=False),
        sa.Column("kind", Text, nullable=False),
        sa.Column("name", Text, nullable=False),
        sa.Column("prefix", Text, nullable=False),
        sa.Column("digest", Text, nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("expires_at", Moment),
        sa.Column("revoked_at", Moment),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_keys_account_id_accounts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_keys")),
        sa.UniqueConstraint("digest", name=op.f("uq_keys_digest")),
    )
    op.create_index(op.f("ix_keys_account_id_kind"), "keys", ["account_id", "kind"])
    op.create_index(op.f("ix_keys_prefix"), "keys", ["prefix"])

    op.create_table(
        "uploads",
        sa.Column("id", Text, nullable=False),
        sa.Column("account_id", Text, nullable=False),
        sa.Column("dataset_id", Text, nullable=False),
        sa.Column("state", Text, nullable=False),
        sa.Column("object_key", Text),
        sa.Column("rows", sa.BigInteger()),
        sa.Column("size_bytes", sa.BigInteger()),
        sa.Column("sha256", Text),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("expires_at", Moment, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_uploads_account_id_accounts"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["dataset_id"], ["datasets.id"], name=op.f("fk_uploads_dataset_id_datasets"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_uploads")),
    )
    op.create_index(op.f("ix_uploads_account_id"), "uploads", ["account_id"])
    op.create_index(op.f("ix_uploads_dataset_id"), "uploads", ["dataset_id"])
