"""Functions of Python and NumPy whose calls are translated in a way of their own."""

import math
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid


@hybrid.script
def largest(a: Any) -> Any:
    found = np.iinfo(a.dtype).min
    for i in range(len(a)):
        found = max(found, a[i])
    return found


@hybrid.script
def limits(a: Any) -> Any:
    return np.finfo(a.dtype).eps, np.finfo(np.float16).max, np.iinfo("uint8").max, np.iinfo(int).min


@hybrid.script
def logarithm(x: Any, base: Any) -> Any:
    return math.log(x, base)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16"])
def test_the_limits_of_integers_are_python_numbers(dtype: str) -> None:
    a = np.array([3, 7, 5], dtype)
    for run in (largest, largest.interpret, largest.py_func):
        result: Any = run(a)
        assert (result.dtype, result) == (dtype, 7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_limits_of_floats_have_their_type(dtype: str) -> None:
    a = np.zeros(1, dtype)
    expected = limits.py_func(a)
    for run in (limits, limits.interpret):
        result = run(a)
        assert result == expected
        assert [type(item) for item in result] == [type(item) for item in expected]


@pytest.mark.parametrize(("x", "base"), [(8.0, 2), (7, 3), (np.float32(3), np.int8(5))])
def test_a_logarithm_may_have_a_base(x: Any, base: Any) -> None:
    assert logarithm.interpret(x, base) == logarithm.py_func(x, base)
    assert logarithm(x, base) == pytest.approx(math.log(x, base), rel=1e-15)


@hybrid.script
def sum_first(x: Any, all_of_them: Any) -> Any:
    total = 0.0
    for i in range(max(min(True, 2), min(all_of_them, len(x)) * 0)):
        total += x[i]
    return total, math.comb(3, True)


def test_bools_beside_numbers_are_numbers() -> None:
    x = np.array([2.0, 3.0])
    for run in (sum_first, sum_first.interpret, sum_first.py_func):
        assert run(x, True) == (2, 3)
