"""The dashboard for Grafana: every query in it runs, and says what the API says."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.api import Caller

DASHBOARD = json.loads((Path(__file__).parents[2] / "docs" / "grafana" / "live-traffic.json").read_text())


def queries() -> Iterator[tuple[str, str]]:
    for panel in DASHBOARD["panels"]:
        yield from ((panel["title"], target["rawSql"]) for target in panel["targets"])
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["label"], variable["query"]
    for annotation in DASHBOARD["annotations"]["list"]:
        yield annotation["name"], annotation["target"]["rawSql"]


def ask(caller: Caller, sql: str, agent: str = "*") -> list[tuple[Any, ...]]:
    """As the plugin fills the query in: the last hour, in steps of a minute."""
    now = int(time.time())
    filled = {
        "${account}": caller.account,
        "${agent}": agent,
        "${model}": "*",
        "$__fromTime": f"toDateTime({now - 3600})",
        "$__toTime": f"toDateTime({now + 60})",
        "$__interval_s": "60",
    }
    for macro, value in filled.items():
        sql = sql.replace(macro, value)
    assert "$" not in sql, sql
    return caller.ingest.store.query(sql)


@pytest.mark.parametrize(("title", "sql"), list(queries()))
def test_every_query_runs_on_an_empty_account_and_on_one_with_runs(caller: Caller, title: str, sql: str) -> None:
    assert title
    ask(caller, sql)
    caller.task("refund", [1.0, 0.0])
    caller.services.settle()
    ask(caller, sql)


def test_the_panels_say_what_the_api_says(caller: Caller) -> None:
    caller.task("refund", [1.0, 0.0, None], agent="desk")
    caller.run(agent="other")
    totals = caller.get("/traffic", agent="desk", window="1h")["totals"]
    told = dict(queries())
    assert ask(caller, told["Runs"], "desk") == [(totals["runs"],)] == [(3,)]
    assert ask(caller, told["Flagged"], "desk") == [(totals["flagged"] / totals["runs"],)]
    assert ask(caller, told["Tokens"], "desk") == [(totals["inputTokens"] + totals["outputTokens"],)]
    assert ask(caller, told["p95"], "desk") == [(totals["p95Ms"],)]
