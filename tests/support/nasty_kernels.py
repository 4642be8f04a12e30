"""Kernels that try to get out of their arrays, and calls with which they should succeed or fail."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit import Kernel, hybrid
from hybridjit.hybrid import allocate, output_tensor

MIN, MAX = -(2**63), 2**63 - 1
AnyKernel = Kernel[..., Any]


@hybrid.script
def one_element(a: Any, i: Any) -> Any:
    return a[i]


@hybrid.script
def one_store(a: Any, i: Any) -> Any:
    a[i] = 1


@hybrid.script
def two_axes(a: Any, i: Any, j: Any) -> Any:
    a[i, j] = a[j, i]


@hybrid.script
def gather(a: Any, index: Any) -> Any:
    total = 0.0
    for i in range(index.shape[0]):
        total += a[index[i]]
    return total


@hybrid.script
def scatter(a: Any, index: Any) -> Any:
    for i in range(index.shape[0]):
        a[index[i]] = i


@hybrid.script
def chase(a: Any, start: Any) -> Any:
    at = start
    for _ in range(20):
        at = a[at]
    return at


@hybrid.script
def stencil(a: Any, b: Any, low: Any, high: Any) -> Any:
    for i in range(low, high):
        b[i] = a[i - 1] + a[i] + a[i + 1]


@hybrid.script
def off_by_one(a: Any) -> Any:
    for i in range(a.shape[0]):
        a[i + 1] = a[i]


@hybrid.script
def backwards(a: Any) -> Any:
    for i in range(a.shape[0] - 1, -1, -1):
        a[i] = a[i - a.shape[0]]


@hybrid.script
def before_the_start(a: Any) -> Any:
    for i in range(a.shape[0]):
        a[i - a.shape[0] - 1] = 0


@hybrid.script
def triangle(a: Any, extra: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(i + extra):
            a[i, j] = i - j


@hybrid.script
def steps(a: Any, start: Any, stop: Any, step: Any) -> Any:
    for i in range(start, stop, step):
        a[i] = i


@hybrid.script
def search(a: Any, x: Any) -> Any:
    i = 0
    while a[i] != x:
        i += 1
    return i


@hybrid.script
def run_away(a: Any, step: Any) -> Any:
    i = 0
    while True:
        a[i] = 1
        i = i * 3 + step


@hybrid.script
def wide(a: Any, factor: Any) -> Any:
    for i in range(a.shape[0]):
        a[i * factor] = i


@hybrid.script
def power_of_two(a: Any) -> Any:
    for i in range(9):
        a[i * 2**62] = i


@hybrid.script
def guard_that_wraps(a: Any, n: Any) -> Any:
    if n >= 0 and n + 1 < 5:
        a[n] = 1


@hybrid.script
def product_that_wraps(a: Any) -> Any:
    for i in range(100):
        if i * 2**62 < 5:
            a[i] = 1


@hybrid.script
def steps_that_wrap(a: Any, n: Any, m: Any) -> Any:
    for i in range(n, m, 2**62):
        if i - n < 4:
            a[i - n] = 1


@hybrid.script
def bound_that_wraps(a: Any, n: Any) -> Any:
    for i in range(n * 4, n * 4 + 3):
        if n >= 0:
            a[i] = 1


@hybrid.script
def quotient_that_wraps(a: Any, n: Any) -> Any:
    for i in range(0, n, 2**61):
        if i * 4 // 8 < 3:
            a[i * 4 // 8] = 1


@hybrid.script
def minimum_that_wraps(a: Any, n: Any) -> Any:
    if n > 0:
        a[max(0, min(n * 4, n + 3))] = 1


@hybrid.script
def changed_behind_the_guard(a: Any, x: Any) -> Any:
    if x[0] // 2 >= 0 and x[0] // 2 < 5:
        x[0] = 10**9
        a[x[0] // 2] = 1


@hybrid.script
def variable_changed_behind_the_guard(a: Any, n: Any) -> Any:
    k = n
    for _ in range(3):
        if min(k, 100) < 5 and max(k, 0) < 5:
            k = k * 7 + 3
            a[min(k, 100)] = 1


@hybrid.script
def wrong_side_of_the_guard(a: Any, n: Any) -> Any:
    if n >= a.shape[0] or n < 0:
        a[n] = 1
    else:
        a[n] = 2


@hybrid.script
def not_quite_guarded(a: Any, n: Any) -> Any:
    if n <= a.shape[0] and n >= 0:
        a[n] = 1


@hybrid.script
def inside_a_condition(a: Any, n: Any) -> Any:
    return a[n] if n >= 0 and n < a.shape[0] else a[0]


@hybrid.script
def second_of_and(a: Any, n: Any) -> Any:
    return n < a.shape[0] and a[n] > 0


@hybrid.script
def remainder(a: Any, n: Any) -> Any:
    for i in range(20):
        a[(i - 10) % 4] = a[i % n]


@hybrid.script
def halves(a: Any) -> Any:
    for i in range(2 * a.shape[0] + 1):
        a[i // 2] = i


@hybrid.script
def local_array(n: Any, i: Any) -> Any:
    b = allocate((n,), "int64")
    b[i] = 3
    return b[n - 1]


@hybrid.script
def huge_local_array(i: Any) -> Any:
    b = allocate((2**40, 2**40), "int8")
    b[i, i] = 1
    return b[0, 0]


@hybrid.script
def local_array_whose_size_wraps(n: Any, i: Any) -> Any:
    b = allocate((n * 4, 4), "int64")
    b[i, 3] = 3
    return b[0, 0]


@hybrid.script
def output(n: Any, i: Any) -> Any:
    b = output_tensor((n, 2), "float32")
    b[i, 1] = 3
    return b


@hybrid.script
def unlike_sizes(a: Any, b: Any) -> Any:
    for i in range(a.shape[0]):
        b[i] = a[i]


@hybrid.script
def scalar_array(a: Any) -> Any:
    a[()] = a[()] + 1


@hybrid.script
def three_axes(a: Any, i: Any) -> Any:
    for j in range(a.shape[1]):
        a[j, i, j] = a[i, j, i]


@hybrid.script
def division_that_is_not_needed(a: Any, n: Any) -> Any:
    k = int(a[0])
    return k // 0 if n > 3 else k % 0 if n > 2 else k


def floats(*shape: int) -> Any:
    count = int(np.prod(shape))
    return np.reshape(np.arange(float(count)), shape)


def ints(*values: int, dtype: Any = np.int64) -> Any:
    return np.array(values, dtype)


EDGES = (0, 4, 5, -1, -5, -6, MAX, MIN, 2**32, 2**61, -(2**32), 2**62 + 1)

NASTY: list[tuple[AnyKernel, list[tuple[Any, ...]]]] = [
    (one_element, [(floats(5), i) for i in EDGES]),
    (one_element, [(floats(5)[::-1], i) for i in EDGES]),
    (one_element, [(floats(10)[::2], np.uint64(i)) for i in (4, 5, 2**63, 2**64 - 1)]),
    (one_element, [(floats(5), i) for i in (np.uint32(2**32 - 1), np.int8(-5), np.int8(-6))]),
    (one_element, [(floats(n), i) for n in (3, 4, 0, 1) for i in (-4, -1, 0, 1, 3, 4)]),
    (one_store, [(ints(1, 2, 3, dtype=np.int8), i) for i in (0, 2, 3, -3, -4, MAX, MIN)]),
    (two_axes, [(floats(3, 4), i, j) for i in (0, 2, -3) for j in (2, 3, -3, -4)]),
    (two_axes, [(floats(4, 3).T, 2, j) for j in (2, 3, -3, -4)]),
    (gather, [(floats(6), ints(0, 5, -6)), (floats(6), ints(0, 6)), (floats(6), ints(3, -7))]),
    (gather, [(floats(6), ints(0, MAX)), (floats(6), ints(MIN)), (floats(6), ints())]),
    (gather, [(floats(6), ints(*v, dtype=np.uint8)) for v in ((0, 5), (255,), (6,))]),
    (gather, [(floats(6), np.array([v], np.uint64)) for v in (5, 2**63, 2**64 - 1)]),
    (gather, [(floats(0), ints(0)), (floats(0), ints())]),
    (scatter, [(floats(6), ints(0, 5, -6)), (floats(6), ints(0, 6)), (floats(6), ints(2, -7))]),
    (scatter, [(floats(12)[::-2], ints(0, 5, -6)), (floats(12)[::-2], ints(6))]),
    (chase, [(ints(1, 2, 0), 0), (ints(1, 2, 3), 0), (ints(1, -4, 3), 0)]),
    (stencil, [(floats(8), floats(8), 1, 7), (floats(8), floats(8), 1, 8)]),
    (stencil, [(floats(8), floats(8), 0, 7), (floats(8), floats(7), 1, 7)]),
    (stencil, [(floats(8), floats(8), -8, 7), (floats(8), floats(8), -7, 1)]),
    (off_by_one, [(floats(5),), (floats(7),), (floats(1),), (floats(0),)]),
    (backwards, [(floats(5),), (floats(9),), (floats(0),)]),
    (before_the_start, [(floats(5),), (floats(9),), (floats(0),)]),
    (triangle, [(floats(4, 4), 0), (floats(4, 4), 1), (floats(4, 4), 2), (floats(6, 5), 0)]),
    (triangle, [(floats(5, 4), 0), (floats(5, 4), -1), (floats(0, 4), 3)]),
    (steps, [(floats(7), 0, 7, 3), (floats(7), 0, 9, 3), (floats(7), 6, -1, -2)]),
    (steps, [(floats(7), 6, -8, -2), (floats(7), 6, -9, -1), (floats(7), MAX, MIN, MIN)]),
    (steps, [(floats(7), MIN, MAX, MAX), (floats(7), 0, MAX, MAX), (floats(7), 0, MIN, -5)]),
    (search, [(floats(5), 4.0), (floats(5), 9.0), (floats(7), 9.0), (floats(0), 1.0)]),
    (run_away, [(floats(50), 1), (floats(60), 1), (floats(60), -1)]),
    (wide, [(floats(5), 0), (floats(5), 1), (floats(5), 2), (floats(5), -1), (floats(5), 2**62)]),
    (wide, [(floats(5), MIN), (floats(6), 2**61), (floats(6), 2**63 // 3)]),
    (power_of_two, [(floats(9),), (floats(3),)]),
    (guard_that_wraps, [(floats(4), n) for n in (3, 4, MAX, -1, MIN)]),
    (product_that_wraps, [(floats(5),), (floats(97),), (floats(96),)]),
    (steps_that_wrap, [(floats(4), MIN, MAX), (floats(4), 0, MAX), (floats(5), MIN, 0)]),
    (bound_that_wraps, [(floats(7), n) for n in (1, 0, 2, 2**62, 2**61, 2**60, MAX)]),
    (quotient_that_wraps, [(floats(3), n) for n in (1, 2**61 + 1, MAX)]),
    (minimum_that_wraps, [(floats(5), n) for n in (1, 2, 2**61, 2**62, MAX)]),
    (changed_behind_the_guard, [(floats(8), ints(3)), (floats(8), ints(30))]),
    (variable_changed_behind_the_guard, [(floats(8), 0), (floats(8), 4), (floats(32), 4)]),
    (wrong_side_of_the_guard, [(floats(5), n) for n in (0, 4, 5, -1, -5, -6, MAX, MIN)]),
    (not_quite_guarded, [(floats(5), n) for n in (0, 4, 5, 6, -1, MAX)]),
    (not_quite_guarded, [(floats(m), m) for m in (3, 4, 0)]),
    (inside_a_condition, [(floats(5), n) for n in (0, 4, 5, -1, MAX, MIN)]),
    (second_of_and, [(floats(5), n) for n in (0, 4, 5, -5, -6, MAX, MIN)]),
    (remainder, [(floats(4), n) for n in (4, 5, -4, -5, MAX, MIN, 0)]),
    (remainder, [(floats(3), 3), (floats(5), 5)]),
    (halves, [(floats(5),), (floats(3),), (floats(0),)]),
    (local_array, [(5, 0), (5, 4), (5, 5), (5, -6), (0, 0), (10**5, 10**5 - 1), (10**5, 10**5)]),
    (huge_local_array, [(0,), (2**39,)]),
    (local_array_whose_size_wraps, [(1, 3), (1, 4), (2**62, 0), (2**62 + 1, 0)]),
    (output, [(3, 0), (3, 2), (3, 3), (3, -3), (3, -4), (0, 0), (5, 5)]),
    (unlike_sizes, [(floats(5), floats(5)), (floats(5), floats(4)), (floats(7), floats(6))]),
    (unlike_sizes, [(floats(7), floats(7)), (floats(3), floats(9)), (floats(1), floats(0))]),
    (scalar_array, [(np.array(3.0),), (np.array(3, np.int8),)]),
    (division_that_is_not_needed, [(floats(3), n) for n in (1, 3, 4)]),
    (three_axes, [(floats(3, 3, 3), i) for i in (0, 2, 3, -3, -4)]),
    (three_axes, [(floats(4, 3, 4).transpose(2, 1, 0), 2), (floats(2, 3, 3), 1)]),
]
