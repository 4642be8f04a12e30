"""Plain loops, as written, against Numba on the same source: one thread, no schedule."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.turns import best_times
from hybridjit import hybrid


def stencil(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])


def reduction(a):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * a[i]
    return total


def triangular(a, b):
    for i in range(a.shape[0]):
        for j in range(i):
            b[i, j] = a[i, j] - a[j, i]


def recurrence(a, b):
    for i in range(1, a.shape[0]):
        b[i] = b[i - 1] * 0.5 + a[i]


def gather(a, indices, b):
    for i in range(indices.shape[0]):
        b[i] = a[indices[i]]


def histogram(a, counts):
    for i in range(a.shape[0]):
        counts[int(a[i] * 16)] += 1


def complex_square(z, c, out):
    for i in range(z.shape[0]):
        out[i] = z[i] * z[i] + c[i]


def mandelbrot(c, out):
    for i in range(c.shape[0]):
        z = 0j
        n = 0
        while n < 50 and abs(z) <= 2.0:
            z = z * z + c[i]
            n += 1
        out[i] = n


def integers(a, b):
    for i in range(a.shape[0]):
        b[i] = (a[i] * 31 + 7) % 101


def matmul(a, b, c):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def convolution(image, weights, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for u in range(3):
                for v in range(3):
                    total += image[i + u, j + v] * weights[u, v]
            out[i, j] = total


def shortest_paths(d):
    for k in range(d.shape[0]):
        for i in range(d.shape[0]):
            for j in range(d.shape[0]):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


def offset_stencil(a, b, r, s):
    for i in range(1, b.shape[0] - 1):
        for j in range(1, b.shape[1] - 1):
            b[i, j] = 0.5 * (a[i + r, j + s] + a[i - r, j - s])


def strided_gather(a, b, start, offset):
    for i in range(b.shape[0]):
        b[i] = a[2 * i + start] - a[i + offset]


def sizes_vary(a, b):
    for i in range(b.shape[0]):
        for j in range(i):
            b[i, j] = 2.0 * a[i, j] + a[i, i]


def cases() -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    rng = np.random.default_rng(0)
    square, line = rng.random((500, 500)), rng.random(100_000)
    small = square[:200, :200].copy()
    single = square.astype(np.float32)
    points = (line - 0.5 + 1j * line)[:20_000].copy()
    whole = rng.integers(0, 1000, 100_000)
    return [
        (stencil, (square, square.copy())),
        (reduction, (line,)),
        (triangular, (square, square.copy())),
        (recurrence, (line, line.copy())),
        (gather, (line, rng.integers(0, 100_000, 100_000), line.copy())),
        (histogram, (line, np.zeros(16, np.int64))),
        (complex_square, (line + 1j * line, line - 1j * line, 1j * line)),
        (mandelbrot, (points, np.zeros(len(points), np.int64))),
        (integers, (whole, whole.copy())),
        (matmul, (small, small.copy(), np.zeros_like(small))),
        (convolution, (single, single[:3, :3].copy(), single[:498, :498].copy())),
        (shortest_paths, (square[:100, :100].copy(),)),
        (offset_stencil, (square, square.copy(), 1, 1)),
        (strided_gather, (line, line[:49_000].copy(), 3, 700)),
        (sizes_vary, (square, small.copy())),
    ]


# Sizes that were seen before, so that those of the measured calls are known at run time only.
EARLIER: dict[Callable[..., Any], tuple[Any, ...]] = {
    sizes_vary: (np.ones((9, 8)), np.ones((6, 7))),
}


def main() -> None:
    table = Table("kernel", "hybridjit", "Numba", "ratio", title="plain loops, one thread, µs")
    ratios: list[float] = []
    for function, args in cases():
        runs = [hybrid.script(function), numba.njit(function)]
        for run in runs:
            run(*EARLIER.get(function, args))
            run(*args)
        ours, theirs = best_times(runs, args)
        ratios.append(theirs / ours)
        table.add_row(function.__name__, f"{ours:.1f}", f"{theirs:.1f}", f"{theirs / ours:.2f}")
    table.add_row("geometric mean", "", "", f"{math.exp(np.mean(np.log(ratios))):.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
