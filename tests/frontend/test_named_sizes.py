"""Sizes that are computed from numbers of the caller are known by their names."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.support.array_results import assert_agree

np: Any = numpy


@hybrid.script
def added(k: int) -> Any:
    a = np.arange(k + 1)
    n = a.shape[0]
    b = np.ones(n)
    m = len(b)
    for i in range(m):
        b[i] += a[n - 1 - i]
    return a + b[:n]


@hybrid.script
def triangle(k: int) -> Any:
    a = np.zeros((2 * k + 1, k - 1))
    rows, columns = a.shape
    for i in range(rows):
        for j in range(min(i, columns)):
            a[i, j] = i - j
    return a[:rows], a[: rows // 2, columns - 1 :]


@hybrid.script
def inverse(k: int) -> Any:
    a = np.eye(k + 1) * 3.0
    a[0] += 1.0
    return np.linalg.inv(a) @ a


KERNELS = [added, triangle, inverse]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_results(kernel: Any) -> None:
    for k in (1, 2, 5, 16, 0, -1, -7):
        assert_agree(kernel, [k])


def test_no_shapes_to_compare() -> None:
    text = str(added.prim_func(5))
    assert "ValueError" not in text
    assert "n =" not in text


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_no_second_versions(kernel: Any) -> None:
    """Neither sums of numbers of the caller nor names for them make loops that are tested first."""
    if kernel is not inverse:  # whose pivots are found at run time
        assert "checked_index" not in kernel.inspect("lowered", 5)
    assert kernel.inspect("lowered", 5).count("checked_index") < 20
