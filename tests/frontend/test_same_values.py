"""Masks that say the same are the same, scalar arithmetic included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.frontend.arrays.same_values import prove_same
from hybridjit.ir.dtype import INT64
from hybridjit.ir.expr import Add, Buffer, Const, Load, Var
from hybridjit.ir.stmt import Let, Store
from tests.support.array_results import assert_agree

Values = Any


def folded_back(x: Values, size: float, limits: Values) -> Values:
    x[x > size / 2] = x[x > size / 2] - size
    x[x < -size / 2] += size
    return x.sum()


def limits_in_memory(x: Values, size: float, limits: Values) -> None:
    x[x > limits[0] * 2] = x[x > limits[0] * 2] - limits[1]


def names_of_limits(x: Values, size: float, limits: Values) -> None:
    half = size / 2
    for _ in range(2):
        half = half - 0.25
        x[(x > half - 1) & (x < half + 1)] = -x[(x > half - 1) & (x < half + 1)]


def several_operands(x: Values, size: float, limits: Values) -> None:
    y = x[::-1] * 2
    x[y > size * 0.25] = x[y > size * 0.25] + y[y > size * 0.25]


@pytest.mark.parametrize("length", [1, 15, 40])
@pytest.mark.parametrize(
    "function", [folded_back, limits_in_memory, names_of_limits, several_operands]
)
def test_as_in_numpy(function: Any, length: int) -> None:
    kernel: Any = hybrid.script(function)
    x = np.random.default_rng(length).standard_normal(length) * 4
    assert_agree(kernel, [x, 4.0, np.array([0.5, 3.0])])


def other_numbers(x: Values, size: float) -> None:
    x[x > size / 2] = x[x > size / 3] - size


def other_operators(x: Values, size: float) -> None:
    x[x > size / 2] = x[x >= size / 2] - size


@pytest.mark.parametrize("function", [other_numbers, other_operators])
def test_masks_that_differ_may_select_as_many_elements(function: Any) -> None:
    kernel: Any = hybrid.script(function)
    assert_agree(kernel, [np.array([0.5, 5.0, 0.25, 7.0]), 4.0])
    if function is other_numbers:
        with pytest.raises(ValueError, match="do not fit: sizes 2 and 1"):
            kernel(np.array([1.5, 5.0, 0.25]), 4.0)


A = Buffer("a", INT64, (Const(3),))
LOAD = Load(A, (Const(0),))
X, Y, Z = (Var(name, INT64) for name in "xyz")


def test_what_is_read_again_is_the_same_until_it_is_written() -> None:
    values = {X: LOAD, Y: LOAD}
    store = Store(A, (Const(1),), Const(7))
    assert prove_same(X, Y, values, [Let(X, LOAD), Let(Y, LOAD)])
    assert not prove_same(X, Y, values, [Let(X, LOAD), store, Let(Y, LOAD)])
    assert not prove_same(X, Y, values, [Let(Y, LOAD)])  # who knows what came before


def test_arithmetic_of_other_names() -> None:
    values = {X: Add(Z, Const(1)), Y: Add(Z, Const(1))}
    assert prove_same(X, Y, values, [])
    assert not prove_same(X, Z, values, [])
