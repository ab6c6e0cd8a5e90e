"""The rows of `runs`: each touched trace read as a whole, summarised, and written with the version of its newest item.

One process alone keeps recent traces in a cache. Where several collectors write to one ClickHouse, another may hold
half of a trace: then nothing is cached, and a trace is read and summarised again when it was quiet for ten seconds.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping

import structlog

from whileai_dialects import Run, summarise
from whileai_ingest.cache import Key, TraceCache
from whileai_ingest.items import TraceItems
from whileai_ingest.later import Later
from whileai_ingest.metrics import IngestMetrics
from whileai_ingest.reading import presence, read_known, read_traces
from whileai_ingest.run_rows import COLUMNS, run_row
from whileai_ingest.store import Store

log = structlog.get_logger("writer")

CACHE_BYTES = 192 << 20
AGAIN_SECONDS = 10.0
# A restart looks again at what it may have left in the middle.
RECENT_SECONDS = 120
_AT_ONCE = 500

_RECENT = "SELECT DISTINCT account, trace_id FROM runs WHERE last_arrival > {since:UInt64}"


class RunWriter:
    """Only the writer's thread calls it. `shared`: other processes write to the same ClickHouse."""

    def __init__(self, store: Store, metrics: IngestMetrics, quiet_ns: int, *, shared: bool) -> None:
        self._store = store
        self._metrics = metrics
        self._quiet_ns = quiet_ns
        self._cache = TraceCache(0 if shared else CACHE_BYTES)
        self._later = Later(AGAIN_SECONDS) if shared else None

    def forget(self) -> None:
        """After a failed write nobody knows what the store has: read everything back."""
        self._cache.clear()

    def remember_recent(self) -> None:
        """At start: traces of the last minutes, which a process that was killed meant to look at again."""
        if self._later is not None:
            since = time.time_ns() - RECENT_SECONDS * 10**9
            self._later.put_off(map(tuple, self._store.query(_RECENT, {"since": since})), time.monotonic())

    def write(self, touched: Mapping[Key, TraceItems], deletions: Mapping[Key, int]) -> None:
        """The rows of the traces of one turn."""
        whole = self._complete(touched)
        rows = []
        for (account, trace_id), items in whole.items():
            deleted_to = deletions.get((account, trace_id))
            if deleted_to is not None:
                items.drop(deleted_to)
            if items.spans or items.logs or items.gradings:
                rows.append(self._row(account, trace_id, items))
            elif deleted_to is not None:
                rows.append(run_row(account, Run(trace_id, version=deleted_to), 0, 0, deleted=True))
        self._store.insert("runs", COLUMNS, rows)
        for key, items in whole.items():
            self._cache.put(key, items)
        if self._later is not None:
            self._later.put_off(whole, time.monotonic())

    def due_in(self, now: float) -> float | None:
        """Seconds until a trace is to be looked at again; None when none is."""
        return None if self._later is None else self._later.due_in(now)

    def rewrite_due(self, now: float) -> None:
        """Look again at traces that have been quiet, with what every process wrote of them."""
        if self._later is None:
            return
        due = self._later.take_due(now, _AT_ONCE)
        try:
            self._rewrite(due)
        except Exception:
            self._later.put_off(due, now)
            raise

    def _rewrite(self, keys: Iterable[Key]) -> None:
        by_account: dict[str, list[str]] = defaultdict(list)
        for account, trace_id in keys:
            by_account[account].append(trace_id)
        for account, ids in by_account.items():
            found = read_traces(self._store, account, ids)
            rows = [self._row(account, trace_id, items) for trace_id, items in found.items()]
            self._store.insert("runs", COLUMNS, rows)

    def _complete(self, touched: Mapping[Key, TraceItems]) -> dict[Key, TraceItems]:
        """The touched traces with everything that came before this turn."""
        whole: dict[Key, TraceItems] = {}
        strangers: dict[str, list[str]] = defaultdict(list)
        for key, fresh in touched.items():
            cached = self._cache.take(key)
            if cached is None:
                strangers[key[0]].append(key[1])
                whole[key] = fresh
            else:
                cached.merge(fresh)
                whole[key] = cached
        for account, ids in strangers.items():
            known = presence(self._store, account, ids)
            for trace_id, items in read_known(self._store, account, known).items():
                whole[account, trace_id].merge(items)
            for trace_id, at in known.items():
                whole[account, trace_id].drop(at.deleted_to)
        return whole

    def _row(self, account: str, trace_id: str, items: TraceItems) -> list[object]:
        run = self._run_of(trace_id, items)
        return run_row(account, run, items.payload_bytes, items.completed_at(self._quiet_ns))

    def _run_of(self, trace_id: str, items: TraceItems) -> Run:
        first, last = items.arrivals()
        try:
            run = summarise(list(items.spans.values()), items.told_logs(), list(items.gradings.values()))
        except Exception:  # a reader's bug must not hold up the journal; the spans are stored and can be read again
            log.exception("a trace could not be summarised", trace_id=trace_id)
            self._metrics.unreadable_runs.inc()
            run = Run(trace_id, span_count=len(items.spans), notes=["this trace could not be read"])
        run.trace_id, run.first_arrival, run.last_arrival = trace_id, first, last
        run.version = max(run.version, last)
        return run
