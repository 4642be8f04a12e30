"""Sums over axes without elements, beside axes that fill vectors: zeros, natively as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.corpus.case import Array

np: Any = numpy


@hybrid.script
def outer_and_inner(a: Array) -> Array:
    return np.sum(a, axis=(0, 2))


@hybrid.script
def first(a: Array) -> Array:
    return np.sum(a * 2 + 1, axis=0)


@hybrid.script
def last(a: Array) -> Array:
    return np.sum(a * a, axis=2)


@hybrid.script
def product(a: Array) -> Array:
    return a[0] @ a[0].T if a.shape[0] > 0 else np.zeros((1, 1)) @ np.ones((1, 1))


@hybrid.script
def by_hand(a: Array) -> Array:
    total = np.ones(a.shape[1])
    for i in range(a.shape[0]):
        for k in range(a.shape[2]):
            for j in range(a.shape[1]):
                total[j] += a[i, j, k]
    return total


SHAPES = [(0, 8, 8), (3, 8, 0), (0, 8, 0), (0, 40, 9), (5, 64, 0), (2, 0, 9), (1, 33, 0)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", [outer_and_inner, first, last, product, by_hand])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_sums_of_nothing(kernel: Any, shape: tuple[int, ...], dtype: str) -> None:
    a = np.ones(shape, dtype)
    for _ in range(2):
        found, expected = kernel(a), kernel.py_func(a)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
