"""Kernels with parallel loops, and how to run them on several threads whatever their size."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import ml_dtypes
import numpy as np

from hybridjit import Kernel, config, hybrid, threads
from hybridjit.codegen.emit import parallel as emit_parallel
from hybridjit.hybrid import allocate, output_tensor, parallel
from hybridjit.lowering import chunks, parallelize, privatize_reductions, split_histograms
from tests.support.oracle import assert_same_outcome, run_interpreted, run_once

AnyKernel = Kernel[..., Any]
THREADS = (1, 2, 3, 8)
SIZES = (0, 1, 2, 7, 31, 257)
TABLE = np.array([3, 1, 4, 1, 5, 9, 2, 6])


@dataclass(frozen=True)
class Program:
    """A kernel, and its arguments for a size."""

    kernel: AnyKernel
    make: Callable[[int], tuple[Any, ...]]

    def __str__(self) -> str:
        return self.kernel.__name__


@contextmanager
def eager() -> Generator[None]:
    """Every parallel loop is worth its threads; code made so is not kept."""
    with (
        patch.object(emit_parallel, "MIN_PARALLEL_WORK", 0),
        patch.object(emit_parallel, "AUTOMATIC_CHUNK", 0),
        patch.object(privatize_reductions, "MIN_PARALLEL_WORK", 0),
        patch.object(chunks, "MIN_PARALLEL_WORK", 0),
        patch.object(split_histograms, "MIN_CHUNK", 1),
        patch.object(parallelize, "MIN_AUTOMATIC_WORK", 0),
        config.scope(cache_enabled=False),
    ):
        yield


@contextmanager
def on_threads(count: int = 3) -> Generator[None]:
    """Scripts run on so many threads wherever they can, however little there is to do."""
    with eager(), config.scope(parallel=True), threads(count):
        yield


def check(kernel: AnyKernel, args: tuple[Any, ...], *counts: int) -> None:
    """Native calls on so many threads, through Python and then not, agree with the interpreter."""
    expected = run_once(run_interpreted, kernel, args)
    for count in counts:
        for _ in range(3):
            with threads(count):
                found = run_once(_run, kernel, args)
            assert_same_outcome(found, expected)


def _run(kernel: AnyKernel, *args: Any) -> Any:
    return kernel(*args)


# -- loops whose iterations have nothing to do with each other -----------------------------------


@hybrid.script
def scaled(a: Any, k: Any, out: Any) -> Any:
    for i in parallel(a.shape[0]):
        out[i] = a[i] * k + i


@hybrid.script
def with_scratch(a: Any, out: Any) -> Any:
    for i in parallel(a.shape[0]):
        tmp = allocate((5,), "float64", "local")
        for j in range(5):
            tmp[(i + j) % 5] = tmp[j] + a[i] * j
        total = 0.0
        for j in range(5):
            total = total * 2.0 + tmp[j]
        out[i] = total


@hybrid.script
def with_large_scratch(a: Any, out: Any) -> Any:
    for i in parallel(a.shape[0]):
        tmp = allocate((20_000,), "float64")
        for j in range(i * 17 % 100):
            tmp[j * 199] = a[i] + j
        total = 0.0
        for j in range(100):
            total += tmp[j * 199]
        out[i] = total


@hybrid.script
def backwards(a: Any, out: Any) -> Any:
    for i in parallel(a.shape[0] - 1, -1, -1):
        out[i] = a[i] - i
    for j in parallel(1, a.shape[0], 3):
        out[j] = out[j] * 2.0


@hybrid.script
def triangle(out: Any) -> Any:
    n = out.shape[0]
    for i in parallel(n):
        for j in range(i):
            if (i + j) % 3 == 0:
                continue
            out[i, j] = i * 10 + j


@hybrid.script
def nested(out: Any) -> Any:
    for i in parallel(out.shape[0]):
        for j in parallel(out.shape[1]):
            out[i, j] = i * 100 + j


@hybrid.script
def captures(a: Any, z: Any, flag: Any, out: Any) -> Any:
    if flag:
        shift = z * 2
    for k in range(2):
        row = k * 3
        for i in parallel(a.shape[0]):
            out[k, i] = z * a[i] + row + TABLE[i % 8]
            if flag:
                out[k, i] += shift  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def small_types(h: Any, b: Any, t: Any) -> Any:
    for i in parallel(h.shape[0]):
        h[i] = h[i] * h[i]
        b[i] = b[i] + b[i]
        t[i] = not t[i]


@hybrid.script
def runs_of_while(a: Any, out: Any) -> Any:
    for i in parallel(a.shape[0]):
        n = 0
        x = a[i]
        while x > 1.0 and n < 40:
            x = x * 0.5
            n += 1
        out[i] = n


@hybrid.script
def two_loops(a: Any) -> Any:
    made = output_tensor(a.shape, "float64")
    middle = allocate(a.shape, "float64")
    for i in parallel(a.shape[0]):
        middle[i] = a[i] * 2.0
    for i in parallel(a.shape[0]):
        made[i] = middle[a.shape[0] - 1 - i] + 1.0
    return made


# -- reductions ----------------------------------------------------------------------------------


@hybrid.script
def integer_sums(a: Any, out: Any) -> Any:
    total = 0
    product = 1
    for i in parallel(a.shape[0]):
        total += a[i]
        product *= a[i] * 2 + 1
        out[0] = out[0] - a[i]
    return total, product


@hybrid.script
def bits(a: Any) -> Any:
    both = -1
    some = 0
    odd = 0
    for i in parallel(a.shape[0]):
        both &= a[i]
        some |= a[i]
        odd ^= a[i]
    return both, some, odd


@hybrid.script
def extremes(a: Any, low: Any, high: Any, first: Any, best: Any) -> Any:
    for i in parallel(a.shape[0]):
        low[0] = min(low[0], a[i])
        high[0] = np.maximum(high[0], a[i])
        first[0] = np.minimum(a[i], first[0])
        best[0] = a[i] if a[i] > best[0] else best[0]


@hybrid.script
def truths(a: Any) -> Any:
    every = True
    some = False
    for i in parallel(a.shape[0]):
        every = every and a[i] > -90
        some = some or a[i] > 80
    return every, some


@hybrid.script
def rows(a: Any, out: Any) -> Any:
    for k in range(out.shape[0]):
        for i in parallel(1, a.shape[0]):
            for j in range(a.shape[1]):
                if j != i:
                    out[k] += a[i, j] * (k + 1)


@hybrid.script
def strided_sum(a: Any) -> Any:
    total = 0
    for i in parallel(a.shape[0] - 1, 0, -2):
        total += a[i] * i
    return total


@hybrid.script
def own_rows(a: Any, out: Any) -> Any:
    for i in parallel(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += a[i, j]


def line(n: int) -> Any:
    return np.random.default_rng(n).integers(-100, 100, n)


def floats(n: int) -> Any:
    values = line(n) / 8
    values[::5] = 0.0
    values[1::5] = -0.0
    values[3::11] = np.nan
    return values


def table(n: int) -> Any:
    return np.random.default_rng(n).integers(-9, 9, (n, 3))


INDEPENDENT = (
    Program(scaled, lambda n: (floats(n), 2.5, np.zeros(n))),
    Program(scaled, lambda n: (line(2 * n)[::2], 3, np.zeros(3 * n)[::-3])),
    Program(with_scratch, lambda n: (floats(n), np.zeros(n))),
    Program(with_large_scratch, lambda n: (floats(min(n, 31)), np.zeros(min(n, 31)))),
    Program(backwards, lambda n: (floats(n), np.ones(n))),
    Program(triangle, lambda n: (np.zeros((n, n), np.int32),)),
    Program(nested, lambda n: (np.zeros((n, 3), np.int16),)),
    Program(captures, lambda n: (line(n), 2 - 1j, True, np.zeros((2, n), complex))),
    Program(captures, lambda n: (line(n), 2 - 1j, False, np.zeros((2, n), complex))),
    Program(
        small_types,
        lambda n: (
            floats(n).astype(np.float16),
            floats(n).astype(ml_dtypes.bfloat16),
            line(n) > 0,
        ),
    ),
    Program(runs_of_while, lambda n: (np.abs(line(n)) * 1e9, np.zeros(n, np.int64))),
    Program(two_loops, lambda n: (floats(n),)),
)

REDUCTIONS = (
    Program(integer_sums, lambda n: (line(n), np.full(1, 7))),
    Program(integer_sums, lambda n: (line(n).astype(np.int8), np.full(1, 7, np.int8))),
    Program(bits, lambda n: (line(n),)),
    Program(extremes, lambda n: (floats(n), *(np.zeros(1) for _ in range(4)))),
    Program(extremes, lambda n: (floats(n), *(np.full(1, np.nan) for _ in range(4)))),
    Program(extremes, lambda n: (line(n).astype(np.int16), *(np.zeros(1, np.int16),) * 4)),
    Program(truths, lambda n: (line(n),)),
    Program(rows, lambda n: (table(n), np.zeros(2, np.int64))),
    Program(strided_sum, lambda n: (line(n),)),
    Program(own_rows, lambda n: (table(n), np.zeros(n, np.int64))),
)
PROGRAMS = INDEPENDENT + REDUCTIONS
