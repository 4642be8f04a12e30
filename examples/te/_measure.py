"""Shared by the examples: run two ways of doing the same in turns, and print the better times."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compare(runs: dict[str, Callable[[], object]], rounds: int = 20) -> None:
    """Print the best time of each, measured in turns so that a busy machine slows all alike."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            best[name] = min(best[name], seconds(run))
    width = max(map(len, runs)) + 2
    for name, found in best.items():
        print(f"{name:{width}}{found * 1e6:10.1f} us")
