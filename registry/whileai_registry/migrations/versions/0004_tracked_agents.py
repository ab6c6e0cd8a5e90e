"""Tracked agents: their behaviors, the runs that make versions, scores, curves, promotions, reported traffic."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from whileai_registry.columns import Moment, Text

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "behaviors",
        sa.Column("account_id", Text, nullable=False),
        sa.Column("agent_key", Text, nullable=False),
        sa.Column("name", Text, nullable=False),
        sa.Column("said", sa.JSON(), nullable=False),
        sa.Column("updated_at", Moment, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "agent_key", "name", name=op.f("pk_behaviors")),
        *_of_an_agent("behaviors"),
    )
    op.create_table(
        "tracked_runs",
        sa.Column("account_id", Text, nullable=False),
        sa.Column("id", Text, nullable=False),
        sa.Column("agent_key", Text, nullable=False),
        sa.Column("version", Text, nullable=False),
        sa.Column("status", Text, nullable=False),
        sa.Column("method", Text),
        sa.Column("base", Text),
        sa.Column("harness", Text),
        sa.Column("gpu", Text),
        sa.Column("targets", sa.JSON(), nullable=False),
        sa.Column("trained_on", sa.JSON(), nullable=False),
        sa.Column("record", sa.JSON(none_as_null=True)),
        sa.Column("summary", sa.JSON(none_as_null=True)),
        sa.Column("hours", sa.Float()),
        sa.Column("cost_usd", sa.Float()),
        sa.Column("steps", sa.BigInteger()),
        sa.Column("error", Text),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("updated_at", Moment, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "id", name=op.f("pk_tracked_runs")),
        *_of_an_agent("tracked_runs"),
    )
    op.create_index(
        op.f("ix_tracked_runs_account_id_agent_key_created_at_id"),
        "tracked_runs",
        ["account_id", "agent_key", "created_at", "id"],
    )
    op.create_index(
        op.f("ix_tracked_runs_account_id_created_at_id"), "tracked_runs", ["account_id", "created_at", "id"]
    )
    op.create_table(
        "run_scores",
        sa.Column("account_id", Text, nullable=False),
        sa.Column("run_id", Text, nullable=False),
        sa.Column("version", Text, nullable=False),
        sa.Column("behavior", Text, nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("ci", sa.Float()),
        sa.Column("n", sa.BigInteger()),
        sa.Column("test_version", Text),
        sa.Column("scored_at", Moment, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "run_id", "version", "behavior", name=op.f("pk_run_scores")),
        *_of_a_run("run_scores"),
    )
    op.create_table(
        "run_points",
        sa.Column("account_id", Text, nullable=False),
        sa.Column("run_id", Text, nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("numbers", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "run_id", "step", name=op.f("pk_run_points")),
        *_of_a_run("run_points"),
    )
    op.create_table(
        "promotions",
        sa.Column("account_id", Text, nullable=False),
        sa.Column("agent_key", Text, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version", Text, nullable=False),
        sa.Column("promoted_by", Text, nullable=False),
        sa.Column("promoted_at", Moment, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "agent_key", "number", name=op.f("pk_promotions")),
        *_of_an_agent("promotions"),
    )
    op.create_table(
        "live_days",
        sa.Column("account_id", Text, nullable=False),
        sa.Column("agent_key", Text, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("version", Text, nullable=False),
        sa.Column("replies", sa.BigInteger(), nullable=False),
        sa.Column("flagged", sa.BigInteger(), nullable=False),
        sa.Column("p50_s", sa.Float()),
        sa.Column("cost_usd", sa.Float()),
        sa.PrimaryKeyConstraint("account_id", "agent_key", "day", "version", name=op.f("pk_live_days")),
        *_of_an_agent("live_days"),
    )


def _of_an_account(table: str) -> Any:
    name = op.f(f"fk_{table}_account_id_accounts")
    return sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=name, ondelete="CASCADE")


def _of_an_agent(table: str) -> tuple[Any, Any]:
    columns = ["account_id", "agent_key"], ["agents.account_id", "agents.key"]
    name = op.f(f"fk_{table}_account_id_agents")
    return _of_an_account(table), sa.ForeignKeyConstraint(*columns, name=name, ondelete="CASCADE")


def _of_a_run(table: str) -> tuple[Any, Any]:
    columns = ["account_id", "run_id"], ["tracked_runs.account_id", "tracked_runs.id"]
    name = op.f(f"fk_{table}_account_id_tracked_runs")
    return _of_an_account(table), sa.ForeignKeyConstraint(*columns, name=name, ondelete="CASCADE")
