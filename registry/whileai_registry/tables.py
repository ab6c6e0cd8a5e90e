"""Every table of the records, as data. The migrations build the same thing step by step; a test compares the two.

Every table of an account's things carries `account_id`, so that one helper (`tenant.owned`) can filter them all.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    Date,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from whileai_registry.columns import Moment, Text

# Names are fixed, so that a later migration can alter a constraint on both databases.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _account() -> Column[str]:
    return Column("account_id", Text, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False)


def _of_an_agent() -> ForeignKeyConstraint:
    """Whoever forgets the agent forgets this as well."""
    return ForeignKeyConstraint(["account_id", "agent_key"], ["agents.account_id", "agents.key"], ondelete="CASCADE")


def _of_a_run() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["account_id", "run_id"], ["tracked_runs.account_id", "tracked_runs.id"], ondelete="CASCADE"
    )


accounts = Table(
    "accounts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("email", Text),
    Column("tier", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    UniqueConstraint("email"),
)

keys = Table(
    "keys",
    metadata,
    Column("id", Text, primary_key=True),
    _account(),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("revoked_at", Moment),
    UniqueConstraint("digest"),
    Index(None, "prefix"),
    Index(None, "account_id", "kind"),
)

agents = Table(
    "agents",
    metadata,
    _account(),
    Column("key", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("description", Text),
    Column("tools", JSON(none_as_null=True)),
    Column("system_prompt", Text),
    Column("model", Text),
    Column("harness", JSON(none_as_null=True)),
    Column("frontier", JSON(none_as_null=True)),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    PrimaryKeyConstraint("account_id", "key"),
)

datasets = Table(
    "datasets",
    metadata,
    Column("id", Text, primary_key=True),
    _account(),
    Column("name", Text, nullable=False),
    Column("purpose", Text, nullable=False),
    Column("mode", Text),
    Column("agent", Text),
    Column("agent_key", Text),
    Column("description", Text),
    # No foreign key: a parent may be a day of ingested traces, or gone; the lineage still names it.
    Column("parent_id", Text),
    Column("sibling_id", Text, ForeignKey("datasets.id", ondelete="SET NULL")),
    Column("status", Text, nullable=False),
    Column("error", Text),
    Column("rows", BigInteger, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("files", JSON, nullable=False),
    Column("lineage", JSON(none_as_null=True)),
    Column("report", JSON(none_as_null=True)),
    Column("profile", JSON(none_as_null=True)),
    Column("hf", JSON(none_as_null=True)),
    Column("card", JSON(none_as_null=True)),
    Column("published_at", Moment),
    Column("created_at", Moment, nullable=False),
    Column("finalized_at", Moment),
    CheckConstraint("rows >= 0 AND size_bytes >= 0", name="counts"),
    Index(None, "account_id", "created_at", "id"),
    Index(None, "account_id", "agent_key"),
    Index(None, "sibling_id"),
    Index(None, "published_at", "id"),
)

uploads = Table(
    "uploads",
    metadata,
    Column("id", Text, primary_key=True),
    _account(),
    Column("dataset_id", Text, ForeignKey("datasets.id", ondelete="CASCADE"), nullable=False),
    Column("state", Text, nullable=False),
    Column("object_key", Text),
    Column("rows", BigInteger),
    Column("size_bytes", BigInteger),
    Column("sha256", Text),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Index(None, "dataset_id"),
    Index(None, "account_id"),
)

device_logins = Table(
    "device_logins",
    metadata,
    Column("id", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("user_code", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    # Nobody's until somebody approves it.
    Column("account_id", Text, ForeignKey("accounts.id", ondelete="CASCADE")),
    Column("key_id", Text, ForeignKey("keys.id", ondelete="SET NULL")),
    Column("interval_seconds", Integer, nullable=False),
    Column("polled_at", Moment),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    UniqueConstraint("digest"),
    UniqueConstraint("user_code"),
    Index(None, "expires_at"),
)

# Of an address, not of an account: there may be none yet.
email_codes = Table(
    "email_codes",
    metadata,
    Column("id", Text, primary_key=True),
    Column("challenge_digest", Text, nullable=False),
    Column("email", Text, nullable=False),
    Column("code_digest", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("misses", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    UniqueConstraint("challenge_digest"),
    Index(None, "expires_at"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    _account(),
    Column("digest", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    UniqueConstraint("digest"),
    Index(None, "account_id"),
    Index(None, "expires_at"),
)

# Of whoever knocks, before anybody knows who it is.
rate_windows = Table(
    "rate_windows",
    metadata,
    Column("rule", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("started_at", Moment, nullable=False),
    Column("count", Integer, nullable=False),
    PrimaryKeyConstraint("rule", "subject", "started_at"),
    Index(None, "started_at"),
)

usage_days = Table(
    "usage_days",
    metadata,
    _account(),
    Column("day", Date, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    PrimaryKeyConstraint("account_id", "day"),
)

# Accounts elsewhere (the Hugging Face Hub); the token is sealed, see vault.
connections = Table(
    "connections",
    metadata,
    _account(),
    Column("provider", Text, nullable=False),
    Column("username", Text, nullable=False),
    Column("sealed", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("account_id", "provider"),
)

# What is tested about an agent; `said` is what its owner declared, as it was declared.
behaviors = Table(
    "behaviors",
    metadata,
    _account(),
    Column("agent_key", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("said", JSON, nullable=False),
    Column("updated_at", Moment, nullable=False),
    PrimaryKeyConstraint("account_id", "agent_key", "name"),
    _of_an_agent(),
)

# Runs that make a version of an agent. The id may be the caller's own, so it is unique within an account only.
tracked_runs = Table(
    "tracked_runs",
    metadata,
    _account(),
    Column("id", Text, nullable=False),
    Column("agent_key", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("method", Text),
    Column("base", Text),
    Column("harness", Text),
    Column("gpu", Text),
    Column("targets", JSON, nullable=False),
    Column("trained_on", JSON, nullable=False),
    Column("record", JSON(none_as_null=True)),
    Column("summary", JSON(none_as_null=True)),
    Column("hours", Float),
    Column("cost_usd", Float),
    Column("steps", BigInteger),
    Column("error", Text),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    PrimaryKeyConstraint("account_id", "id"),
    _of_an_agent(),
    Index(None, "account_id", "agent_key", "created_at", "id"),
    Index(None, "account_id", "created_at", "id"),
)

run_scores = Table(
    "run_scores",
    metadata,
    _account(),
    Column("run_id", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("behavior", Text, nullable=False),
    Column("score", Float, nullable=False),
    Column("ci", Float),
    Column("n", BigInteger),
    Column("test_version", Text),
    Column("scored_at", Moment, nullable=False),
    PrimaryKeyConstraint("account_id", "run_id", "version", "behavior"),
    _of_a_run(),
)

run_points = Table(
    "run_points",
    metadata,
    _account(),
    Column("run_id", Text, nullable=False),
    Column("step", BigInteger, nullable=False),
    Column("numbers", JSON, nullable=False),
    PrimaryKeyConstraint("account_id", "run_id", "step"),
    _of_a_run(),
)

# The highest number of an agent is what it serves; the others are the history.
promotions = Table(
    "promotions",
    metadata,
    _account(),
    Column("agent_key", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("version", Text, nullable=False),
    Column("promoted_by", Text, nullable=False),
    Column("promoted_at", Moment, nullable=False),
    PrimaryKeyConstraint("account_id", "agent_key", "number"),
    _of_an_agent(),
)

# Traffic that was reported by whoever serves the model elsewhere.
live_days = Table(
    "live_days",
    metadata,
    _account(),
    Column("agent_key", Text, nullable=False),
    Column("day", Date, nullable=False),
    Column("version", Text, nullable=False),
    Column("replies", BigInteger, nullable=False),
    Column("flagged", BigInteger, nullable=False),
    Column("p50_s", Float),
    Column("cost_usd", Float),
    PrimaryKeyConstraint("account_id", "agent_key", "day", "version"),
    _of_an_agent(),
)
