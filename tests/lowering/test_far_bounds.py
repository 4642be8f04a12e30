"""Ranges between numbers so far apart that their difference overflows: empty, or at the ends."""

from __future__ import annotations

from typing import Any

import pytest

from hybridjit import Kernel, hybrid
from hybridjit.hybrid import parallel, vectorize
from tests.lowering.ways import assert_all_ways_agree, assert_native_agrees
from tests.support.oracle import fresh
from tests.support.parallel_programs import eager

MOST = 2**63 - 1
FAR = [
    (MOST, -MOST),
    (MOST, -MOST - 1),
    (5 * 10**18, -5 * 10**18),
    (MOST - 3, MOST),
    (-MOST - 1, -MOST + 7),
]


@hybrid.script
def lanes_up(lo: int, hi: int) -> int:
    total = 0
    for i in vectorize(lo, hi):
        total += i
    return total


@hybrid.script
def lanes_by_threes(lo: int, hi: int) -> int:
    total = 0
    for i in vectorize(lo, hi, 3):
        total += i
    return total


@hybrid.script
def chunks_up(lo: int, hi: int) -> int:
    total = 0
    for i in parallel(lo, hi):
        total += i
    return total


@hybrid.script
def chunks_down(lo: int, hi: int) -> int:
    total = 0
    for i in parallel(hi, lo, -3):
        total += i
    return total


@hybrid.script
def plain(lo: int, hi: int) -> int:
    total = 0
    for i in range(lo, hi):
        total += i
    return total


def split(s: Any) -> None:
    s.split("i", factor=4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bounds", FAR, ids=str)
@pytest.mark.parametrize(
    "kernel",
    [lanes_up, lanes_by_threes, chunks_up, chunks_down],
    ids=lambda kernel: kernel.__name__,
)
def test_concurrent_loops(kernel: Kernel[..., Any], bounds: tuple[int, int]) -> None:
    with eager():
        assert_native_agrees(fresh(kernel), *bounds)


@pytest.mark.parametrize("bounds", FAR, ids=str)
def test_split_loops(bounds: tuple[int, int]) -> None:
    scheduled = plain.with_schedule(split)
    assert scheduled(*bounds) == plain.interpret(*bounds)
    assert scheduled.interpret(*bounds) == plain.interpret(*bounds)


# loops that begin or step at constants

ENDS = (-MOST - 1, -MOST + 3, 0, 7, 40, 100)


@hybrid.script
def sum_from_five(end: int) -> int:
    total = 0
    for i in range(5, end):
        total += i
    return total


@hybrid.script
def sum_from_five_by_threes(end: int) -> int:
    total = 0
    for i in range(5, end, 3):
        total += i
    return total


@hybrid.script
def sum_down_to(end: int) -> int:
    total = 0
    for i in range(-5, -end if end > -MOST else MOST, -1):
        total += i
    return total


@hybrid.script
def sum_by_longest(end: int) -> int:
    total = 0
    for i in range(-3, end, 2**62):
        total += i
    for i in range(end, -9, -(2**62)):
        total -= i
    return total


FROM_CONSTANTS = [sum_from_five, sum_from_five_by_threes, sum_down_to, sum_by_longest]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kernel", FROM_CONSTANTS, ids=lambda kernel: kernel.__name__)
def test_loops_from_constants(kernel: Kernel[..., Any], end: int) -> None:
    assert_native_agrees(fresh(kernel), end)
    with eager():
        assert_native_agrees(fresh(kernel), end)


@pytest.mark.parametrize("end", [*ENDS, MOST, MOST - 3])
def test_the_longest_steps(end: int) -> None:
    assert_native_agrees(fresh(sum_by_longest), end)


@hybrid.script
def last(lo: int, hi: int) -> int:
    i = -7
    for i in range(lo, hi):  # noqa: B007
        pass
    return i


@pytest.mark.parametrize("bounds", FAR, ids=str)
def test_the_last_value_of_a_loop(bounds: tuple[int, int]) -> None:
    assert_all_ways_agree(last, *bounds)
