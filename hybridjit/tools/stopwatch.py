"""Times of functions, measured in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any


def best_times(calls: Sequence[Callable[[], Any]], budget: float, most: int = 1000) -> list[float]:
    """The best time of each call in seconds, taken in turns for about `budget` seconds.

    What else the machine does then strikes all of them alike. Each call is made at least once.
    """
    best = [float("inf")] * len(calls)
    end = time.perf_counter() + budget
    for _ in range(most):
        for which, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[which] = min(best[which], time.perf_counter() - start)
        if time.perf_counter() > end:
            break
    return best


def format_seconds(seconds: float) -> str:
    """Three digits and a unit: 1.25 ms."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
