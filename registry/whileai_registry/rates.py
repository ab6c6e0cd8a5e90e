"""How often somebody may knock: a count per rule, subject and window, shared by every process of the service."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from whileai_registry.database import Database
from whileai_registry.tables import rate_windows


@dataclass(frozen=True)
class Rule:
    limit: int
    window: timedelta


RULES: dict[str, Rule] = {
    "signup": Rule(5, timedelta(hours=1)),  # by client address
    "device_start": Rule(30, timedelta(minutes=10)),  # by client address
    "device_code_guess": Rule(20, timedelta(minutes=10)),  # by account, wrong user codes on the approval page
    "email_code": Rule(5, timedelta(minutes=30)),  # by e-mail address: also spares the owner of the mailbox
    "email_code_client": Rule(20, timedelta(minutes=30)),  # by client address
    "credential_issue": Rule(60, timedelta(minutes=1)),  # by account
}


@dataclass(frozen=True)
class Allowance:
    allowed: bool
    retry_after_seconds: int


def window_start(now: datetime, window: timedelta) -> datetime:
    length = window.total_seconds()
    return datetime.fromtimestamp(now.timestamp() // length * length, UTC)


class Rates:
    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, rule_name: str, subject: str) -> Allowance:
        """Count one knock, the refused ones too, and say whether it may go on."""
        rule = RULES[rule_name]
        now = self._database.now()
        start = window_start(now, rule.window)
        first = self._database.insert(rate_windows).values(rule=rule_name, subject=subject, started_at=start, count=1)
        count_up = first.on_conflict_do_update(
            index_elements=["rule", "subject", "started_at"], set_={"count": rate_windows.c.count + 1}
        ).returning(rate_windows.c.count)
        with self._database.write() as connection:
            count: int = connection.execute(count_up).scalar_one()
        wait = math.ceil((start + rule.window - now).total_seconds())
        return Allowance(True, 0) if count <= rule.limit else Allowance(False, wait)
