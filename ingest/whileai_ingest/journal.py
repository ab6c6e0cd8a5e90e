"""The journal: one append-only log on disk; an append returns when its bytes are durable.

Group commit: a single thread writes everything that waits with one `write` and one `fdatasync`, so a thousand small
requests share a disk flush. Segments are files named by the position of their first byte; a position is the number of
bytes ever journalled, so it only grows, and what lies before the applied position may be deleted.

What it does not do: it never looks into a payload.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from whileai_ingest.errors import JournalInUse, Overloaded
from whileai_ingest.records import Damage, Kind, Record, encode, scan

SEGMENT_BYTES = 64 << 20
# A group larger than this is split, so that the first waiter of a burst is not held up by the last.
GROUP_BYTES = 16 << 20
_APPLIED = "applied"


@dataclass(slots=True)
class _Waiting:
    kind: Kind
    account: str
    count: int
    payload: Callable[[int], bytes]
    size: int
    done: Future[tuple[int, int]] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class _Segment:
    start: int
    stop: int
    path: Path

    @contextlib.contextmanager
    def mapped(self, stop: int) -> Iterator[memoryview]:
        """The bytes of the file up to position `stop`."""
        with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            view = memoryview(data)[: stop - self.start]
            try:
                yield view
            finally:
                view.release()


@dataclass(frozen=True, slots=True)
class Entry:
    """One item read back: where it ends, and the record or the damage found there."""

    end: int
    item: Record | Damage


class Journal:
    """Opens the folder, cuts a torn tail, and continues after the last sound record.

    Raises `JournalInUse` when another process holds the folder.
    """

    def __init__(self, folder: Path, *, max_bytes: int, clock: Callable[[], int] = time.time_ns) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._clock = clock
        folder.mkdir(parents=True, exist_ok=True)
        self._lock_fd = _take_lock(folder / "lock")
        self._condition = threading.Condition()
        self._waiting: deque[_Waiting] = deque()
        self._waiting_bytes = 0
        self._closing = False
        self._fd = -1
        self._segment_start = 0
        self._last_version = 0
        self.applied = self._read_applied()
        self.durable = self._recover()
        self._listeners: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=self._commit_forever, name="journal", daemon=True)
        self._thread.start()

    # -- appending ---------------------------------------------------------------------------------------------------

    def append(
        self, kind: Kind, account: str, count: int, payload: Callable[[int], bytes], size: int
    ) -> Future[tuple[int, int]]:
        """Journal one payload of `count` items; resolves to (version, end position) once it is on disk.

        `payload` is called with the version that the first item gets, because frames carry their versions.
        Raises `Overloaded` at once when the journal is at its bound.
        """
        waiting = _Waiting(kind, account, max(count, 1), payload, size)
        with self._condition:
            if self._closing:
                raise Overloaded("the service is stopping; send this again to the next one", retry_after=2)
            if self.backlog + self._waiting_bytes + size > self._max_bytes:
                raise Overloaded(
                    "the journal is full: ClickHouse does not take data as fast as it arrives", retry_after=5
                )
            self._waiting.append(waiting)
            self._waiting_bytes += size
            self._condition.notify()
        return waiting.done

    @property
    def backlog(self) -> int:
        """Bytes that are durable here and not yet in ClickHouse."""
        return self.durable - self.applied

    def now(self) -> int:
        """An arrival time that fits between the journal's own: for answers about requests that journalled nothing."""
        return max(self._clock(), self._last_version)

    def check(self) -> None:
        """Raises `Overloaded` with the reason when nothing would be taken now."""
        if self._closing:
            raise Overloaded("the service is stopping", retry_after=2)
        if self.backlog >= self._max_bytes:
            raise Overloaded("the journal is full", retry_after=5)
        if not os.access(self._folder, os.W_OK):
            raise Overloaded(f"the journal folder {self._folder} cannot be written")

    def stop_taking(self) -> None:
        """Refuse new appends from here on; what waits is still committed."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        self._thread.join()

    def on_durable(self, listener: Callable[[], None]) -> None:
        """Call `listener` (from the journal's thread) whenever the durable position moved."""
        self._listeners.append(listener)

    def _commit_forever(self) -> None:
        while True:
            with self._condition:
                while not self._waiting and not self._closing:
                    self._condition.wait()
                if not self._waiting:
                    return
                group: list[_Waiting] = []
                size = 0
                while self._waiting and (not group or size + self._waiting[0].size <= GROUP_BYTES):
                    waiting = self._waiting.popleft()
                    group.append(waiting)
                    size += waiting.size
                self._waiting_bytes -= size
            self._commit(group)

    def _commit(self, group: list[_Waiting]) -> None:
        blocks: list[bytes] = []
        outcomes: list[tuple[_Waiting, int, int]] = []
        position = self.durable
        for waiting in group:
            version = max(self._clock(), self._last_version + 1)
            try:
                block = encode(Record(waiting.kind, waiting.account, version, waiting.count, waiting.payload(version)))
            except Exception as error:  # one payload that cannot be built must not cost its group
                waiting.done.set_exception(error)
                continue
            self._last_version = version + waiting.count - 1
            position += len(block)
            blocks.append(block)
            outcomes.append((waiting, version, position))
        if not blocks:
            return
        try:
            self._write(b"".join(blocks))
        except OSError as error:
            self._abandon_segment()
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            problem = "the disk is full" if full else f"the journal cannot be written ({error.strerror})"
            for waiting, _, _ in outcomes:
                waiting.done.set_exception(Overloaded(f"{problem}; nothing of this request was kept", retry_after=10))
            return
        self.durable = position
        for waiting, version, end in outcomes:
            waiting.done.set_result((version, end))
        for listener in self._listeners:
            listener()

    def _write(self, block: bytes) -> None:
        if self._fd == -1 or self.durable - self._segment_start >= SEGMENT_BYTES:
            self._open_segment()
        view = memoryview(block)
        while view:
            view = view[os.write(self._fd, view) :]
        os.fdatasync(self._fd)

    def _open_segment(self) -> None:
        if self._fd != -1:
            os.close(self._fd)
            self._fd = -1
        path = self._segment_path(self.durable)
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._segment_start = self.durable
        _sync_folder(self._folder)

    def _abandon_segment(self) -> None:
        """After a failed write or flush the tail of the file is unknown: cut it off and go on in a new file.

        Retrying `fdatasync` on the same file may report success for pages the kernel already dropped.
        """
        if self._fd == -1:
            return
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, self.durable - self._segment_start)
        with contextlib.suppress(OSError):
            os.close(self._fd)
        self._fd = -1

    # -- reading -----------------------------------------------------------------------------------------------------

    def read(self, position: int, limit: int) -> Iterator[Entry]:
        """Durable items from `position` on, until `limit` bytes are exceeded; at least one when there is one."""
        durable = self.durable
        for segment in self._segments():
            stop = min(segment.stop, durable)
            if stop <= position or segment.start >= durable:
                continue
            with segment.mapped(stop) as data:
                for after, item in scan(data, max(position - segment.start, 0)):
                    end = segment.start + after
                    yield Entry(end, item)
                    if end - position >= limit:
                        return

    def advance(self, position: int) -> None:
        """Everything before `position` is in ClickHouse: remember that, and delete segments that lie wholly before
        it."""
        temporary = self._folder / (_APPLIED + ".tmp")
        temporary.write_text(f"{position} {self._last_version}\n")
        temporary.replace(self._folder / _APPLIED)
        self.applied = position
        segments = self._segments()
        for segment, following in pairwise(segments):
            if following.start <= position:
                segment.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Commit what waits, stop the thread, give the folder back."""
        self.stop_taking()
        if self._fd != -1:
            os.close(self._fd)
            self._fd = -1
        if self._lock_fd != -1:
            os.close(self._lock_fd)
            self._lock_fd = -1

    # -- opening -----------------------------------------------------------------------------------------------------

    def _segment_path(self, start: int) -> Path:
        return self._folder / f"{start:020d}.segment"

    def _segments(self) -> list[_Segment]:
        found = sorted((int(path.stem), path) for path in self._folder.glob("*.segment"))
        # What a failed write left behind the start of the next segment was never acknowledged.
        stops = [*(start for start, _ in found[1:]), 1 << 63][: len(found)]
        return [
            _Segment(start, min(start + path.stat().st_size, stop), path)
            for (start, path), stop in zip(found, stops, strict=True)
        ]

    def _read_applied(self) -> int:
        try:
            position, version = (self._folder / _APPLIED).read_text().split()
        except (FileNotFoundError, ValueError):  # missing or torn: replaying what is still there changes nothing
            return 0
        self._last_version = int(version)
        return int(position)

    def _recover(self) -> int:
        """The durable position: after the last sound record. A torn tail was never acknowledged and is cut off."""
        segments = self._segments()
        end = self.applied
        for segment in segments:
            if segment.stop <= max(self.applied, segment.start):
                continue
            with segment.mapped(segment.stop) as data:
                for after, item in scan(data, max(self.applied - segment.start, 0)):
                    if isinstance(item, Record):
                        self._last_version = max(self._last_version, item.version + item.count - 1)
                    elif item.at_end and segment is segments[-1]:
                        os.truncate(segment.path, item.offset)
                        break
                    end = segment.start + after
        return end


def _take_lock(path: Path) -> int:
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise JournalInUse(f"the journal in {path.parent} is in use by another process") from None
    return fd


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
