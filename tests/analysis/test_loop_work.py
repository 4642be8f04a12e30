"""What loops do in one call, counted before it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.runtime.report import LoopReport

V: Any = np.ones(40)


def loops_of(function: Any, *args: Any) -> list[LoopReport]:
    kernel: Any = hybrid.script(function)
    return list(kernel.report(*args).loops)


def triangle(a: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        for j in range(i):
            out[i] = out[i] + a[i, 0] * a[j, 1]


def test_a_triangle_has_half_of_the_square() -> None:
    outer, inner = loops_of(triangle, np.ones((40, 2)), V.copy())
    pairs = 40 * 39 // 2
    assert inner.work is not None
    assert inner.work.flops == 2 * pairs
    assert inner.work.runs == 40
    assert outer.work is not None
    assert outer.work.flops == inner.work.flops
    assert outer.work.share == 1


def steps(a: Any, n: Any) -> None:
    for _ in range(n):
        for i in range(a.shape[0]):
            a[i] = a[i] * 2.0 + 1.0


def test_numbers_of_a_call_count() -> None:
    outer, inner = loops_of(steps, V.copy(), 7)
    assert inner.work is not None
    assert (inner.work.runs, inner.work.flops, inner.work.bytes) == (7, 7 * 80, 7 * 320)
    assert outer.work is not None
    assert outer.work.bytes == 320  # the array stays in the cache
    assert outer.work.footprint == 320


def searched(a: Any) -> Any:
    n = 0
    while a[n] > 0:
        for i in range(3):
            a[i] += 1.0
        n += 1
    for i in range(a.shape[0]):
        a[i] = 2.0 * a[i]
    return n


def test_what_only_a_run_tells_has_no_numbers() -> None:
    around, inside, after = loops_of(searched, np.zeros(40))
    assert around.work is inside.work is None
    assert after.work is not None
    assert after.work.flops == 40
    assert after.work.share is None


def product(a: Any, b: Any, c: Any) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def test_each_element_counts_once() -> None:
    outer = loops_of(product, np.ones((40, 20)), np.ones((20, 30)), np.zeros((40, 30)))[0]
    assert outer.work is not None
    assert outer.work.flops == 2 * 40 * 20 * 30
    assert outer.work.bytes == 8 * (40 * 20 + 20 * 30 + 40 * 30)


def test_shares_add_up_to_all() -> None:
    def several(a: Any) -> Any:
        b = np.empty_like(a)
        for i in range(a.shape[0]):
            b[i] = np.exp(a[i])
        for i in range(1, a.shape[0]):
            b[i] += b[i - 1]
        return b

    works = [loop.work for loop in loops_of(several, V)]
    shares = [work.share or 0 for work in works if work is not None]
    assert len(shares) == 2
    assert sum(shares) == pytest.approx(1, abs=0.05)  # the rest is outside of loops


def test_complex_numbers_take_more() -> None:
    def scaled(a: Any) -> Any:
        return a * 2j

    (loop,) = loops_of(scaled, np.ones(10, complex))
    assert loop.work is not None
    assert loop.work.flops == 60


def compared(a: Any, b: Any) -> Any:
    return a < b


def counted(a: Any, b: Any) -> Any:
    n = 0
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            n += 1
    return n


def clipped(a: Any, b: Any) -> Any:
    return np.maximum(a, b)


@pytest.mark.parametrize("function", [compared, counted, clipped], ids=lambda f: f.__name__)
def test_comparisons_of_floats_are_operations(function: Any) -> None:
    (loop,) = loops_of(function, V, V)
    assert loop.work is not None
    assert loop.work.flops == 40


def test_comparisons_of_integers_are_not_of_floats() -> None:
    (loop,) = loops_of(compared, V.astype(np.int64), V.astype(np.int64))
    assert loop.work is not None
    assert loop.work.flops == 0
    assert loop.work.operations > 40


@pytest.mark.parametrize(("exponent", "flops"), [(2, 1), (3, 2), (0.5, 1)])
def test_powers_that_are_written_out(exponent: float, flops: int) -> None:
    def powers(a: Any) -> Any:
        out = np.empty_like(a)
        for i in range(a.shape[0]):
            out[i] = a[i] ** exponent
        return out

    (loop,) = loops_of(powers, V)
    assert loop.work is not None
    assert loop.work.flops == 40 * flops
