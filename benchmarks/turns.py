"""Time several ways to do the same, in turns: a machine is faster now and slower then."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

ROUNDS = 40


def best_times(
    runs: Sequence[Callable[..., Any]], args: Sequence[Any] = (), rounds: int = ROUNDS
) -> list[float]:
    """The best time of each, in microseconds.

    Each runs once more before it is timed: vector units sleep while scalar code of another runs,
    and would be woken on the time of the next.
    """
    best = [math.inf] * len(runs)
    for _ in range(rounds):
        for which, run in enumerate(runs):
            run(*args)
            start = time.perf_counter_ns()
            run(*args)
            best[which] = min(best[which], time.perf_counter_ns() - start)
    return [nanoseconds / 1e3 for nanoseconds in best]
