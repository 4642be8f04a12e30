"""Loops without their guards: only where a sum that overflows does not hide a guard that fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid, parse
from hybridjit.lowering.version_guards import version_guards
from tests.corpus.case import Array
from tests.lowering.ways import assert_all_ways_agree, assert_native_agrees


@hybrid.script
def shifted_guard(out: Array, k: Any) -> None:
    for i in range(out.shape[0]):
        for j in range(8):
            if i * 8 + j + k < 0:
                out[i, j] = 1


@hybrid.script
def tiles_of_a_number(out: Array, n: int) -> None:
    for i in range((n + 7) // 8):
        for j in range(8):
            if i * 8 + j < n:
                out[i * 8 + j] = i


@hybrid.script
def tiles_of_a_number_in_memory(out: Array, sizes: Array) -> None:
    n = sizes[0]
    for i in range((n + 7) // 8):
        for j in range(8):
            if i * 8 + j < n:
                out[i * 8 + j] = i


@pytest.mark.parametrize("shift", [0, -9, 2**63 - 1, 2**63 - 9, 2**63 - 20, -(2**63)])
def test_a_guard_that_overflows(shift: int) -> None:
    for rows in (0, 1, 4):
        assert_native_agrees(shifted_guard, np.zeros((rows, 8), int), np.int64(shift))


@pytest.mark.parametrize("size", [-1, 0, 1, 8, 15, 33])
def test_numbers_as_bounds(size: int) -> None:
    out = np.zeros(40, int)
    assert_all_ways_agree(tiles_of_a_number, out, size)
    assert_all_ways_agree(tiles_of_a_number_in_memory, out, np.array([size]))


def test_golden(golden: Any) -> None:
    func = parse(
        """
def f(out: int64["n"], k: int):
    for i in range(out.shape[0] // 8 + 1):
        for j in range(8):
            if i * 8 + j < out.shape[0]:
                out[i * 8 + j] = 1
    for i in range(k // 8 + 1):
        for j in range(8):
            if i * 8 + j < k:
                out[i * 8 + j] = 2
"""
    )
    golden.check(str(version_guards(func)), "ir")


def test_the_last_tile_that_stands_apart_already_makes_no_second_version() -> None:
    func = parse(
        """
def f(out: int64["n"]):
    for i in range(out.shape[0] // 8 + 1):
        if i * 8 + 8 <= out.shape[0]:
            for j in range(8):
                out[i * 8 + j] = 1
        else:
            for j in range(8):
                if i * 8 + j < out.shape[0]:
                    out[i * 8 + j] = 1
"""
    )
    assert version_guards(func) is func
