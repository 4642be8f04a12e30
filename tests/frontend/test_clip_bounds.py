"""Bounds of np.clip that a type of integers does not hold: Python's ints are ignored there."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.support.array_results import assert_agree

np: Any = numpy
Values = Any
TYPES = ("int8", "uint8", "uint16", "int32", "int64", "uint64", "float32")


@hybrid.script
def constants(x: Values) -> Values:
    return np.clip(x, -1, 300), np.clip(x, -(2**70), 2**70), x.clip(-5), x.clip(max=3000000000)


@hybrid.script
def arguments(x: Values, low: Values, high: Values) -> Values:
    return np.clip(x, low, high)


@hybrid.script
def loop_variables(x: Values) -> Values:
    result = np.zeros_like(x)
    for i in range(x.shape[0]):
        result[i] = np.clip(x[i], i - 2, i + 300)
    return result


def numbers(dtype: str) -> Any:
    return (np.arange(67) * 37 % 256).astype(dtype)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", TYPES)
def test_python_ints_beyond_the_type(dtype: str) -> None:
    x = numbers(dtype)
    for kernel in (constants, loop_variables):
        for size in (0, 1, 67):
            assert_agree(kernel, [x[:size]])
    for bounds in ((-1, 300), (-1, 10), (2, 70000), (-1.5, 300), (None, 300), (-1, None)):
        assert_agree(arguments, [x, *bounds])


def test_a_bound_that_no_element_can_meet_is_refused() -> None:
    x = numbers("uint8")
    for bounds in ((300, 400), (-9, -5), (None, -1)):
        for call in (arguments.py_func, arguments, arguments.interpret):
            with pytest.raises(OverflowError, match=r"Python integer .* out of bounds for uint8"):
                call(x, *bounds)
