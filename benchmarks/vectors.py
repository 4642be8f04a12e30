"""Vector loops that are asked for against the same loops as written; a matmul in registers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.turns import best_times
from hybridjit import hybrid
from hybridjit.hybrid import allocate, exp, sqrt, unroll, vectorize

SIZE = 100_003


def saxpy(x, y):
    for j in range(x.shape[0]):
        y[j] = x[j] * 2.5 + y[j]


def polynomial(x, y):
    for j in range(x.shape[0]):
        t = x[j]
        y[j] = ((((t * 2.0 + 3.0) * t + 1.0) * t + 5.0) * t + 7.0) * t - 1.0


def exponential(x, y):
    for j in range(x.shape[0]):
        y[j] = exp(x[j])


def branches(x, y):
    for j in range(x.shape[0]):
        if x[j] > 0.5:
            y[j] = sqrt(x[j])
        else:
            y[j] = x[j] * x[j]


def gather(x, p, y):
    for j in range(p.shape[0]):
        y[j] = x[p[j]]


def pairs(x, y):
    for j in range(y.shape[0] // 2):
        y[j] = x[2 * j] + x[2 * j + 1]


def recurrences(m, y):
    for j in range(m.shape[1]):
        s = m[0, j]
        for k in range(1, m.shape[0]):
            s = s * 0.5 + m[k, j]
        y[j] = s


def matmul(a, b, c):
    for i in range(0, c.shape[0], 8):
        for j in range(0, c.shape[1], 32):
            acc = allocate((8, 32), "float32", "local")
            for k in range(a.shape[1]):
                for ii in unroll(8):
                    for jj in vectorize(32):
                        acc[ii, jj] += a[i + ii, k] * b[k, j + jj]
            for ii in unroll(8):
                for jj in vectorize(32):
                    c[i + ii, j + jj] = acc[ii, jj]


def cases() -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    rng = np.random.default_rng(0)
    x, y = (rng.random(SIZE, np.float32) for _ in range(2))
    return [
        (saxpy, (x, y)),
        (polynomial, (x, y)),
        (exponential, (x, y)),
        (branches, (x, y)),
        (gather, (x, rng.integers(0, SIZE, SIZE), y)),
        (pairs, (x, y)),
        (recurrences, (rng.random((16, SIZE), np.float32), y)),
    ]


def show_loops(console: Console) -> None:
    title = f"{SIZE:,} float32, one thread, µs"
    table = Table("kernel", "vectorize", "range", "ratio", title=title)
    ratios: list[float] = []
    for function, args in cases():
        plain = hybrid.script(function)
        runs = [plain.with_schedule(lambda s: s.vectorize("j")), plain]
        for run in runs:
            run(*args)
        ours, theirs = best_times(runs, args)
        ratios.append(theirs / ours)
        table.add_row(function.__name__, f"{ours:.1f}", f"{theirs:.1f}", f"{theirs / ours:.2f}")
    table.add_row("geometric mean", "", "", f"{math.exp(np.mean(np.log(ratios))):.2f}")
    console.print(table)


def show_matmul(console: Console) -> None:
    table = Table("size", "tile", "tile, fused", "NumPy", title="matmul, float32, GFLOP/s")
    fused = {"contract", "reassoc"}
    runs = [hybrid.script(matmul), hybrid.script(fastmath=fused)(matmul)]
    rng = np.random.default_rng(0)
    for size in (128, 256, 512):
        a, b = (rng.random((size, size), np.float32) for _ in range(2))
        c = np.zeros_like(a)
        for run in runs:
            run(a, b, c)
        times = best_times([*runs, lambda a, b, c: np.matmul(a, b, out=c)], (a, b, c))
        table.add_row(str(size), *(f"{2e-3 * size**3 / time:.1f}" for time in times))
    console.print(table)


def main() -> None:
    console = Console()
    show_loops(console)
    show_matmul(console)


if __name__ == "__main__":
    main()
