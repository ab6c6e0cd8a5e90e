"""`make bench`, second part: the ways into one table against each other, interleaved, as ratios with their targets.

Every contestant lives in a process of its own for the whole run and takes its turn in each round, so that a machine
whose speed drifts slows all of them alike. The figures are medians of rounds, per CPU second of all processes of the
contestant.
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from bench.contestants import SMALL_REQUESTS, WAYS_IN, Contestant
from bench.payload import SPANS, request

ROUNDS = 5
LARGE, SMALL = 24, 300
SMALL_SPANS = 6
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Target:
    """A ratio of two contestants, and what it should be."""

    of: str
    to: str
    at_least: float
    aim: float


TARGETS = (
    Target("decode + insert", "raw limit", 0.45, 0.60),
    Target("end to end", "raw limit", 0.32, 0.45),
    Target("end to end", "plain way", 1.7, 2.5),
    Target("end to end, JSON", "end to end", 0.4, 0.7),
    Target("acknowledged", "no-op", 0.2, 0.4),
)


def turn(contestants: Mapping[str, Contestant], name: str, count: int, spans: int, orders: Connection) -> None:
    """One contestant's process: prepare, then a round for every order."""
    requests = [request(seed, spans) for seed in range(count)]
    with tempfile.TemporaryDirectory() as folder, contestants[name](requests, Path(folder)) as once:
        once()  # caches, pools and first allocations are not what is asked
        orders.send("ready")
        while orders.recv():
            orders.send(once())


def measure(contestants: Mapping[str, Contestant], count: int, spans: int, unit: int) -> dict[str, float]:
    """Units per CPU second of each, the median over interleaved rounds."""
    spawn = multiprocessing.get_context("spawn")
    with ExitStack() as undo:
        lines: dict[str, Connection] = {}
        for name in contestants:
            mine, theirs = spawn.Pipe()
            process = spawn.Process(target=turn, args=(contestants, name, count, spans, theirs))
            process.start()
            undo.callback(process.join)
            undo.callback(mine.send, False)
            lines[name] = mine
            mine.recv()
        taken: dict[str, list[float]] = {name: [] for name in contestants}
        for _ in range(ROUNDS):
            for name, line in lines.items():
                line.send(True)
                taken[name].append(line.recv())
        return {name: unit / statistics.median(seconds) for name, seconds in taken.items()}


def main() -> int:
    figures = measure(WAYS_IN, LARGE, SPANS, LARGE * SPANS)
    figures |= measure(SMALL_REQUESTS, SMALL, SMALL_SPANS, SMALL)
    print(f"\n{'':28}{'a CPU second':>14}")
    for name, figure in figures.items():
        print(f"{name:28}{figure:>14,.0f} {'requests' if name in SMALL_REQUESTS else 'spans'}")
    print(f"\n{'ratio':44}{'measured':>10}{'at least':>10}{'aim':>8}")
    ratios = []
    for target in TARGETS:
        ratio = figures[target.of] / figures[target.to]
        ratios.append({**asdict(target), "measured": round(ratio, 3)})
        print(f"{target.of + ' / ' + target.to:44}{ratio:>10.2f}{target.at_least:>10.2f}{target.aim:>8.2f}")
    RESULTS.mkdir(exist_ok=True)
    told = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "per_cpu_second": figures, "ratios": ratios}
    (RESULTS / "compare.json").write_text(json.dumps(told, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
