"""What was acknowledged is in the journal, whatever happens to the process or the file."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.journals import OpenJournal

from whileai_ingest import JournalInUse, Overloaded
from whileai_ingest.journal import Journal
from whileai_ingest.records import Damage, Kind, Record

FAR = 1 << 40


def put(journal: Journal, payload: bytes, account: str = "acc", count: int = 1) -> tuple[int, int]:
    return journal.append(Kind.SPANS, account, count, lambda _version: payload, len(payload)).result(timeout=10)


def payloads(journal: Journal, position: int = 0) -> list[bytes]:
    return [entry.item.payload for entry in journal.read(position, FAR) if isinstance(entry.item, Record)]


def damages(journal: Journal) -> list[Damage]:
    return [entry.item for entry in journal.read(0, FAR) if isinstance(entry.item, Damage)]


def only_segment(folder: Path) -> Path:
    (path,) = folder.glob("*.segment")
    return path


def test_records_come_back_in_order_with_rising_versions(open_journal: OpenJournal) -> None:
    journal = open_journal()
    first = put(journal, b"one", count=5)
    second = put(journal, b"two")
    assert payloads(journal) == [b"one", b"two"]
    assert second[0] >= first[0] + 5, "the versions of a record's items are its own"
    assert journal.backlog == second[1]


def test_a_restart_continues_where_the_writer_was(open_journal: OpenJournal) -> None:
    journal = open_journal()
    _, end = put(journal, b"written")
    put(journal, b"not yet written")
    journal.advance(end)
    version, _ = put(journal, b"third")
    journal.close()
    again = open_journal()
    assert again.applied == end
    assert payloads(again, again.applied) == [b"not yet written", b"third"]
    assert put(again, b"fourth")[0] > version


def test_versions_rise_even_when_the_clock_goes_back(tmp_path: Path) -> None:
    times = iter([1_000, 500, 400])
    journal = Journal(tmp_path, max_bytes=FAR, clock=lambda: next(times))
    try:
        versions = [put(journal, b"x")[0] for _ in range(3)]
    finally:
        journal.close()
    assert versions == [1_000, 1_001, 1_002]


def test_a_torn_last_record_is_cut_off_and_the_rest_stays(open_journal: OpenJournal, tmp_path: Path) -> None:
    journal = open_journal()
    put(journal, b"whole")
    put(journal, b"torn" * 100)
    journal.close()
    path = only_segment(tmp_path / "journal")
    path.write_bytes(path.read_bytes()[:-7])
    again = open_journal()
    assert payloads(again) == [b"whole"]
    assert not damages(again)
    put(again, b"after")
    assert payloads(again) == [b"whole", b"after"]


def test_a_flipped_byte_costs_one_record_and_is_reported(open_journal: OpenJournal, tmp_path: Path) -> None:
    journal = open_journal()
    for payload in (b"before", b"DAMAGED", b"after"):
        put(journal, payload)
    journal.close()
    path = only_segment(tmp_path / "journal")
    path.write_bytes(path.read_bytes().replace(b"DAMAGED", b"DAMAGEd"))
    again = open_journal()
    assert payloads(again) == [b"before", b"after"]
    (damage,) = damages(again)
    assert b"DAMAGEd" in damage.raw


def test_a_damaged_length_does_not_hide_the_records_behind_it(open_journal: OpenJournal, tmp_path: Path) -> None:
    journal = open_journal()
    for payload in (b"one", b"two", b"three"):
        put(journal, payload)
    journal.close()
    path = only_segment(tmp_path / "journal")
    data = bytearray(path.read_bytes())
    data[7] = 0x7F  # the highest byte of the first record's length
    path.write_bytes(data)
    assert payloads(open_journal()) == [b"two", b"three"]


def test_a_payload_that_looks_like_a_record_is_not_mistaken_for_one(open_journal: OpenJournal) -> None:
    journal = open_journal()
    put(journal, b"WJR1" + b"\0" * 40)
    put(journal, b"next")
    journal.close()
    assert payloads(open_journal()) == [b"WJR1" + b"\0" * 40, b"next"]


def test_a_full_journal_refuses_at_once_and_takes_again_when_there_is_room(open_journal: OpenJournal) -> None:
    journal = open_journal(max_bytes=1000)
    _, end = put(journal, b"x" * 800)
    with pytest.raises(Overloaded) as refused:
        put(journal, b"x" * 800)
    assert refused.value.retry_after <= 60
    journal.advance(end)
    put(journal, b"x" * 800)


@contextmanager
def no_room_for_files_beyond(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_fails_keeps_nothing_of_that_request_and_everything_before(open_journal: OpenJournal) -> None:
    journal = open_journal()
    put(journal, b"kept")
    with no_room_for_files_beyond(200), pytest.raises(Overloaded):
        put(journal, b"y" * 5000)
    put(journal, b"after there is room again")
    journal.close()
    assert payloads(open_journal()) == [b"kept", b"after there is room again"]


def test_one_folder_has_one_journal(open_journal: OpenJournal) -> None:
    open_journal()
    with pytest.raises(JournalInUse, match="in use"):
        open_journal()


def test_a_payload_that_cannot_be_built_does_not_cost_its_group(open_journal: OpenJournal) -> None:
    journal = open_journal()

    def broken(_version: int) -> bytes:
        raise ZeroDivisionError

    bad = journal.append(Kind.SPANS, "acc", 1, broken, 1)
    good = journal.append(Kind.SPANS, "acc", 1, lambda _version: b"good", 4)
    with pytest.raises(ZeroDivisionError):
        bad.result(timeout=10)
    good.result(timeout=10)
    assert payloads(journal) == [b"good"]


def test_segments_that_are_written_are_deleted(
    open_journal: OpenJournal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whileai_ingest.journal.SEGMENT_BYTES", 1000)
    journal = open_journal()
    ends = [put(journal, b"z" * 600)[1] for _ in range(6)]
    assert len(list((tmp_path / "journal").glob("*.segment"))) == 3
    journal.advance(ends[3])
    assert len(list((tmp_path / "journal").glob("*.segment"))) == 1
    assert len(payloads(journal, journal.applied)) == 2


def test_reading_stops_at_the_limit_but_gives_at_least_one_record(open_journal: OpenJournal) -> None:
    journal = open_journal()
    for _ in range(3):
        put(journal, b"a" * 1000)
    assert len(list(journal.read(0, 10))) == 1
    assert len(list(journal.read(0, 1500))) == 2
