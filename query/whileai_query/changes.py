"""Whether anything changed in an account since somebody last looked, so that an open page costs next to nothing."""

from __future__ import annotations

from whileai_ingest import Store

# Every arrival, grading and deletion writes a row of a higher version; no copy is counted, so none need be removed.
_NEWEST = "SELECT max(version) FROM runs WHERE account = {account:String}"


def newest_change(store: Store, account: str) -> int:
    """A number that grows with every change of the account's runs."""
    ((version,),) = store.query(_NEWEST, {"account": account})
    return int(version)
