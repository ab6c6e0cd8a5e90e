"""`make bench`, second part: the ways into ClickHouse against each other, interleaved, as ratios with their targets.

Every contestant lives in a process of its own for the whole run and takes its turn in each round, so that a machine
whose speed drifts slows all of them alike. The figures are medians of rounds, per CPU second of all processes of the
contestant. One that cannot run says why, and its row stays empty.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from bench import contestants as ways
from bench.contestants import Contestant
from bench.payload import SPANS, request
from bench.rotel import NotHere, rotel

ROUNDS = 5
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Group:
    """Contestants that get the same requests: `requests` a round of `spans` each, made of so many originals."""

    contestants: Mapping[str, Contestant]
    requests: int
    spans: int
    originals: int
    unit: str

    @property
    def units(self) -> int:
        return self.requests * self.spans if self.unit == "spans" else self.requests


GROUPS = (
    Group(
        {
            "raw limit": ways.raw_limit,
            "decode + insert": ways.decode_and_insert,
            "end to end": ways.end_to_end,
            "end to end, JSON": ways.end_to_end_json,
            "plain way": ways.plain_way,
            "end to end, server": ways.end_to_end_server,
            "Rotel": rotel,
        },
        requests=32,
        spans=SPANS,
        originals=32,
        unit="spans",
    ),
    Group(
        {
            "6 spans: no-op": ways.no_op,
            "6 spans: acknowledged": ways.acknowledged,
            "6 spans: end to end": ways.small_end_to_end,
        },
        requests=6000,
        spans=6,
        originals=300,
        unit="requests",
    ),
)


@dataclass(frozen=True)
class Target:
    """A ratio of two contestants, and what it should be; without a number it is told for comparison only."""

    of: str
    to: str
    at_least: float | None = None
    aim: float | None = None


TARGETS = (
    Target("decode + insert", "raw limit", 0.45, 0.60),
    Target("end to end", "raw limit", 0.32, 0.45),
    Target("end to end, server", "Rotel", 1.3, 2),
    Target("end to end", "plain way", 1.7, 2.5),
    Target("6 spans: acknowledged", "6 spans: no-op", 0.2, 0.4),
    Target("6 spans: end to end", "6 spans: no-op"),
    Target("end to end, JSON", "end to end", 0.4, 0.7),
)


@dataclass(frozen=True)
class Measured:
    """Units a CPU second: the median of the rounds, the slowest and the fastest; or why there is none."""

    unit: str
    median: float = 0
    slowest: float = 0
    fastest: float = 0
    missing: str = ""


def turn(group: Group, name: str, orders: Connection) -> None:
    """One contestant's process: prepare, then a round for every order."""
    originals = [request(seed, group.spans) for seed in range(group.originals)]
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            group.contestants[name](originals, group.requests, Path(folder)) as once,
        ):
            once()  # caches, pools and first allocations are not what is asked
            orders.send("")
            while orders.recv():
                orders.send(once())
    except NotHere as reason:
        orders.send(str(reason))


def measure(group: Group, rounds: int) -> dict[str, Measured]:
    """What each contestant of a group does, in interleaved rounds."""
    spawn = multiprocessing.get_context("spawn")
    lines: dict[str, Connection] = {}
    missing: dict[str, Measured] = {}
    with ExitStack() as undo:
        for name in group.contestants:
            mine, theirs = spawn.Pipe()
            process = spawn.Process(target=turn, args=(group, name, theirs))
            process.start()
            theirs.close()
            undo.callback(process.join)
            if reason := mine.recv():
                missing[name] = Measured(group.unit, missing=reason)
            else:
                lines[name] = mine
                undo.callback(mine.send, False)
        taken: dict[str, list[float]] = {name: [] for name in lines}
        for _ in range(rounds):
            for name, line in lines.items():
                line.send(True)
                taken[name].append(group.units / line.recv())
    return missing | {
        name: Measured(group.unit, statistics.median(speeds), min(speeds), max(speeds))
        for name, speeds in taken.items()
    }


def compare(figures: Mapping[str, Measured]) -> list[dict[str, object]]:
    """The ratios of `TARGETS`; `measured` is None where a side is missing."""
    ratios = []
    for target in TARGETS:
        of, to = figures[target.of].median, figures[target.to].median
        ratios.append({**asdict(target), "measured": round(of / to, 3) if of and to else None})
    return ratios


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    load = os.getloadavg()[0]
    figures: dict[str, Measured] = {}
    for group in GROUPS:
        figures |= measure(group, rounds)
    print(f"\n{'per CPU second, median of ' + str(rounds) + ' rounds':44}{'median':>10}{'slowest':>10}{'fastest':>10}")
    for name, told in figures.items():
        row = f"{told.median:>10,.0f}{told.slowest:>10,.0f}{told.fastest:>10,.0f}  {told.unit}"
        print(f"{name:44}{'  not here: ' + told.missing if told.missing else row}")
    ratios = compare(figures)
    print(f"\n{'ratio':44}{'measured':>10}{'at least':>10}{'aim':>10}")
    for ratio in ratios:
        shown = [f"{ratio[key]:>10.2f}" if ratio[key] else f"{'–':>10}" for key in ("measured", "at_least", "aim")]
        print(f"{ratio['of']} / {ratio['to']}".ljust(44) + "".join(shown))
    size = len(request(0)) // SPANS
    save(
        "compare",
        {
            "load_before": load,
            "bytes_a_span": size,
            "per_cpu_second": {name: asdict(told) for name, told in figures.items()},
            "ratios": ratios,
        },
    )
    return 0


def save(name: str, told: Mapping[str, object]) -> None:
    """Write figures as JSON beside the moment and the machine they are of."""
    RESULTS.mkdir(exist_ok=True)
    stamped = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "cores": os.cpu_count(), **told}
    (RESULTS / f"{name}.json").write_text(json.dumps(stamped, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
