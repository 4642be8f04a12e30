"""Parallel loops next to Numba's prange: what starting one costs, and how fast it runs.

Fork and join: a region of two iterations, one for each of two threads, each with so many steps
of a chain of operations; what it takes beyond half the time of the serial loop is its cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np

import hybridjit as hj
from benchmarks.turns import best_times
from hybridjit import hybrid
from hybridjit.hybrid import parallel

THREADS = 2
REGIONS = 500
ROUNDS = 60
njit: Any = numba.njit
prange: Any = numba.prange


@hybrid.script
def serial_regions(a: Any, regions: Any, steps: Any) -> Any:
    for _ in range(regions):
        for i in range(2):
            k = 0
            x = 1.0
            while k < steps:
                x = x * 0.5 + 1.0
                k += 1
            a[i * 8] = x


@hybrid.script
def regions(a: Any, regions: Any, steps: Any) -> Any:
    for _ in range(regions):
        for i in parallel(2):
            k = 0
            x = 1.0
            while k < steps:
                x = x * 0.5 + 1.0
                k += 1
            a[i * 8] = x


@njit(parallel=True)
def numba_regions(a: Any, regions: Any, steps: Any) -> Any:
    for _ in range(regions):
        for i in prange(2):
            k = 0
            x = 1.0
            while k < steps:
                x = x * 0.5 + 1.0
                k += 1
            a[i * 8] = x


@hybrid.script
def stencil(a: Any, b: Any) -> Any:
    for i in parallel(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])


@njit(parallel=True)
def numba_stencil(a: Any, b: Any) -> Any:
    for i in prange(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])


@hybrid.script
def whole_sum(a: Any) -> Any:
    total = 0
    for i in parallel(a.shape[0]):
        total += a[i] * a[i]
    return total


@hybrid.script(fastmath={"reassoc"})
def float_sum(a: Any) -> Any:
    total = 0.0
    for i in parallel(a.shape[0]):
        total += a[i] * a[i]
    return total


@njit(parallel=True)
def numba_whole_sum(a: Any) -> Any:
    total = 0
    for i in prange(a.shape[0]):
        total += a[i] * a[i]
    return total


@njit(parallel=True, fastmath={"reassoc"})
def numba_float_sum(a: Any) -> Any:
    total = 0.0
    for i in prange(a.shape[0]):
        total += a[i] * a[i]
    return total


def race(runs: Sequence[Callable[..., Any]], args: tuple[Any, ...]) -> list[float]:
    """The best time of each, in microseconds, where threads have been woken."""
    for run in runs:
        for _ in range(3):
            run(*args)
    return best_times(runs, args, ROUNDS)


def one_thread(run: Callable[..., Any]) -> Callable[..., Any]:
    """The same on the calling thread alone."""

    def run_alone(*args: Any) -> Any:
        with hj.threads(1):
            return run(*args)

    return run_alone


def print_regions() -> None:
    """What a region costs."""
    print(f"{'fork and join, µs per region':34}{'hybridjit':>11}{'Numba':>9}{'of Numba':>11}")
    a = np.zeros(16)
    for steps in (0, 500, 2000):
        args = (a, REGIONS, steps)
        times = race([regions, numba_regions, serial_regions], args)
        ours, theirs, serial = (taken / REGIONS for taken in times)
        label = f"{serial / 2:.1f} µs of work for each thread"
        cost, their_cost = ours - serial / 2, theirs - serial / 2
        print(f"{label:34}{cost:11.2f}{their_cost:9.2f}{cost / their_cost:10.2f}x")


def print_kernels() -> None:
    """Loops with something to do."""
    rng = np.random.default_rng(0)
    print(f"{'µs':34}{'hybridjit':>11}{'Numba':>9}{'speed':>11}{'one thread':>12}")
    for size in (200, 1000, 2000):
        a: Any = rng.random((size, size))
        compare(f"stencil {size} x {size}", stencil, numba_stencil, (a, a.copy()))
    for size in (20_000, 1_000_000):
        whole = rng.integers(0, 100, size)
        compare(f"sum of {size} int64", whole_sum, numba_whole_sum, (whole,))
        compare(f"sum of {size} float64", float_sum, numba_float_sum, (rng.random(size),))


def compare(label: str, ours: Any, theirs: Any, args: tuple[Any, ...]) -> None:
    mine, other, alone = race([ours, theirs, one_thread(ours)], args)
    print(f"{label:34}{mine:11.1f}{other:9.1f}{other / mine:10.2f}x{alone:12.1f}")


def main() -> None:
    """Print two tables."""
    hj.set_num_threads(THREADS)
    numba.set_num_threads(THREADS)
    print_regions()
    print()
    print_kernels()


if __name__ == "__main__":
    main()
