"""Names that get different arrays in different branches, against plain Python."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.support.array_results import assert_agree

np: Any = numpy
RNG = np.random.default_rng(23)
Array = Any
VECTOR, OTHER, MATRIX = RNG.random(4), RNG.random(4), RNG.random((4, 4))


def same_shape(a: Array, c: bool):
    if c:  # noqa: SIM108
        x = a * 2
    else:
        x = a[::-1] + 1
    return x


def chosen(a: Array, b: Array, c: bool):
    if c:  # noqa: SIM108
        x = a
    else:
        x = b
    x[0] = 9.0
    return x.sum()


def other_shape(a: Array, c: int):
    if c == 0:
        x = a * 2
    elif c == 1:
        x = a[1:] * 3
    else:
        x = a[:, None] * a
    y = x + 1
    return y.sum() * x.max()


def other_type(a: Array, c: bool):
    if c:  # noqa: SIM108
        x = a * 2
    else:
        x = a > 0.5
    return x.sum() + 1.0


def run_time_sizes(n: int, m: int, a: Array):
    total = 0.0
    for k in range(3):
        if n == m:  # noqa: SIM108
            x = np.full((n, n), 2.0)
        else:
            x = a * k
        if k > 1:
            x = -x
        total += x.sum()
    return total


def number_or_array(a: Array, c: bool):
    if c:  # noqa: SIM108
        x = 2.0
    else:
        x = a + 1
    y = a * x
    return y.sum()


def row_or_column(m: Array, i: int, c: bool):
    if c:  # noqa: SIM108
        v = m[i]
    else:
        v = m[:, i]
    v += 1
    return v.sum()


def changed_in_one(a: Array, c: bool):
    x = a * 2
    if c:
        x = x[1:] * 3
    return x.sum()


def element_or_array(a: Array, c: bool):
    x = a
    if c:
        x = a[0]
        a[0] = 50.0
    y = a + x
    return y.sum()


def nested(a: Array, c: int):
    total = 0.0
    if c > 0:
        if c > 1:  # noqa: SIM108
            x = a[2:]
        else:
            x = a[1:]
        total += x.sum()
    else:
        x = a
    for v in x:
        total += v
    return total


CASES: list[tuple[Any, ...]] = [
    *((same_shape, VECTOR, c) for c in (True, False)),
    *((chosen, VECTOR, OTHER, c) for c in (True, False)),
    *((other_shape, VECTOR, c) for c in (0, 1, 2)),
    *((other_type, VECTOR, c) for c in (True, False)),
    (run_time_sizes, 4, 4, MATRIX),
    (run_time_sizes, 3, 4, VECTOR),
    *((number_or_array, VECTOR, c) for c in (True, False)),
    *((row_or_column, MATRIX, 2, c) for c in (True, False)),
    *((changed_in_one, VECTOR, c) for c in (True, False)),
    *((element_or_array, VECTOR, c) for c in (True, False)),
    *((nested, VECTOR, c) for c in (0, 1, 2)),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_agrees_with_python(case: tuple[Any, ...]):
    function, *args = case
    kernel: Any = hybrid.script(function)
    assert_agree(kernel, args)
