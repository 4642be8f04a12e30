"""What the campaigns of random programs and schedules share: the command line and the tally."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

# Seconds between two lines of progress.
PAUSE = 30.0


@dataclass(slots=True)
class Tally:
    """The pairs of a program and a schedule that were seen so far, and what became of them."""

    pairs: int = 0
    changed: int = 0
    native: int = 0
    slowest: tuple[float, int] = (0.0, 0)
    made: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    stages: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])
    start: float = field(default_factory=time.monotonic)

    def add(self, made: Iterable[str], refused: Iterable[str]) -> None:
        """Count a pair, with the kinds of its accepted and refused steps."""
        before = self.made.total()
        self.made.update(made)
        self.refused.update(refused)
        self.pairs += 1
        self.changed += self.made.total() > before

    def __str__(self) -> str:
        seconds = time.monotonic() - self.start
        return (
            f"{self.pairs} pairs ({self.changed} with accepted steps, {self.native} native), "
            f"{len(self.failures)} mismatches, {self.pairs / seconds:.0f} pairs/s, "
            f"slowest {self.slowest[0]:.1f} s in number {self.slowest[1]}"
        )

    def table(self, steps: Iterable[str]) -> Iterator[str]:
        """How often each kind of stage came, and accepted and refused steps of each kind."""
        for name, count in sorted(self.stages.items()):
            yield f"{name:24}{count:9} stages"
        for name in steps:
            yield f"{name:24}{self.made[name]:9} accepted{self.refused[name]:9} refused"


# Tries one program: the tally, the seed, the number of the program, and how many pairs come to one
# that is run natively.
Try = Callable[[Tally, int, int, int], None]


def run_campaign(description: str | None, try_one: Try, steps: Iterable[str]) -> int:
    """Run the campaign that the command line asks for; 1 if something was found."""
    parser = argparse.ArgumentParser(description=description, allow_abbrev=False)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--native-every", type=int, default=100, metavar="K")
    options = parser.parse_args()
    tally, reported = Tally(), time.monotonic()
    number: int = options.first
    while tally.pairs < options.pairs:
        started, found = time.process_time(), len(tally.failures)
        try_one(tally, options.seed, number, options.native_every)
        tally.slowest = max(tally.slowest, (time.process_time() - started, number))
        for failure in tally.failures[found:]:
            print(f"number {number} of seed {options.seed}:\n{failure}", flush=True)
        number += 1
        if time.monotonic() - reported > PAUSE:
            reported = time.monotonic()
            print(f"{tally}; next is number {number}", flush=True)
    print(*tally.table(steps), tally, sep="\n")
    return 1 if tally.failures else 0
