"""Times of functions, measured in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

LEAST = 5  # the second call of a kernel still has something to prepare
MOST = 1000
TURN = 1e-3  # seconds: shorter calls are repeated, as what ran before them has cooled the caches


Arguments = Callable[[], Sequence[Any]]


def best_times(
    calls: Sequence[Callable[..., Any]], budget: float, arguments: Arguments = tuple
) -> list[float]:
    """The best time of each call in seconds, taken in turns for about `budget` seconds.

    What else the machine does then strikes all of them alike. Each call is made a few times at
    least, however long that takes, with what `arguments` gives anew.
    """
    best = [float("inf")] * len(calls)
    end = time.perf_counter() + budget
    for turn in range(MOST):
        for which, call in enumerate(calls):
            best[which] = min(best[which], _best_of_turn(call, arguments))
        if turn + 1 >= LEAST and time.perf_counter() > end:
            break
    return best


def _best_of_turn(call: Callable[..., Any], arguments: Arguments) -> float:
    best, begin = float("inf"), time.perf_counter()
    while True:
        given = arguments()
        start = time.perf_counter()
        call(*given)
        end = time.perf_counter()
        best = min(best, end - start)
        if end - begin > TURN:
            return best
