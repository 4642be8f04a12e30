"""What scripts written for TVM have besides: its order of bind, inf(dtype), b[i, j] of lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError, TypeMismatch
from hybridjit.hybrid import bind, const_range, output_tensor
from hybridjit.scalars.builtins import max_num_threads, ninf

TABLE: Any = [[1, 2], [3, 4], [5, 6]]
inf: Any  # the language has it


@hybrid.script
def bound(a: Any) -> Any:
    c = output_tensor((2, 8), "float32")
    for i in bind("blockIdx.x", 2):
        for j in bind("threadIdx.x", 2, 8):
            c[i, j] = a[j] + i
    return c


def test_thread_axis_comes_first() -> None:
    a: Any = np.arange(8, dtype="float32")
    wanted = np.stack([a, a + 1])
    wanted[:, :2] = 0
    np.testing.assert_array_equal(bound(a), wanted)
    np.testing.assert_array_equal(bound.py_func(a), wanted)


@hybrid.script
def extremes(a: Any) -> Any:
    least, largest = ninf("int16"), inf("int16")  # noqa: F821
    low, high = ninf("float32"), inf("float32")  # noqa: F821
    for i in range(a.shape[0]):
        high = min(high, a[i])
        low = max(low, a[i])
    return low, high, least, largest


@pytest.mark.parametrize("count", [0, 3])
def test_extremes_of_types(count: int) -> None:
    a: Any = np.array([2, -5, 7], "float32")[:count]
    wanted = (7, -5, -(2**15), 2**15 - 1) if count else (-np.inf, np.inf, -(2**15), 2**15 - 1)
    for found in (extremes(a), extremes.py_func(a)):
        assert tuple(found) == wanted


@hybrid.script
def infinite(a: Any) -> Any:
    a[0] = inf  # noqa: F821
    return inf  # noqa: F821


def test_infinity_is_a_float() -> None:
    """Only where `inf(dtype)` is called is it more than that."""
    for found in (infinite(np.ones(1)), infinite.py_func(np.ones(1))):
        assert type(found) is float


@hybrid.script
def threads(a: Any) -> Any:
    total = 0
    for i in bind(max_num_threads(), "threadIdx.x"):
        total += a[0] * i
    return total


def test_number_of_threads() -> None:
    a: Any = np.ones(1, "int64")
    assert threads(a) == threads.py_func(a) == 1024 * 1023 // 2


@hybrid.script
def nested(a: Any) -> Any:
    c = output_tensor((3, 2), "float32")
    for i in const_range(3):
        for j in const_range(2):
            c[i, j] = a[i] * TABLE[i, j] + TABLE[i][j]
    return c


def test_lists_in_lists_are_indexed_at_once() -> None:
    a: Any = np.arange(3, dtype="float32")
    np.testing.assert_array_equal(nested(a), (a[:, None] + 1) * np.array(TABLE, "float32"))


@hybrid.script
def too_deep(a: Any) -> Any:
    return a[0] * TABLE[0, 1, 0]


@hybrid.script
def without_type(a: Any) -> Any:
    return ninf() + a[0]  # pyright: ignore[reportCallIssue, reportUnknownVariableType]


def test_mistakes() -> None:
    a: Any = np.arange(3, dtype="float32")
    with pytest.raises(TypeMismatch, match="is not nested as deep as it is indexed"):
        too_deep(a)
    with pytest.raises(ParseError, match="ninf takes a type"):
        without_type(a)
