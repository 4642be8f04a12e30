"""Many random programs under many random schedules each; a pair that differs is printed.

    python -m tests.nests.campaign --pairs 100000 --seed 1 --native-every 100

Program number k of a seed is the same in every run: `--first k --pairs 1` repeats it.
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
from typing import Any

from hybridjit.errors import UninitializedRead
from hybridjit.ir.equal import structural_equal
from hybridjit.schedule.schedule import Schedule
from tests.before_after import replayed
from tests.nests.check import (
    ALL_MOVES,
    Scheduled,
    check_scheduled,
    make_any_program,
    run,
    take_moves,
)
from tests.nests.generate import Nest

# Programs are parsed, and run without a schedule, once for so many schedules.
SCHEDULES = 8
# Traces are replayed for one schedule in so many.
REPLAY_EVERY = 20
# Seconds between two lines of progress.
PAUSE = 30.0


@dataclass(slots=True)
class Tally:
    """What has been seen so far."""

    pairs: int = 0
    changed: int = 0
    native: int = 0
    slowest: tuple[float, int] = (0.0, 0)
    made: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])
    start: float = field(default_factory=time.monotonic)

    def add(self, found: Scheduled) -> None:
        self.pairs += 1
        self.changed += bool(found.made)
        self.made.update(found.made)
        self.refused.update(found.refused)

    def __str__(self) -> str:
        seconds = time.monotonic() - self.start
        return (
            f"{self.pairs} pairs ({self.changed} with accepted steps, {self.native} native), "
            f"{len(self.failures)} mismatches, {self.pairs / seconds:.0f} pairs/s, "
            f"slowest {self.slowest[0]:.1f} s in program {self.slowest[1]}"
        )

    def table(self) -> Iterator[str]:
        """Accepted and refused steps of each kind."""
        for name in sorted(ALL_MOVES):
            yield f"{name:24}{self.made[name]:9} accepted{self.refused[name]:9} refused"


def main() -> int:
    """Run the campaign that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--native-every", type=int, default=100, metavar="K")
    options = parser.parse_args()
    tally = Tally()
    reported = time.monotonic()
    number: int = options.first
    while tally.pairs < options.pairs:
        try_program(tally, options.seed, number, options.native_every)
        number += 1
        if time.monotonic() - reported > PAUSE:
            reported = time.monotonic()
            print(f"{tally}; next is program {number}", flush=True)
    print(*tally.table(), tally, sep="\n")
    return 1 if tally.failures else 0


def try_program(tally: Tally, seed: int, number: int, native_every: int) -> None:
    """One program under several schedules."""
    choose = random.Random(f"{seed}/{number}").randrange
    nest = make_any_program(choose)
    try:
        expected = run(nest.func, nest.fresh_args())
    except (IndexError, UninitializedRead):
        return
    for _ in range(SCHEDULES):
        started = time.process_time()
        if not _try_schedule(tally, nest, expected, random.Random(choose(1 << 62)), native_every):
            print(f"program {number} of seed {seed}:\n{tally.failures[-1]}", flush=True)
        tally.slowest = max(tally.slowest, (time.process_time() - started, number))


def _try_schedule(
    tally: Tally, nest: Nest, expected: list[Any], generator: random.Random, native_every: int
) -> bool:
    found = Scheduled(nest, Schedule(nest.func))
    try:
        take_moves(found, generator.randrange)
        tally.add(found)
        native = bool(found.made) and tally.pairs % native_every == 0
        tally.native += native
        check_scheduled(found, native=native, expected=expected)
        if tally.pairs % REPLAY_EVERY == 0:
            assert structural_equal(replayed(found.schedule), found.schedule.func), "replayed"
    except Exception:
        # A crash is a find like any other, and must not end the campaign.
        tally.failures.append(f"{traceback.format_exc()}\n{found!r}")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
