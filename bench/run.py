"""`make bench`: each step of the ingest path for a few rounds, and a table of spans a second."""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.payload import SPANS, request
from bench.steps import STEPS

REQUESTS = 40
ROUNDS = 5


@dataclass(frozen=True)
class Measured:
    """Medians over the rounds."""

    per_second: float
    per_cpu_second: float


def measure(name: str) -> Measured:
    """Run one step; meant for a fresh process."""
    requests = [request(seed) for seed in range(REQUESTS)]
    spans = REQUESTS * SPANS
    wall, cpu = [], []
    with tempfile.TemporaryDirectory() as folder, STEPS[name](requests, Path(folder)) as once:
        once()  # caches, pools and first allocations are not what is asked
        for _ in range(ROUNDS):
            started, used = time.perf_counter(), time.process_time()
            once()
            wall.append(spans / (time.perf_counter() - started))
            cpu.append(spans / (time.process_time() - used))
    return Measured(statistics.median(wall), statistics.median(cpu))


def main() -> int:
    size = len(request(0)) // SPANS
    print(f"{REQUESTS} requests of {SPANS} spans, {size:,} bytes a span, median of {ROUNDS} rounds\n")
    print(f"{'step':40}{'spans/s':>12}{'spans/s of CPU':>18}")
    processes = multiprocessing.get_context("spawn")
    for name in STEPS:
        with processes.Pool(1) as pool:
            measured = pool.apply(measure, (name,))
        print(f"{name:40}{measured.per_second:>12,.0f}{measured.per_cpu_second:>18,.0f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
