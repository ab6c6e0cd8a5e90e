"""A file of a gigabyte with both clients: pushed, counted and pulled, while the service stays small."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from conformance.conftest import Platform
from support.peers import Peer
from support.rows import row

GIGABYTE = 1_000_000_000
MOST = 600_000_000
ROWS_OF_A_TASK = 64


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "large.jsonl"
    with path.open("w") as file:
        size = number = 0
        while size < GIGABYTE:
            told = row(f"task {number // ROWS_OF_A_TASK}", number, number % 2, reason=f"{number} " * 400)
            size += file.write(json.dumps(told) + "\n")
            number += 1
    return path


@contextmanager
def watched(pid: int) -> Iterator[list[int]]:
    """The largest memory of a process so far, in the first place of the list."""
    process, stop, most = psutil.Process(pid), threading.Event(), [0]

    def look() -> None:
        while not stop.wait(0.05):
            most[0] = max(most[0], process.memory_info().rss)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        stop.set()
        thread.join()


@pytest.mark.soak
def test_a_gigabyte_goes_in_and_comes_out_and_the_service_stays_small(
    peer: Peer, platform: Platform, large: Path, tmp_path: Path
) -> None:
    assert platform.service.process is not None
    with watched(platform.service.process.pid) as most:
        entry = peer("wai.push_file(path, gate=False)", path=str(large))
        profile = peer("wai.profile(id)", id=entry["datasetId"])
        peer("wai.pull(id, path)", id=entry["datasetId"], path=str(tmp_path / "pulled.jsonl"))
    assert entry["sizeBytes"] == large.stat().st_size
    assert (profile["rows"], profile["split"]["ungraded"]) == (entry["rows"], 0)
    assert profile["tasks"] == -(-entry["rows"] // ROWS_OF_A_TASK)
    assert digest(tmp_path / "pulled.jsonl") == digest(large)
    assert most[0] < MOST, f"the service took {most[0] / 1e6:.0f} MB"
