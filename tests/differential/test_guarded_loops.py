"""Guarded loops, natively, against plain Python: no lane may look behind its guard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hybridjit import hybrid
from tests.corpus.case import Array
from tests.support.oracle import run_native
from tests.support.own_process import run_program

n, m = 4, 16


@hybrid.script
def window(X: Array, P: Array, H: Array, G: Array) -> None:
    for i in range(n):
        for j in range(m):
            G[i, j] = 0.0
            for c in range(2):
                for d in range(2):
                    if i - c >= 0 and i - c < n - 1 and j - d >= 0 and j - d < m - 1:
                        G[i, j] = G[i, j] + H[i - c, j - d] * X[i, j] + P[i - c, j - d]


def test_a_window_that_is_cut_at_the_edges() -> None:
    numbers = np.random.default_rng(0)
    args: list[Any] = [
        numbers.integers(0, 5, shape).astype("float32")
        for shape in ((n, m), (n - 1, m - 1), (n - 1, m - 1), (n, m))
    ]
    expected = [array.copy() for array in args]
    window.py_func(*expected)
    run_native(window, *args)
    np.testing.assert_array_equal(args[3], expected[3])


DIVIDED = """
import numpy as np
from hybridjit import hybrid

@hybrid.script
def kernel(A, B, D):
    n, m = B.shape
    for i in range(A.shape[0]):
        for k in range(m):
            if D[k] > 0:
                A[i, k] += B[i % n, k]

numbers = np.random.default_rng(0)
for m in (20, 33, 70):
    for positive in (-1.0, 0.0, 1.0):
        D = numbers.standard_normal(m)
        D[0] = positive
        B = numbers.random((m // 8, m))
        A, expected = np.zeros((9, m)), np.zeros((9, m))
        kernel.py_func(expected, B, D)
        kernel(A, B, D)
        np.testing.assert_array_equal(A, expected)
print("done")
"""


def test_a_guarded_index_with_a_rest(tmp_path: Path) -> None:
    """In a process of its own: where the guard is not kept, it reads anywhere."""
    assert run_program(tmp_path, DIVIDED) == "done\n"


CONTRADICTORY = """
import numpy as np
from hybridjit import hybrid
from hybridjit.hybrid import prange

@hybrid.script
def kernel(a, b):
    for i in range(a.shape[0]):
        for j in prange(a.shape[1]):
            w = np.zeros(2, b.dtype)
            for k in range(2):
                if j - k >= 0:
                    w[k] = a[i, j] - a[i, j - k]
            if w[0] > w[1]:
                w[0], w[1] = w[1], w[0]
            b[i, j] = w[0] - w[1]

a = np.random.default_rng(0).integers(-9, 9, (4, 5000)).astype("int8")
b, expected = np.zeros_like(a), np.zeros_like(a)
kernel.py_func(a, expected)
kernel(a, b)
np.testing.assert_array_equal(b, expected)
print("done")
"""


def test_guards_that_contradict_each_other(tmp_path: Path) -> None:
    """In a process of its own: LLVM 22 can end it while it looks at what is never run."""
    assert run_program(tmp_path, CONTRADICTORY) == "done\n"
