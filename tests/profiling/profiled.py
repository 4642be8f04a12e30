"""Kernels to profile, each with its argument: `KERNELS` as people write them, `NESTS` of loops that
have few iterations around others that are just long enough for counters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

np: Any = numpy
N = 2_000_000
A = np.linspace(0.0, 1.0, N)
M = np.linspace(0.0, 1.0, 900 * 900).reshape(900, 900)


def exponentials(a: Any) -> Any:
    return (np.exp(a) + np.log(a + 1.0)).sum()


def recurrence(a: Any) -> Any:
    x = 0.0
    for i in range(a.shape[0]):
        x = 0.5 * x + a[i]
    return x


def two_loops(a: Any) -> Any:
    b = np.empty_like(a)
    for i in range(a.shape[0]):
        b[i] = np.sin(a[i])
    x = 0.0
    for i in range(a.shape[0]):
        x = x * b[i] + 1.0
    return x


def gathered(a: Any) -> Any:
    x = 0.0
    for i in range(a.shape[0]):
        x += a[i * 7919 % N]
    return x


def product(m: Any) -> Any:
    return (m @ m).sum()


def heat(m: Any) -> Any:
    a, b = m.copy(), m.copy()
    for _ in range(20):
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a, b = b, a
    return a.sum()


def triangle(m: Any) -> Any:
    x = 0.0
    for i in range(m.shape[0]):
        for j in range(i):
            x = np.exp(x * m[i, j] - m[j, i])
    return x


def searched(a: Any) -> Any:
    n = 0
    for _ in range(12):
        for i in range(a.shape[0]):
            if a[i] > 0.999:
                break
            n += i
    return n


def returns_inside(a: Any) -> Any:
    x = 0.0
    for i in range(a.shape[0]):
        x = x * 0.5 + a[i]
        if i == 1_900_000:
            return x
    return 0.0


def smallest(m: Any) -> Any:
    best = np.ones(m.shape[0])
    for i in range(m.shape[0]):
        for j in range(m.shape[0]):
            best[j] = min(best[j], np.exp(np.sin(m[i, j]) * np.cos(m[j, i])))
    return best


KERNELS: dict[Callable[..., Any], Any] = {
    **dict.fromkeys((exponentials, recurrence, two_loops, gathered, searched, returns_inside), A),
    **dict.fromkeys((product, heat, triangle, smallest), M),
}


def one_in_one(a: Any) -> Any:
    x = 0.0
    for i in range(100):
        for _ in range(1):
            for _ in range(1):
                for k in range(4700):
                    x = x * 0.5 + a[k + i]
    return x


def two_in_two(a: Any) -> Any:
    x = 0.0
    for i in range(20):
        for _ in range(2):
            for _ in range(2):
                for k in range(4700):
                    x = x * 0.5 + a[k + i]
    return x


def small_product(m: Any) -> Any:
    return m[:128, :128] @ m[:128, :128]


NESTS: dict[Callable[..., Any], Any] = {one_in_one: A, two_in_two: A, small_product: M}
