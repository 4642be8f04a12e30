"""Arrays whose sizes are read from memory that changes afterwards: they keep those they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.hybrid import allocate, output_tensor

Array = Any


@hybrid.script
def from_an_element(p: Array, c: Array) -> None:
    t = allocate((p[0],), "int64")
    p[0] = 100000
    c[0] = t.shape[0]
    t[p[1]] = 7
    c[1] = t[p[1] - 1]


@hybrid.script
def from_two_elements(p: Array, c: Array) -> None:
    t = allocate((p[0], p[2] + 1), "int64", "local")
    for i in range(2):
        p[2] = 900
        t[i, p[1]] = i + 1
    c[0], c[1] = t.shape


@hybrid.script
def from_a_variable(p: Array, c: Array) -> None:
    n = p[0]
    t = allocate((n,), "int64")
    while n < 1000:
        n += 100
        t[p[1]] = n
    c[0] = len(t)


@hybrid.script
def of_a_result(p: Array, c: Array) -> Array:
    t = output_tensor((p[0],), "int64")
    p[0] = 1000
    t[p[1]] = 5
    c[0] = t.shape[0]
    return t


@hybrid.script
def in_a_loop(p: Array, c: Array) -> None:
    for i in range(2):
        t = allocate((p[0],), "int64")
        for j in range(2):
            t[j] = p[1] + j
        c[i] = t[p[0] - 1] + t[0]
        p[0] = 6


KERNELS = [from_an_element, from_two_elements, from_a_variable, of_a_result, in_a_loop]


def _arguments(index: int) -> list[Array]:
    return [np.array([3, index, 2]), np.zeros(2, np.int64)]


def _outcome(call: Any, args: Sequence[Array]) -> list[Any]:
    try:
        return [call(*args), *args]
    except IndexError:
        return [IndexError]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("index", [1, 2, -1, 3, 500])
def test_results(kernel: Any, index: int) -> None:
    """Elements that are beyond the end are neither read nor written."""
    expected = _outcome(kernel.py_func, _arguments(index))
    for call in (kernel, kernel.interpret):
        for found, wanted in zip(_outcome(call, _arguments(index)), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_such_an_array_is_not_made_further_out() -> None:
    s = in_a_loop.schedule(*_arguments(1))
    with pytest.raises(hj.ScheduleError, match="the size of 't' depends on a loop"):
        s.compute_root("t")
