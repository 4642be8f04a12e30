"""Slices whose step, or whose far ends, are known only when the script runs, against NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.support.array_results import assert_agree

np: Any = numpy
RNG = np.random.default_rng(31)
Array = Any
VECTOR, MATRIX = RNG.random(11), RNG.random((5, 7))
STEPS = (1, 2, 3, 12, -1, -2, -12, 0)


def read(v: Array, n: int):
    return v[::n].sum(), v[2:9:n].max(initial=0), v[9:2:n].max(initial=0), v[-3::n].sum()


def written(v: Array, n: int):
    v[1::n] = 5.0
    v[::n] += 1
    v[::n][1:] *= 2


def rows(a: Array, n: int):
    b = a[::n, ::-2]
    return b.sum(axis=0), (a.T[::n] * 2).sum()


def overlapping(v: Array, n: int):
    v[: len(v[::n])] = v[::n]


def sieve(n: int):
    is_prime = np.ones(n, np.bool_)
    is_prime[:2] = False
    for k in range(2, n):
        if is_prime[k]:
            is_prime[k * k :: k] = False
    return is_prime.sum()


CASES: list[tuple[Any, ...]] = [
    *((read, VECTOR, n) for n in STEPS),
    *((written, VECTOR, n) for n in STEPS),
    *((rows, MATRIX, n) for n in STEPS),
    *((overlapping, VECTOR, n) for n in STEPS),
    (sieve, 60),
]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}{case[-1]}")
def test_agrees_with_numpy(case: tuple[Any, ...]):
    function, *args = case
    kernel: Any = hybrid.script(function)
    assert_agree(kernel, args)


FAR = (-(2**63), -(2**62) - 9, -1, 1, 2**62, 2**63 - 1)


def upward(v: Array, k: int, n: int):
    return len(v[k:n]), v[k:n].sum(), v[k:n:2].sum(), v[1:n].sum(), v[k:n][1:].max(initial=0)


def downward(v: Array, k: int, n: int):
    return len(v[k:n:-1]), v[k:n:-1].sum(), v[k:n:-2].sum(), v[k:1:-1].sum()


def stepping(v: Array, k: int, n: int):
    return len(v[k::n]), v[k::n].sum(), v[::n].sum(), v[:k:n].sum()


def set_far(v: Array, k: int, n: int):
    v[k:n] += 1.0
    v[k::n] = 5.0


@pytest.mark.parametrize("function", [upward, downward, stepping, set_far])
@pytest.mark.parametrize("size", [0, 1, 7])
def test_ends_and_steps_of_any_size(function: Any, size: int):
    """What lies between numbers that are as far apart as int64 allows is counted all the same."""
    kernel: Any = hybrid.script(function)
    for k, n in product(FAR, FAR):
        assert_agree(kernel, [np.arange(1.0, size + 1), k, n])
