"""Divisions before the loops that need them: only where they cannot fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid, parse
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.lowering.check_bounds import check_bounds
from hybridjit.lowering.hoist_divisions import hoist_divisions
from tests.corpus.case import Array
from tests.lowering.ways import assert_native_agrees


@hybrid.script
def next_row(u: Array, r: Array, k: Any) -> None:
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            r[i, j] = u[(i + 1) % u.shape[0], j] + u[(i + k) // u.shape[0] * 0, j]


@hybrid.script
def row_by_a_number(u: Array, r: Array, k: Any) -> None:
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            r[i, j] = u[i % k, j]


@hybrid.script
def named_row(u: Array, r: Array, k: Any) -> None:
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            below = (i + 1) % u.shape[0]
            column = j % 3
            r[i, j] = u[below, j] + column


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (1, 1), (3, 17), (20, 40)])
@pytest.mark.parametrize("number", [0, 1, 3, -1, 2**63 - 1])
@pytest.mark.parametrize("kernel", [next_row, row_by_a_number, named_row])
def test_as_in_python(kernel: Any, shape: tuple[int, int], number: int) -> None:
    """A number that is 0 is an error only if something is divided by it."""
    u = np.random.default_rng(0).random(shape)
    assert_native_agrees(kernel, u, np.zeros(shape), np.int64(number))


def test_golden(golden: Any) -> None:
    func = parse(
        """
def f(u: float64["n", "m"], r: float64["n", "m"], k: int):
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            r[i, j] = u[(i + 1) % u.shape[0], j] + i % k
"""
    )
    golden.check(str(hoist_divisions(check_bounds(lower_blocks(func)))), "ir")
