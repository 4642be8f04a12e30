"""Who is faster, on a machine that has other things to do.

    rival:      ||||||| |||||||           ||||||| ...
    candidate:         |       |||||||||||        ...      in turns: the same weather

The best of many turns is what code can do; what disturbs a run only ever makes it slower.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from hybridjit.record import record

Clock = Callable[[], float]

LEAST_TURNS = 5
MOST_TURNS = 2000
SAMPLE = 2e-5  # seconds that a sample takes at least: what a clock can tell
# After so many turns, so many times as slow as the rival: no luck makes up for that.
HOPELESS = ((1, 6.0), (3, 3.0), (LEAST_TURNS, 2.2), (12, 1.4))
CLOSE = 1.02  # times as slow as the rival, or less: worth a closer look
CLOSER = 3  # times as long


@record
class Times:
    """Seconds of each turn."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The fastest."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The one in the middle."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """How far the middle lies above the best, as a share of it."""
        return self.median / self.best - 1


def race(
    runs: Sequence[Callable[[], Any]],
    seconds: float,
    *,
    prepare: Callable[[], Any] | None = None,
    clock: Clock = time.perf_counter,
) -> list[Times]:
    """Time calls in turns, for about so many seconds; before each, `prepare` is called, untimed.

    The first is the one to beat. A race ends early with others that are hopeless, and lasts longer
    if one of them seems to win.
    """
    repeat = 1 if prepare is not None else max(_repeat(run, clock) for run in runs)
    taken: list[list[float]] = [[] for _ in runs]
    start = clock()
    for turn in range(1, MOST_TURNS + 1):
        for run, samples in zip(runs, taken, strict=True):
            if prepare is not None:
                prepare()
            samples.append(_sample(run, repeat, clock))
        lead = min(map(min, taken[1:]), default=0.0) / min(taken[0])
        lasts = seconds * CLOSER if lead < CLOSE else seconds
        if _is_hopeless(lead, turn) or (turn >= LEAST_TURNS and clock() - start > lasts):
            break
    return [Times(tuple(samples)) for samples in taken]


def _sample(run: Callable[[], Any], repeat: int, clock: Clock) -> float:
    start = clock()
    for _ in range(repeat):
        run()
    return (clock() - start) / repeat


def _repeat(run: Callable[[], Any], clock: Clock) -> int:
    """How often a call is made for one sample, so that the clock can tell how long it takes."""
    run()
    took = min(_sample(run, 1, clock) for _ in range(2))
    return max(1, round(SAMPLE / took)) if took > 0 else 1


def _is_hopeless(lead: float, turn: int) -> bool:
    return any(turn >= turns and lead > most for turns, most in HOPELESS)
