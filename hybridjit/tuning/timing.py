"""Who is faster, on a machine that has other things to do.

    rival:      |||||||  |           ||||||| |      ...
    candidate:         ||  |||||||||||        ||||| ...    in turns: the same weather

The best of many turns is what code can do; what disturbs a run only ever makes it slower. Who runs
first in a turn finds the caches as those left them who keep the time: so that changes, too.
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
WARM = 0.01  # seconds: what takes longer needs no first call that is not counted
# After so many turns, so many times as slow as the rival: no luck makes up for that.
HOPELESS = ((1, 6.0), (3, 3.0), (LEAST_TURNS, 2.2), (12, 1.4))
CLOSE = 1.02  # times as slow as the rival, or less: worth a closer look
CLOSER = 3  # times as long
# Turns that take so many times as long as the race should are few: what disturbs them is a small
# part of them, and each costs a candidate that is not tried.
LONG = 4
LEAST_LONG_TURNS = 2
CLEAR = 2.0  # times as slow as the other, in a long turn: it needs no second one
GIVE_UP = 2.0  # times as long as the rival: a first run is ended
LEARN = 1.3  # times as long as the fastest candidate, if that is slower than the rival
SHORT = 0.25  # seconds: a first run that takes less is not ended


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


def longest_run(usual: float | None, fastest: float) -> float:
    """After how many seconds to give up the first run of a candidate whose rival takes `usual`.

    Where all are slower than the rival, it still matters which is the `fastest`: a search learns
    from that.
    """
    return float("inf") if usual is None else max(GIVE_UP * usual, LEARN * fastest, SHORT)


def is_long(turn: float, seconds: float) -> bool:
    """True if one turn takes far longer than the race should."""
    return turn > LONG * seconds


def is_clear(first: float, usual: float, seconds: float) -> bool:
    """True if a first run leaves no doubt who is faster, and a race would be long."""
    if not is_long(first + usual, seconds):
        return False
    return first > GIVE_UP * usual or usual > CLEAR * first


def race(
    runs: Sequence[Callable[[], Any]],
    seconds: float,
    *,
    prepare: Callable[[], Any] | None = None,
    clock: Clock = time.perf_counter,
) -> list[Times]:
    """Time calls in turns, for about so many seconds; before each, `prepare` is called, untimed.

    The first is the one to beat. A race ends early with others that are hopeless, and lasts longer
    if one of them seems to win. Calls that take long have fewer turns.
    """
    taken: list[list[float]] = [[] for _ in runs]

    def turn(repeat: int) -> None:
        entrants = list(zip(runs, taken, strict=True))
        for run, samples in entrants if len(taken[0]) % 2 == 0 else reversed(entrants):
            if prepare is not None:
                prepare()
            samples.append(_sample(run, repeat, clock))

    start = clock()
    turn(1)
    repeat = 1
    if prepare is None and max(map(min, taken)) < WARM:
        repeat = max(_repeat(run, clock) for run in runs)
        taken = [[] for _ in runs]
    while not _is_over(taken, clock() - start, seconds):
        turn(repeat)
    return [Times(tuple(samples)) for samples in taken]


def _is_over(taken: Sequence[Sequence[float]], passed: float, seconds: float) -> bool:
    turns = len(taken[0])
    if not turns:
        return False
    takes_long = is_long(passed, seconds)
    lead = min(map(min, taken[1:]), default=0.0) / min(taken[0])
    if _is_hopeless(lead, turns, takes_long):
        return True
    least = LEAST_LONG_TURNS if takes_long else LEAST_TURNS
    lasts = seconds * CLOSER if lead < CLOSE else seconds
    return turns == MOST_TURNS or (turns >= least and passed > lasts)


def _sample(run: Callable[[], Any], repeat: int, clock: Clock) -> float:
    start = clock()
    for _ in range(repeat):
        run()
    return (clock() - start) / repeat


def _repeat(run: Callable[[], Any], clock: Clock) -> int:
    """How often a call is made for one sample, so that the clock can tell how long it takes."""
    took = min(_sample(run, 1, clock) for _ in range(2))
    return max(1, round(SAMPLE / took)) if took > 0 else 1


def _is_hopeless(lead: float, turn: int, takes_long: bool) -> bool:
    if takes_long and lead > CLEAR:
        return True
    return any(turn >= turns and lead > most for turns, most in HOPELESS)
