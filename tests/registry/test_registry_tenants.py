"""Every call of every store, made by a stranger with the ids of somebody else, reads nothing and changes nothing.

The stores are walked by reflection: a call that is added later is walked too, or has to be named below with its reason.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pytest
from registry.conftest import Clock
from sqlalchemy import select

from whileai_registry import LimitReached, LiveDay, NewDataset, NewRun, NewScore, NotFound, Registry, Tokens, agent_key
from whileai_registry.database import Database
from whileai_registry.tables import metadata

STORES = (
    "accounts",
    "keys",
    "agents",
    "behaviors",
    "tracked_runs",
    "run_scores",
    "run_points",
    "promotions",
    "live_days",
    "datasets",
    "catalog",
    "uploads",
    "connections",
    "devices",
    "delegated",
    "email_codes",
    "sessions",
    "rates",
    "signup",
    "usage",
)

# Calls that name no account, and what stands in its place.
WITHOUT_AN_ACCOUNT = {
    "accounts.sign_in": "a proven address",
    "catalog.find": "published for everybody",
    "catalog.list_page": "published for everybody",
    "datasets.abandoned": "the service tidies for everybody",
    "datasets.fail_interrupted": "the service starts for everybody",
    "devices.find": "the user code, read from a screen",
    "devices.poll": "the device's secret",
    "devices.start": "nobody is known yet",
    "email_codes.redeem": "the browser's secret",
    "email_codes.request": "nobody is known yet",
    "keys.examine": "the key itself",
    "rates.take": "nobody is known yet",
    "sessions.end": "the session's secret",
    "sessions.find": "the session's secret",
    "signup.create": "nobody is known yet",
}

# Calls in which the account is the object itself, or the object is anybody's who holds its code.
THE_CALLER_IS_THE_OBJECT = {"accounts.get", "accounts.set_email", "devices.approve", "devices.deny"}

SHARED_NAME = "a name that both accounts use"
SECRET = "only the victim may read this"
DAY = date(2026, 3, 1)


@dataclass(frozen=True)
class Victim:
    dataset_id: str
    holdout_id: str
    upload_id: str
    run_id: str
    credential: str
    key_id: str
    ids: tuple[str, ...]


def calls(registry: Registry) -> Iterator[tuple[str, Callable[..., Any]]]:
    for store in STORES:
        for name, method in inspect.getmembers(getattr(registry, store), inspect.ismethod):
            if not name.startswith("_"):
                yield f"{store}.{name}", method


def first_parameter(method: Callable[..., Any]) -> str:
    return next(iter(inspect.signature(method).parameters), "")


def rows_of(url: str, account_id: str) -> dict[str, list[Any]]:
    """Everything that the records hold of one account."""
    database = Database(url)
    found: dict[str, list[Any]] = {}
    with database.read() as connection:
        for table in metadata.sorted_tables:
            if "account_id" in table.c:
                query = select(table).where(table.c.account_id == account_id)
                found[table.name] = sorted(map(repr, connection.execute(query)))
    database.close()
    return found


def test_every_store_of_the_registry_is_walked(registry: Registry) -> None:
    stores = {name for name, value in vars(registry).items() if not name.startswith("_")}
    assert stores == set(STORES)


def test_every_call_takes_the_account_first_or_says_what_stands_in_its_place(registry: Registry) -> None:
    without = {name for name, method in calls(registry) if first_parameter(method) != "account_id"}
    assert without == set(WITHOUT_AN_ACCOUNT)


def arrange_a_victim(registry: Registry, account: str) -> Victim:
    """One of everything, published and stored where that is possible: what is further along has more ways to leak."""
    said = NewDataset(SHARED_NAME, agent=SHARED_NAME, description=SECRET, lineage={"x": SECRET})
    dataset = registry.datasets.create(account, said)
    holdout = registry.datasets.create(account, NewDataset(SHARED_NAME, "holdout"))
    upload = registry.uploads.grant(account, dataset.id, timedelta(hours=1))
    registry.uploads.store(account, upload.id, object_key=SECRET, rows=1, size_bytes=7, sha256="0" * 64)
    registry.datasets.finalize(account, dataset.id, rows=1, size_bytes=7, files=[SECRET])
    registry.catalog.publish(account, dataset.id, {"description": SECRET})
    registry.agents.register(account, SHARED_NAME, description=SECRET)
    run_id = track(registry, account)
    delegated = registry.delegated.issue(account, SECRET, 3600)
    registry.usage.add(account, input_tokens=1, output_tokens=1)
    registry.connections.connect(account, "huggingface", SECRET, SECRET)
    session = registry.sessions.open(account).session
    key_id = registry.keys.list_all(account)[0].id
    ids = (account, dataset.id, holdout.id, upload.id, run_id, delegated.id, session.id, key_id)
    return Victim(dataset.id, holdout.id, upload.id, run_id, delegated.credential, key_id, ids)


def track(registry: Registry, account: str) -> str:
    """One of everything that is tracked of the agent; the id of its run."""
    run_id = registry.tracked_runs.create(account, NewRun(SHARED_NAME, SECRET, method=SECRET)).id
    registry.run_points.add(account, run_id, [(1, {SECRET: 1.0})])
    registry.run_scores.record(account, run_id, [NewScore(SECRET, 1.0)])
    registry.behaviors.declare(account, SHARED_NAME, SECRET, {"description": SECRET})
    registry.promotions.promote(account, SHARED_NAME, SECRET, SECRET)
    registry.live_days.report(account, [(SHARED_NAME, LiveDay(DAY, SECRET, 1, 0, None, None))])
    return run_id


def arguments_with(victim: Victim, stranger: str) -> dict[str, Any]:
    """For every parameter of every call: the most harmful value that a stranger could give."""
    return {
        "account_id": stranger,
        "agent": SHARED_NAME,
        "changes": {"status": "failed"},
        "days": [(SHARED_NAME, LiveDay(DAY, SECRET.upper(), 9, 9, None, None))],
        "points": [(1, {"x": 2.0})],
        "promoted_by": "the stranger",
        "run_id": victim.run_id,
        "said": {},
        "scores": [NewScore("x", 2.0)],
        "since": DAY,
        "version": "the stranger's own",
        "card": {},
        "credential": victim.credential,
        "dataset_id": victim.dataset_id,
        "error": "x",
        "files": [],
        "hf": {},
        "holdout_id": victim.holdout_id,
        "input_tokens": 1,
        "key_id": victim.key_id,
        "keys": [agent_key(SHARED_NAME)],
        "lifetime": timedelta(hours=1),
        "name": SHARED_NAME,
        "names": [SHARED_NAME],
        "new": NewDataset("the stranger's own"),
        "object_key": "x",
        "provider": "huggingface",
        "output_tokens": 1,
        "rows": 1,
        "sealed": "the stranger's own",
        "sha256": "0" * 64,
        "size_bytes": 1,
        "train_id": victim.dataset_id,
        "ttl_seconds": 3600,
        "upload_id": victim.upload_id,
        "username": "the stranger",
    }


def test_a_stranger_reads_nothing_and_changes_nothing(
    registry: Registry, account: str, stranger: str, url: str, clock: Clock
) -> None:
    victim = arrange_a_victim(registry, account)
    stolen = arguments_with(victim, stranger)
    special: dict[str, dict[str, Any]] = {
        "datasets.create_ready": {"new": [NewDataset("the stranger's own")]},
        "tracked_runs.create": {"new": NewRun(SHARED_NAME, "the stranger's own")},
    }
    clock.advance(minutes=1)
    before = rows_of(url, account)
    assert {name for name, rows in before.items() if not rows} == {"device_logins"}
    walked = 0
    for name, method in calls(registry):
        if name in WITHOUT_AN_ACCOUNT or name in THE_CALLER_IS_THE_OBJECT:
            continue
        needed = [p for p in inspect.signature(method).parameters.values() if p.default is inspect.Parameter.empty]
        arguments = {p.name: (stolen | special.get(name, {}))[p.name] for p in needed}
        try:
            shown = repr(method(**arguments))
        except (NotFound, LimitReached):
            shown = ""
        for secret in (SECRET, *victim.ids):
            assert secret not in shown, f"{name} showed a stranger {secret}"
        assert rows_of(url, account) == before, f"{name} let a stranger change something"
        walked += 1
    assert walked > 30


def test_a_strangers_numbers_are_his_own(registry: Registry, account: str, stranger: str) -> None:
    arrange_a_victim(registry, account)
    assert registry.datasets.counts_by_agent(stranger) == {}
    assert registry.datasets.storage_used(stranger) == 0
    overview = registry.usage.overview(stranger)
    assert (overview.today, overview.storage_bytes, overview.datasets, overview.keys) == (Tokens(0, 0), 0, 0, 0)


def test_two_accounts_have_an_agent_of_one_name_each(registry: Registry, account: str, stranger: str) -> None:
    registry.agents.ensure(account, ["Bot"])
    registry.agents.ensure(stranger, ["BOT"])
    registry.datasets.create(stranger, NewDataset("a", agent="bot"))
    assert [agent.name for agent in registry.agents.list_page(account).items] == ["Bot"]
    assert [agent.name for agent in registry.agents.list_page(stranger).items] == ["BOT"]
    assert registry.agents.delete(stranger, "bot")
    registry.datasets.create(stranger, NewDataset("b", agent="bOT"))
    assert [agent.name for agent in registry.agents.list_page(stranger).items] == ["bOT"]


@pytest.mark.parametrize("table", [table for table in metadata.sorted_tables if "account_id" in table.c], ids=str)
def test_an_account_takes_everything_with_it(table: Any) -> None:
    targets = {(key.column.table.name, key.ondelete) for key in table.c.account_id.foreign_keys}
    assert ("accounts", "CASCADE") in targets
    assert {rule for _, rule in targets} == {"CASCADE"}
