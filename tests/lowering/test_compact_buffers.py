"""Scratch buffers made inside of loops shrink to what is used of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Allocate
from hybridjit.ir.verify import Stage, verify
from hybridjit.ir.visit import walk
from hybridjit.lowering.compact_buffers import compact_buffers
from tests.support.before_after import outcome
from tests.support.oracle import assert_same

HALO = """
def halo(a: float32["n"], c: float32["n"]):
    for i in range((a.shape[0] + 3) // 4):
        t = allocate((a.shape[0] + 2,), "float32")
        for j in range(i * 4, min(i * 4 + 6, a.shape[0])):
            t[j + 1] = a[j] * 2.0
        for j in range(i * 4, min(i * 4 + 4, a.shape[0])):
            c[j] = t[j] + t[j + 1] + t[j + 2]
"""
STRIDED = """
def strided(a: float32[16], c: float32[16]):
    for i in range(4):
        t = allocate((32, 16), "float32")
        for j in range(3):
            t[2 * (i + j) + 1, 15 - i] = a[i + j]
        c[i] = t[2 * i + 1, 15 - i] + t[2 * i + 5, 15 - i]
"""
WRAPPING = """
def wrapping(a: float32[8], c: float32[8]):
    for i in range(8):
        t = allocate((8,), "float32")
        t[i - 1] = a[i]
        c[i] = t[7]
"""
GATHERED = """
def gathered(a: float32[8], c: float32[8], p: int64[8]):
    for i in range(8):
        t = allocate((8, 8), "float32")
        t[p[i], i] = a[i]
        c[i] = t[2, i]
"""
OUTSIDE = """
def outside(a: float32[8], c: float32[8]):
    for i in range(8):
        t = allocate((8,), "float32")
        t[i] = a[i]
        c[i] = t[i + 1]
"""
ALL = """
def all_of_it(a: float32[8], c: float32[8]):
    for i in range(8):
        t = allocate((8,), "float32")
        for j in range(8):
            t[j] = a[j]
        c[i] = t[i]
"""


def compacted(text: str) -> tuple[PrimFunc, PrimFunc]:
    before = lower_blocks(hj.parse(text))
    after = compact_buffers(before)
    verify(after, Stage.LOOPS)
    return before, after


def shape_of(func: PrimFunc) -> tuple[Any, ...]:
    (made,) = (node.buffer for node in walk(func.body) if isinstance(node, Allocate))
    return tuple(getattr(extent, "value", None) for extent in made.shape)


def arguments(text: str, size: int) -> list[Any]:
    arrays: list[Any] = [np.arange(size, dtype="float32") + 1, np.zeros(size, "float32")]
    if "p:" in text:
        arrays.append(np.arange(size - 1, -1, -1, dtype="int64"))
    return arrays


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (HALO, (7,)),
        (STRIDED, (5, 1)),
        (WRAPPING, (8,)),
        (GATHERED, (8, 1)),
        (OUTSIDE, (8,)),
        (ALL, (8,)),
    ],
    ids=["halo", "strided", "wrapping", "gathered", "outside", "all"],
)
def test_an_axis_shrinks_if_all_its_indices_are_proved(text: str, shape: tuple[int, ...]):
    before, after = compacted(text)

    assert shape_of(after) == shape
    for size in (1, 2, 7, 8, 13) if '"n"' in text else (16,) if text is STRIDED else (8,):
        found = outcome(after, arguments(text, size))
        for one, other in zip(found, outcome(before, arguments(text, size)), strict=True):
            assert_same(one, other)


def test_a_buffer_that_does_not_move_is_left_alone():
    """The same function comes back, and isl is not asked."""
    before, after = compacted(ALL)

    assert after is before


def test_golden(golden: Any):
    golden.check(str(compacted(HALO)[1]), "ir")
