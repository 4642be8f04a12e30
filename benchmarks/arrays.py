"""Chains of array statements against NumPy, and against the time that their bytes take.

The bandwidth is that of `np.copyto`, measured in turns with each chain. A copy writes past the
caches; a chain that stores does not, so that the memory it writes is read once, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.kernels import best_times
from hybridjit import hybrid

SIZE = 1 << 22  # 32 MB of float64: more than the caches hold


def total(a, b):
    t = a * 2
    u = t + b
    return u.sum()


def triad(a, b, c):
    t = a * 2
    c[:] = t + b


def distance(a, b, c):
    d = a - b
    squares = d * d
    shifted = squares + 1.0
    c[:] = np.sqrt(shifted)


def clipped(a, b, c):
    low = np.minimum(a, b)
    high = np.maximum(a, b)
    middle = np.where(low > 0.25, low, high)
    c[:] = middle * 2 + low


def smoothed(a, b, c):
    t = a * 0.25
    c[1:-1] = t[:-2] + t[2:] + b[1:-1]


def updated(a, b, c):
    t = a * b
    c += t
    c *= 0.5


def masked(a, b):
    m = a > 0.5
    values = b[m]
    return values.mean()


def largest(a, b):
    d = a - b
    return np.abs(d).max()


@dataclass(frozen=True, slots=True)
class Chain:
    """A kernel, and how many arrays its bytes are: each is read or written once."""

    function: Callable[..., Any]
    arrays: int


CHAINS = (
    Chain(total, 2),
    Chain(largest, 2),
    Chain(masked, 2),
    Chain(triad, 3),
    Chain(distance, 3),
    Chain(clipped, 3),
    Chain(smoothed, 3),
    Chain(updated, 4),
)


def main() -> None:
    """Print one line for each chain."""
    rng = np.random.default_rng(0)
    a, b, c, spare = (rng.random(SIZE) for _ in range(4))
    table = Table("chain", "ours, ms", "NumPy, ms", "NumPy / ours", "bytes, ms", "ours / bytes")
    for chain in CHAINS:
        kernel: Any = hybrid.script(chain.function)
        args = (a, b, c)[: chain.function.__code__.co_argcount]
        kernel(*args)
        runs = [kernel, kernel.py_func, lambda *_: np.copyto(spare, a)]
        ours, numpy, copy = best_times(runs, args)
        bound = copy / 2 * chain.arrays  # a copy reads one array and writes one
        table.add_row(
            chain.function.__name__,
            *(f"{time / 1e3:.2f}" for time in (ours, numpy)),
            f"{numpy / ours:.2f}",
            f"{bound / 1e3:.2f}",
            f"{ours / bound:.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
