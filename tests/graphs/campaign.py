"""Many random graphs under several random schedules each; a pair that differs is printed.

    python -m tests.graphs.campaign --pairs 10000 --seed 1 --native-every 20

Graph number k of a seed is the same in every run: `--first k --pairs 1` repeats it.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.graphs.check import (
    ScheduledGraph,
    Subject,
    check_printed,
    check_scheduled,
    choose_moves,
)
from tests.graphs.generate import MAKERS
from tests.graphs.moves import MOVES

# A graph is made, run, and held against NumPy once for so many schedules.
SCHEDULES = 4
# One schedule in so many is printed and parsed again.
PRINT_EVERY = 20
# Seconds between two lines of progress.
PAUSE = 30.0


@dataclass(slots=True)
class Tally:
    """What has been seen so far."""

    graphs: int = 0
    pairs: int = 0
    changed: int = 0
    native: int = 0
    slowest: tuple[float, int] = (0.0, 0)
    kinds: Counter[str] = field(default_factory=Counter[str])
    made: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])
    start: float = field(default_factory=time.monotonic)

    def add(self, found: ScheduledGraph) -> None:
        self.pairs += 1
        self.changed += bool(found.made)
        self.made.update(move.kind for move in found.made)
        self.refused.update(move.kind for move in found.refused)

    def __str__(self) -> str:
        seconds = time.monotonic() - self.start
        return (
            f"{self.pairs} pairs of {self.graphs} graphs ({self.changed} with accepted steps, "
            f"{self.native} native), {len(self.failures)} mismatches, "
            f"{self.pairs / seconds:.0f} pairs/s, "
            f"slowest {self.slowest[0]:.1f} s in graph {self.slowest[1]}"
        )

    def table(self) -> Iterator[str]:
        """How often each kind of stage came, and accepted and refused steps of each kind."""
        for name in dict.fromkeys(maker.__name__ for maker in MAKERS):
            yield f"{name:24}{self.kinds[name]:9} stages"
        for name in MOVES:
            yield f"{name:24}{self.made[name]:9} accepted{self.refused[name]:9} refused"


def main() -> int:
    """Run the campaign that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--native-every", type=int, default=100, metavar="K")
    options = parser.parse_args()
    tally = Tally()
    reported = time.monotonic()
    number: int = options.first
    while tally.pairs < options.pairs:
        try_graph(tally, options.seed, number, options.native_every)
        number += 1
        if time.monotonic() - reported > PAUSE:
            reported = time.monotonic()
            print(f"{tally}; next is graph {number}", flush=True)
    print(*tally.table(), tally, sep="\n")
    return 1 if tally.failures else 0


def try_graph(tally: Tally, seed: int, number: int, native_every: int) -> None:
    """One graph under several schedules."""
    choose = random.Random(f"{seed}/{number}")
    started = time.process_time()
    before = len(tally.failures)
    try:
        subject = Subject(choose)
        tally.graphs += 1
        tally.kinds.update(subject.graph.kinds)
        subject.check_against_numpy()
        for _ in range(SCHEDULES):
            _try_schedule(tally, subject, random.Random(choose.randrange(1 << 62)), native_every)
    except Exception:
        # A crash is a find like any other, and must not end the campaign.
        tally.failures.append(traceback.format_exc())
    for failure in tally.failures[before:]:
        print(f"graph {number} of seed {seed}:\n{failure}", flush=True)
    tally.slowest = max(tally.slowest, (time.process_time() - started, number))


def _try_schedule(tally: Tally, subject: Subject, choose: random.Random, native_every: int) -> None:
    found = ScheduledGraph(subject)
    try:
        found.take(choose_moves(choose))
        tally.add(found)
        native = found.func is not None and tally.pairs % native_every == 0
        tally.native += native
        check_scheduled(found, native=native)
        if tally.pairs % PRINT_EVERY == 0:
            check_printed(found)
    except Exception:
        tally.failures.append(f"{traceback.format_exc()}\n{found.made}")


if __name__ == "__main__":
    sys.exit(main())
