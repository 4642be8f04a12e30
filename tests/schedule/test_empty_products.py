"""gemm of products without rows, terms or columns: sums of nothing are zeros, which are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid, te
from tests.support.oracle import fresh

Shape = tuple[int, int, int]
EMPTY = [(3, 0, 4), (0, 2, 4), (3, 2, 0), (3, 0, 0), (0, 0, 0)]


@hybrid.script
def product(a: Any, b: Any) -> Any:
    return a @ b


@hybrid.script
def by_hand(a: Any, b: Any) -> Any:
    c: Any = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


@hybrid.script
def read_again(a: Any, b: Any) -> Any:
    return np.exp(a @ b) + 1


def steps_of(kernel: Kernel[..., Any]) -> Any:
    return lambda s: s.gemm("c" if kernel.__name__ == "by_hand" else "product")


def hold(kernel: Kernel[..., Any], scheduled: Any, shape: Shape) -> None:
    height, inner, width = shape
    rng = np.random.default_rng(1)
    args = rng.random((height, inner)), rng.random((inner, width))
    expected = kernel.py_func(*args)
    np.testing.assert_allclose(scheduled(*args), expected)
    np.testing.assert_allclose(scheduled.interpret(*args), expected)


@pytest.mark.parametrize("kernel", [product, by_hand, read_again])
def test_known_sizes(kernel: Kernel[..., Any]) -> None:
    for shape in EMPTY:
        hold(kernel, fresh(kernel).with_schedule(steps_of(kernel)), shape)


@pytest.mark.parametrize("kernel", [product, by_hand, read_again])
def test_sizes_of_the_run(kernel: Kernel[..., Any]) -> None:
    scheduled = fresh(kernel).with_schedule(steps_of(kernel))
    for shape in ((5, 6, 7), (40, 50, 60), (9, 8, 3), *EMPTY, (33, 20, 17)):
        hold(kernel, scheduled, shape)


@pytest.mark.parametrize("sizes", [(3, 0, 4), ("n", "l", "m")])
def test_tensors(sizes: tuple[Any, ...]) -> None:
    n, inner, m = (te.var(size) if isinstance(size, str) else size for size in sizes)
    A, B = te.placeholder((n, inner), "float64", "A"), te.placeholder((inner, m), "float64", "B")
    k = te.reduce_axis((0, inner), "k")
    C = te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), "C")
    s = hj.Schedule(te.create_prim_func([A, B, C]))
    s.gemm("C")
    found = np.full((3, 4), 7.0)
    hj.build(s)(np.ones((3, 0)), np.ones((0, 4)), found)
    assert not found.any()
