"""Kernels of numerical Python, decorated without an edit: equal to NumPy on data of our own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from tests.array_results import assert_agree
from tests.npbench import kernels

RNG = np.random.default_rng(3)
Array = Any


def f(*shape: int) -> Array:
    return RNG.random(shape) + 0.1


def f32(*shape: int) -> Array:
    return f(*shape).astype(np.float32)


def definite(n: int) -> Array:
    half = f(n, n)
    return half @ half.T + n * np.eye(n)


def sparse(n: int) -> tuple[Any, ...]:
    counts: Any = RNG.integers(0, 4, n)
    rows: Any = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32)
    columns: Any = RNG.integers(0, n, int(rows[-1]))
    return rows, columns.astype(np.uint32), f(int(rows[-1])), f(n)


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "atax": (f(5, 7), f(7)),
    "azimint_naive": (f(40), f(40), 6),
    "cholesky": (definite(9),),
    "conv2d_bias": (f32(2, 6, 7, 3), f32(2, 2, 3, 4), f32(4)),
    "correlation": (5, 8.0, f(8, 5)),
    "doitgen": (3, 4, 5, f(3, 4, 5), f(5, 5)),
    "durbin": (f(9),),
    "fdtd_2d": (4, f(5, 7), f(5, 7), f(5, 7), f(4)),
    "floyd_warshall": (RNG.integers(1, 30, (7, 7)).astype(np.int32),),
    "gemm": (1.5, 0.5, f(3, 4), f(3, 5), f(5, 4)),
    "gemver": (1.5, 0.5, f(6, 6), *(f(6) for _ in range(8))),
    "gesummv": (1.5, 0.5, f(6, 6), f(6, 6), f(6)),
    "go_fast": (f(7, 7),),
    "gramschmidt": (f(7, 5),),
    "jacobi_1d": (6, f(11), f(11)),
    "jacobi_2d": (4, f(7, 7), f(7, 7)),
    "k2mm": (1.5, 0.5, f(3, 4), f(4, 5), f(5, 6), f(3, 6)),
    "lu": (definite(8),),
    "mvt": (f(6), f(6), f(6), f(6), f(6, 6)),
    "nussinov": (9, RNG.integers(0, 4, 9).astype(np.int32)),
    "seidel_2d": (4, 7, f(7, 7)),
    "softmax": (f32(2, 3, 4, 5),),
    "spmv": sparse(9),
    "symm": (1.5, 0.5, f(5, 6), f(5, 5), f(5, 6)),
    "syrk": (1.5, 0.5, f(6, 6), f(6, 4)),
    "vadv": (f(3, 4, 5), f(3, 4, 5), f(4, 4, 5), f(3, 4, 5), f(3, 4, 5), 0.15),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_unchanged_source(name: str):
    kernel: Any = hybrid.script(getattr(kernels, name))
    assert_agree(kernel, ARGUMENTS[name])
