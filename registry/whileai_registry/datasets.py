"""Datasets: the record of a set of rows, from its creation to its deletion. The rows themselves are files elsewhere.

Only its own account sees a set; one that was published can also be read through `catalog`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from whileai_registry.accounts import Account, find_account
from whileai_registry.agents import agent_key, ensure_agents
from whileai_registry.database import Database
from whileai_registry.dataset_states import MODES, PURPOSES, Event, Status, after, one_of
from whileai_registry.errors import InvalidInput, LimitReached, NotAllowed, NotFound
from whileai_registry.paging import Page, before, checked_limit, moment_cursor, page_of
from whileai_registry.rows import columns_of, record
from whileai_registry.tables import datasets
from whileai_registry.tenant import owned
from whileai_registry.tokens import new_id

Json = dict[str, Any]


@dataclass(frozen=True)
class Dataset:
    id: str
    account_id: str
    name: str
    purpose: str
    mode: str | None
    agent: str | None
    agent_key: str | None
    description: str | None
    parent_id: str | None
    sibling_id: str | None
    status: Status
    error: str | None
    rows: int
    size_bytes: int
    files: list[str]
    lineage: Json | None
    report: Json | None
    profile: Json | None
    hf: Json | None
    card: Json | None
    published_at: datetime | None
    created_at: datetime
    finalized_at: datetime | None


@dataclass(frozen=True)
class NewDataset:
    """What a caller says about a set. The id is made early, so that files can be written under it before it exists."""

    name: str
    purpose: str = "train"
    mode: str | None = None
    agent: str | None = None
    description: str | None = None
    parent_id: str | None = None
    rows: int = 0
    size_bytes: int = 0
    files: Sequence[str] = ()
    lineage: Json | None = None
    report: Json | None = None
    id: str = field(default_factory=lambda: new_id("ds"))


class Datasets:
    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, account_id: str, new: NewDataset, status: Status = "uploading") -> Dataset:
        """A set whose rows are still to come. Naming an agent registers it."""
        with self._database.write() as connection:
            return self._add(connection, account_id, [new], status)[0]

    def create_ready(self, account_id: str, new: Sequence[NewDataset]) -> list[Dataset]:
        """Finished sets whose files are already stored: all of them appear at once, or none.

        One train and one holdout set among them become siblings.
        """
        with self._database.write() as connection:
            made = self._add(connection, account_id, new, "ready")
            by_purpose = {dataset.purpose: dataset.id for dataset in made}
            if len(made) == 2 and set(by_purpose) == {"train", "holdout"}:
                _link(connection, account_id, by_purpose["train"], by_purpose["holdout"])
            return [_one(connection, account_id, dataset.id) for dataset in made]

    def finalize(
        self,
        account_id: str,
        dataset_id: str,
        *,
        rows: int,
        size_bytes: int,
        files: Sequence[str],
        report: Json | None = None,
    ) -> Dataset:
        """The rows are stored and valid. A second call changes nothing and gives the same answer.

        A holdout set whose parent is a train set without a sibling becomes that sibling.
        """
        with self._database.write() as connection:
            account = find_account(connection, account_id, lock=True)
            old = _one(connection, account_id, dataset_id, lock=True)
            if old.status == after(dataset_id, old.status, "finalize"):
                return old
            _check_storage(connection, account, size_bytes)
            values: Json = {"status": "ready", "error": None, "finalized_at": self._database.now()}
            values |= {"rows": rows, "size_bytes": size_bytes, "files": list(files), "report": report}
            made = _change(connection, account_id, dataset_id, values)
            if _is_lone_pair(connection, account_id, made):
                _link(connection, account_id, str(made.parent_id), dataset_id)
            return _one(connection, account_id, dataset_id)

    def fail(self, account_id: str, dataset_id: str, error: str) -> Dataset:
        return self._move(account_id, dataset_id, "fail", error)

    def retry_import(self, account_id: str, dataset_id: str) -> Dataset:
        return self._move(account_id, dataset_id, "retry_import", None)

    def begin_push(self, account_id: str, dataset_id: str, hf: Json) -> Dataset:
        """Note that a push elsewhere begins; NotAllowed while another one runs."""
        with self._database.write() as connection:
            old = _one(connection, account_id, dataset_id, lock=True)
            if (old.hf or {}).get("status") == "pushing":
                raise NotAllowed(f"dataset {dataset_id} is being pushed already; wait until that push has ended")
            return _change(connection, account_id, dataset_id, {"hf": {**hf, "status": "pushing"}})

    def fail_interrupted(self, reason: str, before: datetime | None = None) -> int:
        """Of every account: what a process that is gone was importing or pushing has failed, and can be run again.

        With `before`, only what began before that moment: another process may be at work on the rest.
        """
        began = datasets.c.created_at < (before or self._database.now() + timedelta(days=1))
        with self._database.write() as connection:
            importing = update(datasets).where(datasets.c.status == "importing", began)
            count = connection.execute(importing.values(status="failed", error=reason)).rowcount
            pushed = select(datasets.c.id, datasets.c.hf).where(datasets.c.hf.is_not(None), began)
            for dataset_id, hf in connection.execute(pushed).all():
                if hf.get("status") == "pushing":
                    values = {"hf": {**hf, "status": "error", "error": reason}}
                    connection.execute(update(datasets).where(datasets.c.id == dataset_id).values(values))
                    count += 1
        return count

    def abandoned(self, before: datetime) -> list[Dataset]:
        """Of every account: sets whose file was never finalized though they were created before this moment."""
        query = select(*columns_of(Dataset, datasets)).where(
            datasets.c.status == "uploading", datasets.c.created_at < before
        )
        with self._database.read() as connection:
            return [record(Dataset, row) for row in connection.execute(query)]

    def get(self, account_id: str, dataset_id: str) -> Dataset | None:
        with self._database.read() as connection:
            row = connection.execute(_select(account_id, dataset_id)).one_or_none()
        return None if row is None else record(Dataset, row)

    def list_page(
        self,
        account_id: str,
        *,
        agent: str | None = None,
        purpose: str | None = None,
        limit: int = 500,
        cursor: str | None = None,
    ) -> Page[Dataset]:
        """Newest first. `agent` matches in any case."""
        query = select(*columns_of(Dataset, datasets)).where(owned(datasets, account_id))
        if agent is not None:
            query = query.where(datasets.c.agent_key == agent_key(agent))
        if purpose is not None:
            query = query.where(datasets.c.purpose == one_of("purpose", purpose, PURPOSES))
        if cursor is not None:
            query = query.where(before(datasets, "created_at", cursor))
        query = query.order_by(datasets.c.created_at.desc(), datasets.c.id.desc()).limit(checked_limit(limit) + 1)
        with self._database.read() as connection:
            found = [record(Dataset, row) for row in connection.execute(query)]
        return page_of(found, limit, lambda dataset: moment_cursor(dataset.created_at, dataset.id))

    def update_meta(
        self,
        account_id: str,
        dataset_id: str,
        *,
        purpose: str | None = None,
        mode: str | None = None,
        agent: str | None = None,
        description: str | None = None,
    ) -> Dataset:
        """Change what is said about a set; None leaves a field as it is. Naming an agent registers it."""
        values: Json = {}
        if purpose is not None:
            values["purpose"] = one_of("purpose", purpose, PURPOSES)
        if mode is not None:
            values["mode"] = one_of("mode", mode, MODES)
        if description is not None:
            values["description"] = description
        if agent is not None:
            values |= _agent_columns(agent)
        with self._database.write() as connection:
            _one(connection, account_id, dataset_id)
            ensure_agents(self._database, connection, account_id, [agent or ""])
            return _change(connection, account_id, dataset_id, values)

    def annotate(
        self,
        account_id: str,
        dataset_id: str,
        *,
        lineage: Json | None = None,
        report: Json | None = None,
        profile: Json | None = None,
        hf: Json | None = None,
    ) -> Dataset:
        """Keep what was computed about a set, or what became of a push of it; None leaves a field as it is."""
        said = {"lineage": lineage, "report": report, "profile": profile, "hf": hf}
        values = {column: value for column, value in said.items() if value is not None}
        with self._database.write() as connection:
            return _change(connection, account_id, dataset_id, values)

    def link(self, account_id: str, train_id: str, holdout_id: str) -> None:
        """Make two sets of the account siblings, each of the other."""
        with self._database.write() as connection:
            _link(connection, account_id, train_id, holdout_id)

    def delete(self, account_id: str, dataset_id: str) -> Dataset | None:
        """The deleted record, so that the caller can remove its files; None when there was nothing."""
        with self._database.write() as connection:
            row = connection.execute(_select(account_id, dataset_id)).one_or_none()
            connection.execute(delete(datasets).where(owned(datasets, account_id), datasets.c.id == dataset_id))
        return None if row is None else record(Dataset, row)

    def storage_used(self, account_id: str) -> int:
        with self._database.read() as connection:
            return used_storage(connection, account_id)

    def counts_by_agent(self, account_id: str) -> dict[str, dict[str, int]]:
        """For each agent key, how many sets it has by purpose."""
        group = (datasets.c.agent_key, datasets.c.purpose)
        query = select(*group, func.count()).where(
            owned(datasets, account_id), datasets.c.agent_key.is_not(None), datasets.c.status != "uploading"
        )
        counts: dict[str, dict[str, int]] = {}
        with self._database.read() as connection:
            for key, purpose, count in connection.execute(query.group_by(*group)):
                counts.setdefault(key, {})[purpose] = count
        return counts

    def _add(self, connection: Connection, account_id: str, new: Sequence[NewDataset], status: Status) -> list[Dataset]:
        now = self._database.now()
        account = find_account(connection, account_id, lock=True)
        _check_count(connection, account, len(new))
        _check_storage(connection, account, sum(dataset.size_bytes for dataset in new))
        ensure_agents(self._database, connection, account_id, [dataset.agent or "" for dataset in new])
        for dataset in new:
            connection.execute(datasets.insert().values(_row_of(dataset, account_id, status, now)))
        return [_one(connection, account_id, dataset.id) for dataset in new]

    def _move(self, account_id: str, dataset_id: str, event: Event, error: str | None) -> Dataset:
        with self._database.write() as connection:
            old = _one(connection, account_id, dataset_id, lock=True)
            values = {"status": after(dataset_id, old.status, event), "error": error}
            return _change(connection, account_id, dataset_id, values)


def used_storage(connection: Connection, account_id: str) -> int:
    query = select(func.coalesce(func.sum(datasets.c.size_bytes), 0)).where(owned(datasets, account_id))
    return int(connection.execute(query).scalar_one())


def dataset_count(connection: Connection, account_id: str) -> int:
    query = select(func.count()).select_from(datasets).where(owned(datasets, account_id))
    return int(connection.execute(query).scalar_one())


def _row_of(new: NewDataset, account_id: str, status: Status, now: datetime) -> Json:
    if not new.name.strip():
        raise InvalidInput("name of a dataset must not be empty")
    return {
        "id": new.id,
        "account_id": account_id,
        "name": new.name,
        "purpose": one_of("purpose", new.purpose, PURPOSES),
        "mode": None if new.mode is None else one_of("mode", new.mode, MODES),
        **_agent_columns(new.agent),
        "description": new.description,
        "parent_id": new.parent_id,
        "status": status,
        "rows": new.rows,
        "size_bytes": new.size_bytes,
        "files": list(new.files),
        "lineage": new.lineage,
        "report": new.report,
        "created_at": now,
        "finalized_at": now if status == "ready" else None,
    }


def _agent_columns(agent: str | None) -> Json:
    if agent is None or not agent.strip():
        return {"agent": None, "agent_key": None}
    return {"agent": agent.strip(), "agent_key": agent_key(agent)}


def _check_count(connection: Connection, account: Account, more: int) -> None:
    limit = account.limits.datasets
    if limit is not None and dataset_count(connection, account.id) + more > limit:
        raise LimitReached("datasets", f"a {account.tier} account holds {limit} datasets; delete one or lift the trial")


def _check_storage(connection: Connection, account: Account, more: int) -> None:
    limit = account.limits.storage_bytes
    if limit is not None and used_storage(connection, account.id) + more > limit:
        raise LimitReached(
            "storage_bytes", f"a {account.tier} account holds {limit:,} bytes of datasets; delete one or lift the trial"
        )


def _select(account_id: str, dataset_id: str) -> Any:
    return select(*columns_of(Dataset, datasets)).where(owned(datasets, account_id), datasets.c.id == dataset_id)


def _one(connection: Connection, account_id: str, dataset_id: str, *, lock: bool = False) -> Dataset:
    query = _select(account_id, dataset_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        raise NotFound(f"there is no dataset {dataset_id[:80]!r}")
    return record(Dataset, row)


def _change(connection: Connection, account_id: str, dataset_id: str, values: Json) -> Dataset:
    if values:
        query = update(datasets).where(owned(datasets, account_id), datasets.c.id == dataset_id)
        connection.execute(query.values(values))
    return _one(connection, account_id, dataset_id)


def _is_lone_pair(connection: Connection, account_id: str, holdout: Dataset) -> bool:
    """Whether this is the held-out side of its parent, and neither has another side yet."""
    if holdout.purpose != "holdout" or holdout.parent_id is None or holdout.sibling_id is not None:
        return False
    row = connection.execute(_select(account_id, holdout.parent_id)).one_or_none()
    return row is not None and row.purpose == "train" and row.sibling_id is None


def _link(connection: Connection, account_id: str, left: str, right: str) -> None:
    if left == right:
        raise InvalidInput(f"dataset {left} cannot be its own sibling")
    for dataset_id in sorted([left, right]):
        _one(connection, account_id, dataset_id, lock=True)
    _change(connection, account_id, left, {"sibling_id": right})
    _change(connection, account_id, right, {"sibling_id": left})
