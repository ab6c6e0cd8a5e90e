"""Signing in, and what it is limited by: devices, codes, sessions, rates, usage."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from whileai_registry.columns import Moment, Text

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "email_codes",
        sa.Column("id", Text, nullable=False),
        sa.Column("challenge_digest", Text, nullable=False),
        sa.Column("email", Text, nullable=False),
        sa.Column("code_digest", Text, nullable=False),
        sa.Column("state", Text, nullable=False),
        sa.Column("misses", sa.Integer(), nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("expires_at", Moment, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_email_codes")),
        sa.UniqueConstraint("challenge_digest", name=op.f("uq_email_codes_challenge_digest")),
    )
    op.create_index(op.f("ix_email_codes_expires_at"), "email_codes", ["expires_at"])

    op.create_table(
        "rate_windows",
        sa.Column("rule", Text, nullable=False),
        sa.Column("subject", Text, nullable=False),
        sa.Column("started_at", Moment, nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("rule", "subject", "started_at", name=op.f("pk_rate_windows")),
    )
    op.create_index(op.f("ix_rate_windows_started_at"), "rate_windows", ["started_at"])

    op.create_table(
        "sessions",
        sa.Column("id", Text, nullable=False),
        sa.Column("account_id", Text, nullable=False),
        sa.Column("digest", Text, nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("expires_at", Moment, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_sessions_account_id_accounts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("digest", name=op.f("uq_sessions_digest")),
    )
    op.create_index(op.f("ix_sessions_account_id"), "sessions", ["account_id"])
    op.create_index(op.f("ix_sessions_expires_at"), "sessions", ["expires_at"])

    op.create_table(
        "usage_days",
        sa.Column("account_id", Text, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_usage_days_account_id_accounts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "day", name=op.f("pk_usage_days")),
    )
    op.create_table(
        "device_logins",
        sa.Column("id", Text, nullable=False),
        sa.Column("digest", Text, nullable=False),
        sa.Column("user_code", Text, nullable=False),
        sa.Column("name", Text, nullable=False),
        sa.Column("state", Text, nullable=False),
        sa.Column("account_id", Text),
        sa.Column("key_id", Text),
        sa.Column("interval_seconds", sa.Integer(), nullable=False),
        sa.Column("polled_at", Moment),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("expires_at", Moment, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_device_logins_account_id_accounts"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["key_id"], ["keys.id"], name=op.f("fk_device_logins_key_id_keys"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_device_logins")),
        sa.UniqueConstraint("digest", name=op.f("uq_device_logins_digest")),
        sa.UniqueConstraint("user_code", name=op.f("uq_device_logins_user_code")),
    )
    op.create_index(op.f("ix_device_logins_expires_at"), "device_logins", ["expires_at"])
