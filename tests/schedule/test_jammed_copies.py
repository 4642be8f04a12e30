"""Copies of an iteration that are put together: folding may leave less of some than of others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.interp.run import interpret
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk_stmts
from hybridjit.schedule.arrays.unroll_and_jam import make_unroll_and_jam


@hybrid.script
def never(b: Any, d: Any) -> None:
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            if i < i and d[j] == 1:
                b[i, j] = 5.0
            b[i, j] = b[i, j] + d[j]


@hybrid.script
def only_never(b: Any, d: Any) -> None:
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            if i < i and d[j] == 1:
                for k in range(3):
                    b[i, j] = b[i, j] + d[k]


@pytest.mark.parametrize("several", [2, 3, 4])
@pytest.mark.parametrize("kernel", [never, only_never])
def test_copies_of_which_some_are_folded_away(kernel: Any, several: int) -> None:
    d = np.arange(6.0)
    expected, found = np.ones((2, 8, 6))
    func = lower_blocks(kernel.prim_func(found, d))
    loop = next(stmt for stmt in walk_stmts(func.body) if isinstance(stmt, For))
    interpret(replace(func, body=make_unroll_and_jam(loop, several)), [found, d])
    kernel.py_func(expected, d)
    np.testing.assert_array_equal(found, expected)
