"""${message}."""

from __future__ import annotations

from alembic import op
import sqlalchemy as sa

from whileai_registry.columns import Moment, Text

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
