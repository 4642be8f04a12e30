"""Loops in parts in which no index comes around: as in Python, wherever it does."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid, parse
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.lowering.check_bounds import check_bounds
from hybridjit.lowering.unwrap_indices import unwrap_indices
from tests.corpus.case import Array
from tests.lowering.ways import assert_native_agrees
from tests.support.array_results import assert_agree

np: Any = numpy
AnyKernel = Kernel[..., Any]


@hybrid.script
def next_one(u: Array, r: Array) -> None:
    for i in range(u.shape[0]):
        r[i] = u[(i + 1) % u.shape[0]] - u[i]


@hybrid.script
def both_sides(u: Array, r: Array) -> None:
    n = u.shape[0]
    for i in range(n):
        left, right = (i - 1) % n, (i + 1) % n
        r[i] = u[left] - 2 * u[i] + u[right] + u[(i - 3) % n]


@hybrid.script
def stored_around(u: Array, r: Array) -> None:
    n = u.shape[0]
    for i in range(n):
        r[(i + 5) % n] = u[i] + 1


@hybrid.script
def of_another_size(u: Array, r: Array) -> None:
    for i in range(r.shape[0]):
        r[i] = u[(i - 7) % u.shape[0]]


@hybrid.script
def behind_a_guard(u: Array, r: Array) -> None:
    n = u.shape[0]
    for i in range(n):
        if u[(i + 2) % n] > u[i]:
            r[i] = u[(i + 2) % n]


@hybrid.script
def up_to_a_large_one(u: Array, r: Array) -> None:
    n = u.shape[0]
    for i in range(n):
        if u[i] > 6:
            break
        r[i] = 1 + u[(i + 1) % n] + u[(i - 1) % n]


@hybrid.script
def in_place(u: Array, r: Array) -> None:
    n = u.shape[0]
    for i in range(n):
        u[i] = u[(i + 1) % n] + u[(i - 1) % n]


@hybrid.script
def added_up(u: Array, r: Array) -> Any:
    n = u.shape[0]
    s = 0.0
    for i in range(n):
        s += u[i] * u[(i + 4) % n]
    return s


@hybrid.script
def counted_around(u: Array, r: Array) -> None:
    n = u.shape[0]
    for i in range(n):
        at, place = i % 3, i % n
        r[place] += at + (at > 0) * u[place]


KERNELS = (
    *(next_one, both_sides, stored_around, of_another_size, behind_a_guard, up_to_a_large_one),
    *(in_place, added_up, counted_around),
)
SIZES = (0, 1, 2, 3, 5, 8, 9, 31, 64, 100)


def name_of(kernel: AnyKernel) -> str:
    return kernel.__name__


def arrays(size: int) -> list[Any]:
    u = np.random.default_rng(size).integers(0, 9, size).astype(np.float64)
    return [u, np.zeros(size)]


@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_as_in_python(kernel: AnyKernel) -> None:
    for size in SIZES:
        assert_native_agrees(kernel, *arrays(size))


@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_sizes_known_at_run_time(kernel: AnyKernel) -> None:
    """After a few shapes, one piece of code serves all."""
    again: AnyKernel = Kernel(kernel.__hybrid_function__)
    for size in SIZES:
        assert_native_agrees(again, *arrays(size))


def test_more_than_one_turn() -> None:
    for size in (1, 3, 10, 64):
        u = np.arange(float(size))
        assert_native_agrees(of_another_size, u, np.zeros(200))


@hybrid.script
def by_a_number(u: Array, r: Array, k: Any) -> None:
    n = u.shape[0]
    for i in range(r.shape[0]):
        r[i] = u[(i + k) % n]


SHIFTS = (0, 1, -1, 7, -7, 16, -16, 17, 40, -1000, 2**31, 2**62, 2**63 - 1, -(2**63), 2**63 - 20)


@pytest.mark.parametrize("shift", SHIFTS)
def test_shifts_that_are_known_at_run_time(shift: int) -> None:
    """The sum of the index and the shift may overflow: then it comes around as it does in NumPy."""
    for size, count in ((16, 16), (5, 40), (40, 5), (1, 9), (33, 70)):
        assert_native_agrees(by_a_number, np.arange(float(size)), np.zeros(count), np.int64(shift))


def test_a_remainder_by_zero_is_the_same_error() -> None:
    assert_native_agrees(by_a_number, np.zeros(0), np.zeros(20), np.int64(1))
    assert_native_agrees(by_a_number, np.zeros(0), np.zeros(0), np.int64(1))


@hybrid.script
def skewed(u: Array, r: Array) -> None:
    n, m = u.shape
    for i in range(n):
        for j in range(m):
            r[i, j] = u[i, (i + j) % m] + u[(i + 1) % n, (j + 2 * i) % m]


@pytest.mark.parametrize("shape", [(1, 1), (3, 8), (9, 17), (40, 5), (4, 0)])
def test_shifts_that_differ_by_row(shape: tuple[int, int]) -> None:
    u = np.random.default_rng(1).random(shape)
    assert_native_agrees(skewed, u, np.zeros(shape))


def rolled(u: Array, k: int) -> Any:
    return np.roll(u, k), np.roll(u, -1) - 2 * u + np.roll(u, 1)


def rolled_in_two_axes(u: Array, k: int) -> Any:
    v = np.outer(u, u[:7])
    moved = np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1) - 4 * v
    return moved, np.roll(v, (k, 2), (0, 1)), np.roll(v, k)


@pytest.mark.parametrize("function", [rolled, rolled_in_two_axes])
def test_roll(function: Any) -> None:
    kernel: Any = hybrid.script(function)
    for size, shift in ((0, 1), (1, 1), (8, 3), (8, -3), (9, 100), (70, 69), (33, -1000), (64, 0)):
        assert_agree(kernel, [np.random.default_rng(size).random(size), shift])


def neighbours(u: Array) -> Any:
    return np.roll(u, 1, 1) + np.roll(u, -1, 0) + u


def test_periodic_neighbours_run_in_lanes() -> None:
    kernel: Any = hybrid.script(neighbours)
    for spec in (hj.f64[500, 500], hj.f64["n", "m"]):
        *_, inner = kernel.report(spec).loops
        assert inner.lanes > 1


@pytest.mark.parametrize(("around", "is_cut"), [(2, False), (7, False), (8, True), (16, True)])
def test_what_comes_around_all_the_time_is_not_cut(around: int, is_cut: bool) -> None:
    func = parse(
        f"def f(u: float64[16], r: float64['n']):\n"
        f"    for i in range(r.shape[0]):\n        r[i] = u[i % {around}]"
    )
    checked = check_bounds(lower_blocks(func))
    assert (unwrap_indices(checked) is not checked) is is_cut


def test_golden(golden: Any) -> None:
    func = parse(
        """
def f(u: float64["n"], r: float64["n"], k: int):
    for i in range(u.shape[0]):
        r[i] = u[(i + 1) % u.shape[0]] + u[(i - 2) % u.shape[0]]
    for j in range(u.shape[0]):
        r[j] = r[j] + u[(j + k) % u.shape[0]]
"""
    )
    golden.check(str(unwrap_indices(check_bounds(lower_blocks(func)))), "ir")


@hybrid.script
def end_in_a_variable(u: Array, r: Array) -> None:
    m = 1
    for i in range(u[m] % 64):
        r[0] += i % 7
        m = (m + i) % 2


@hybrid.script
def end_in_an_array(u: Array, r: Array) -> None:
    for i in range(u[1] % 64):
        r[0] += i % 7
        u[1] = u[0]


@pytest.mark.parametrize("kernel", [end_in_a_variable, end_in_an_array])
@pytest.mark.parametrize("ends", [(20, 3), (3, 20), (9, 7), (5, 0)])
def test_ends_are_those_from_before_the_loop(kernel: AnyKernel, ends: tuple[int, int]) -> None:
    """A part may run after iterations that change what they are read from."""
    assert_native_agrees(kernel, np.array(ends), np.zeros(1, np.int64))
