"""A matrix product, from three plain loops to the speed of NumPy's BLAS: a ladder of schedules.

    OPENBLAS_NUM_THREADS=1 python examples/matmul_ladder.py 1024
    OPENBLAS_NUM_THREADS=1 python examples/matmul_ladder.py 1024 ladder.svg     # with a chart

The script stays as it is. Each rung is the one before it and a step or two more; every step is
checked when it is taken, and every result against NumPy.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hybridjit as hj
from hybridjit import hybrid

TARGET = hj.host_target()
LANES = TARGET.vector_bits // 32
# A tile whose sums stay in registers, with some left for what is multiplied.
COLUMNS = 2 * LANES
ROWS = 12 if TARGET.vector_registers == 32 else 6
# So much of b, as many columns as a tile has, stays in the first cache.
DEPTH = min(512, TARGET.caches.first * 3 // 4 // (4 * COLUMNS))


@hybrid.script(fastmath={"contract"})  # a * b + c may be one instruction
def matmul(a, b):
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


@hybrid.script
def product(a, b):
    return a @ b


def naive(s: hj.Schedule) -> None:
    """Exactly the loops of the script, one after the other."""
    s.reorder("i", "j", "k")
    s.unroll(s.split("k", factor=1)[1])


def interchanged(s: hj.Schedule) -> None:
    """Walk along rows of b and c, not down the columns of b."""
    s.reorder("i", "k", "j")
    s.unroll(s.split("j", factor=1)[1])


def in_lanes(s: hj.Schedule) -> None:
    """Many columns at once."""
    s.reorder("i", "k", "j")
    s.vectorize("j")


def tiled(s: hj.Schedule) -> tuple[Any, ...]:
    """Sum up a tile of c in registers, from a part of b that stays in the cache."""
    jo, ji = s.split("j", factor=COLUMNS)
    io, ii = s.split("i", factor=ROWS)
    ko, ki = s.split("k", factor=DEPTH)
    vectors, lane = s.split(ji, factor=LANES)
    s.reorder(jo, ko, io, ki, ii, vectors, lane)
    s.cache_write("c", "c", "local", at=io)
    s.vectorize(lane)
    s.unroll(vectors)
    s.unroll(ii)
    return jo, ko


def packed(s: hj.Schedule) -> Any:
    """Copy the columns of b that tiles read again and again to one place first."""
    jo, ko = tiled(s)
    s.cache_read("c", "b", "local", at=ko)
    return jo


def on_threads(s: hj.Schedule) -> None:
    """Give every thread columns of its own."""
    s.parallel(packed(s))


LADDER = (naive, interchanged, in_lanes, tiled, packed, on_threads)


def best_gflops(
    runs: dict[str, Callable[..., Any]], a: Any, b: Any, rounds: int
) -> dict[str, float]:
    """Billions of operations per second, best of several rounds, measured in turns."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run(a, b)
            best[name] = min(best[name], time.perf_counter() - start)
    work = 2 * a.shape[0] * a.shape[1] * b.shape[1]
    return {name: work / seconds / 1e9 for name, seconds in best.items()}


def peak_gflops(kernel: Any, a: Any, b: Any) -> float:
    """What one core can do at best, as the profile of a kernel measures it."""
    loops = kernel.profile(a, b).loops
    return max(each.limits.flops for each in loops if each.limits is not None) / 1e9


def chart(rows: dict[str, float], peak: float) -> str:
    """The ladder as a picture, SVG: a bar for each rung, and a line for the peak of one core."""
    widest = max(*rows.values(), peak)
    bars: list[str] = []
    for number, (name, gflops) in enumerate(rows.items()):
        y, length = 14 + 26 * number, 330 * gflops / widest
        bars.append(
            f'<text x="108" y="{y + 13}" text-anchor="end">{name}</text>'
            f'<rect x="114" y="{y}" width="{length:.1f}" height="18" fill="#4878a8"/>'
            f'<text x="{118 + length:.1f}" y="{y + 13}">{gflops:.1f}</text>'
        )
    x, height = 114 + 330 * peak / widest, 20 + 26 * len(rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 500 {height + 16}" role="img" '
        'font-family="sans-serif" font-size="12" fill="currentColor">'
        f"<title>GFLOP/s of matrix products</title>{''.join(bars)}"
        f'<path d="M{x:.1f} 6V{height}" stroke="#c04030" stroke-dasharray="4 3"/>'
        f'<text x="{x:.1f}" y="{height + 12}" text-anchor="end">'
        f"peak of one core, {peak:.0f} GFLOP/s</text></svg>"
    )


def main(size: int = 192, path: str | None = None) -> None:
    a, b = np.random.default_rng(0).random((2, size, size), np.float32)
    runs: dict[str, Callable[..., Any]] = {
        schedule.__name__: matmul.with_schedule(schedule) for schedule in LADDER
    }
    runs |= {"no schedule": matmul, "a @ b": product}
    for run in runs.values():
        np.testing.assert_allclose(run(a, b), a @ b, rtol=1e-4)
    peak = peak_gflops(runs["packed"], a, b)
    runs["NumPy"] = np.matmul
    rows = best_gflops(runs, a, b, rounds=3 if size > 500 else 10)
    print(f"{size} x {size}, float32, {TARGET.cpu}, {os.cpu_count()} cores")
    for name, gflops in rows.items():
        share = gflops / peak
        bar = "#" * round(40 * min(share, 1.5))
        print(f"{name:13}{gflops:8.1f} GFLOP/s {share:6.1%} of one core  {bar}")
    if path is not None:
        Path(path).write_text(chart(rows, peak), encoding="utf-8")
        print(f"the chart is in {path}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
