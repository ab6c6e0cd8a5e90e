"""Upload grants: one permission to send the file of one dataset. The signed URL carries the grant's id.

A sent file may be sent again until the dataset is finalized; the last complete one counts, half a file never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import Connection, select, update

from whileai_registry.database import Database
from whileai_registry.errors import NotAllowed, NotFound
from whileai_registry.rows import columns_of, record
from whileai_registry.tables import datasets, uploads
from whileai_registry.tenant import owned
from whileai_registry.tokens import new_id

State = Literal["open", "stored", "closed"]
Event = Literal["store", "close"]

TRANSITIONS: dict[tuple[State, Event], State] = {
    ("open", "store"): "stored",
    ("stored", "store"): "stored",
    ("open", "close"): "closed",
    ("stored", "close"): "closed",
    ("closed", "close"): "closed",
}


@dataclass(frozen=True)
class Upload:
    id: str
    account_id: str
    dataset_id: str
    state: State
    object_key: str | None
    rows: int | None
    size_bytes: int | None
    sha256: str | None
    created_at: datetime
    expires_at: datetime


class Uploads:
    def __init__(self, database: Database) -> None:
        self._database = database

    def grant(self, account_id: str, dataset_id: str, lifetime: timedelta) -> Upload:
        now = self._database.now()
        upload = Upload(
            id=new_id("upl"),
            account_id=account_id,
            dataset_id=dataset_id,
            state="open",
            object_key=None,
            rows=None,
            size_bytes=None,
            sha256=None,
            created_at=now,
            expires_at=now + lifetime,
        )
        mine = select(datasets.c.id).where(owned(datasets, account_id), datasets.c.id == dataset_id)
        with self._database.write() as connection:
            if connection.execute(mine).one_or_none() is None:
                raise NotFound(f"there is no dataset {dataset_id[:80]!r}")
            connection.execute(uploads.insert().values(**vars(upload)))
        return upload

    def find_open(self, account_id: str, upload_id: str) -> Upload:
        """The grant, while a file may be sent under it; NotFound or NotAllowed says why not."""
        with self._database.read() as connection:
            return self._usable(connection, account_id, upload_id)

    def store(
        self, account_id: str, upload_id: str, *, object_key: str, rows: int, size_bytes: int, sha256: str
    ) -> Upload:
        """A whole file was received and written under `object_key`; it takes the place of an earlier one."""
        with self._database.write() as connection:
            upload = self._usable(connection, account_id, upload_id)
            change = update(uploads).where(owned(uploads, account_id), uploads.c.id == upload_id)
            state = TRANSITIONS[upload.state, "store"]
            connection.execute(
                change.values(state=state, object_key=object_key, rows=rows, size_bytes=size_bytes, sha256=sha256)
            )
            return _one(connection, account_id, upload_id)

    def stored_file(self, account_id: str, dataset_id: str) -> Upload | None:
        """The file that a finalize takes: of the last grant under which one was received."""
        query = (
            select(*columns_of(Upload, uploads))
            .where(owned(uploads, account_id), uploads.c.dataset_id == dataset_id, uploads.c.object_key.is_not(None))
            .order_by(uploads.c.created_at.desc(), uploads.c.id.desc())
            .limit(1)
        )
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else record(Upload, row)

    def close(self, account_id: str, dataset_id: str) -> None:
        """No file may be sent for this dataset any more."""
        query = update(uploads).where(owned(uploads, account_id), uploads.c.dataset_id == dataset_id)
        with self._database.write() as connection:
            connection.execute(query.values(state="closed"))

    def _usable(self, connection: Connection, account_id: str, upload_id: str) -> Upload:
        upload = _one(connection, account_id, upload_id)
        if upload.expires_at <= self._database.now():
            raise NotAllowed(f"the upload link of dataset {upload.dataset_id} has expired; create the dataset again")
        if (upload.state, "store") not in TRANSITIONS:
            raise NotAllowed(f"dataset {upload.dataset_id} is finalized; push a new dataset instead")
        return upload


def _one(connection: Connection, account_id: str, upload_id: str) -> Upload:
    query = select(*columns_of(Upload, uploads)).where(owned(uploads, account_id), uploads.c.id == upload_id)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"there is no upload {upload_id[:80]!r}")
    return record(Upload, row)
