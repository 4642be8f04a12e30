"""A matrix product, from three plain loops to the speed of NumPy's BLAS: one schedule at a time.

    OPENBLAS_NUM_THREADS=1 python examples/tiled_matmul.py 512

The script stays as it is; every schedule is checked step by step, and its result against NumPy.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import hybridjit as hj
from hybridjit import hybrid

ROWS, COLUMNS, DEPTH = 12, 32, 256  # of a tile: 24 registers of 16 float32 hold its results
LANES = 16


@hybrid.script(fastmath={"contract"})  # a * b + c may be one instruction
def matmul(a, b):
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def in_rows(s: hj.Schedule) -> None:
    """Walk along the rows of b and c, many columns at once."""
    s.reorder("i", "k", "j")
    s.vectorize("j")


def in_tiles(s: hj.Schedule) -> tuple[Any, ...]:
    """Compute a tile of c at a time, in registers."""
    jo, ji = s.split("j", factor=COLUMNS)
    io, ii = s.split("i", factor=ROWS)
    ko, ki = s.split("k", factor=DEPTH)
    jv, lane = s.split(ji, factor=LANES)
    s.reorder(jo, ko, io, ki, ii, jv, lane)
    s.cache_write("c", "c", "local", at=io)
    s.vectorize(lane)
    s.unroll(jv)
    s.unroll(ii)
    return jo, ko


def packed(s: hj.Schedule) -> tuple[Any, ...]:
    """Copy the columns of b that a row of tiles reads to one place first."""
    jo, ko = in_tiles(s)
    s.cache_read("c", "b", "local", at=ko)
    return jo, ko


def on_all_cores(s: hj.Schedule) -> None:
    """Give every thread columns of its own."""
    jo, _ = packed(s)
    s.parallel(jo)


def best_gflops(runs: dict[str, Callable[..., Any]], a: Any, b: Any) -> dict[str, float]:
    """Billions of operations per second, best of several rounds, measured in turns."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(10):
        for name, run in runs.items():
            start = time.perf_counter()
            run(a, b)
            best[name] = min(best[name], time.perf_counter() - start)
    work = 2 * a.shape[0] * a.shape[1] * b.shape[1]
    return {name: work / seconds / 1e9 for name, seconds in best.items()}


def main(size: int = 192) -> None:
    a, b = np.random.default_rng(0).random((2, size, size), np.float32)
    runs: dict[str, Callable[..., Any]] = {"as written": matmul}
    for schedule in (in_rows, in_tiles, packed, on_all_cores):
        runs[schedule.__name__] = matmul.with_schedule(schedule)
    for run in runs.values():
        np.testing.assert_allclose(run(a, b), a @ b, rtol=1e-4)
    runs["NumPy"] = np.matmul
    for name, gflops in best_gflops(runs, a, b).items():
        print(f"{name:14}{gflops:8.1f} GFLOP/s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
