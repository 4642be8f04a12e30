"""Chains of array statements against NumPy, and against the time that their bytes take.

    python -m benchmarks.arrays [--sizes 20 22 24] [--rounds 40]

Sizes are exponents: 2^22 float64 are 32 MB. The bound is what the same bytes take at the best rates
that one thread reaches, measured in turns with each chain: an array that is written takes the time
of `np.copyto`, which also reads one; every other array that is read takes that of the fastest of
`np.max`, `np.sum` and `read_quarters`, which reads four parts of an array at a time. A chain may be
below the bound where `np.copyto` writes through the caches.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.turns import ROUNDS, best_times
from hybridjit import hybrid

SIZES = (20, 22, 24)  # the last: 128 MB, three of them more than the caches hold


@hybrid.script(fastmath={"reassoc"})
def read_quarters(a):
    quarter = a.shape[0] // 4
    s = 0.0
    for i in range(quarter):
        s += (a[i] + a[quarter + i]) + (a[2 * quarter + i] + a[3 * quarter + i])
    return s


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
    """A kernel, and how many arrays it reads and writes, each of them once."""

    function: Callable[..., Any]
    reads: int
    writes: int = 0

    @property
    def parameters(self) -> int:
        """How many of the arrays a, b and c it takes."""
        return self.function.__code__.co_argcount


CHAINS = (
    Chain(total, 2),
    Chain(largest, 2),
    Chain(masked, 2),
    Chain(triad, 2, 1),
    Chain(distance, 2, 1),
    Chain(clipped, 2, 1),
    Chain(smoothed, 2, 1),
    Chain(updated, 3, 1),
)


def measure(chain: Chain, arrays: list[Any], rounds: int) -> tuple[float, float, float]:
    """The times of a chain and of NumPy, and the least time that its bytes take; microseconds."""
    a, spare = arrays[0], arrays[-1]
    kernel: Any = hybrid.script(chain.function)
    args = tuple(arrays[: chain.parameters])
    readers = [lambda *_: a.max(), lambda *_: a.sum(), lambda *_: read_quarters(a)]
    runs = [kernel, kernel.py_func, lambda *_: np.copyto(spare, a), *readers]
    for run in runs:
        run(*args)
    ours, numpy, copy, *reads = best_times(runs, args, rounds)
    return ours, numpy, chain.writes * copy + (chain.reads - chain.writes) * min(reads)


def main() -> None:
    """Print one line for each chain and size."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    columns = ("ours, ms", "NumPy, ms", "NumPy / ours", "bytes, ms", "ours / bytes")
    table = Table("chain", "size", *columns)
    for size in options.sizes:
        rng = np.random.default_rng(0)
        arrays = [rng.random(1 << size) for _ in range(4)]
        for chain in CHAINS:
            ours, numpy, bound = measure(chain, arrays, options.rounds)
            table.add_row(
                chain.function.__name__,
                f"2^{size}",
                *(f"{time / 1e3:.2f}" for time in (ours, numpy)),
                f"{numpy / ours:.2f}",
                f"{bound / 1e3:.2f}",
                f"{ours / bound:.2f}",
            )
        table.add_section()
    Console().print(table)


if __name__ == "__main__":
    main()
