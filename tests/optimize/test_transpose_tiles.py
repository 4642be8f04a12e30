"""transpose_tiles: rows that are columns of another array run in squares, with the same results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, ScheduleError, hybrid
from hybridjit.target import Caches
from tests.corpus.case import Array
from tests.support.before_after import run_example
from tests.support.guarded import check_guarded
from tests.support.oracle import (
    assert_same_outcome,
    fresh,
    run_interpreted,
    run_native,
    run_once,
    run_plain,
)

AnyKernel = Kernel[..., Any]
LEAST = Caches().first // 64
SIZES = [(0, 3), (1, 1), (15, 17), (16, 16), (16, 33), (40, 7), (47, 80)]


@hybrid.script
def transposed(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] = a[j, i]


@hybrid.script
def inner_part(a: Array, b: Array) -> None:
    for i in range(1, b.shape[0] - 1):
        for j in range(1, b.shape[1] - 1):
            b[i, j] = 2 * a[j - 1, i + 1] + a[j + 1, i - 1] - b[i, j]


@hybrid.script
def where_positive(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            if a[j, i] > 0:
                b[i, j] += a[j, i]


@hybrid.script
def numpy_style(a: Array, b: Array) -> None:
    b[:, :] = b * 2 + a.T


@hybrid.script
def in_place(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        for j in range(1, b.shape[1]):
            b[i, j] = b[i, j - 1] + a[j, i]


@hybrid.script
def triangle(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        for j in range(i):
            b[i, j] = a[j, i]


@hybrid.script
def with_more_inside(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        b[i, 0] = 1
        for j in range(b.shape[1]):
            b[i, j] = a[j, i]


@hybrid.script
def unchecked(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] = a[j, i + 1]


CROSSED = (transposed, inner_part, where_positive, numpy_style)


def arrays(rows: int, columns: int, dtype: Any = np.float64) -> list[Any]:
    generator = np.random.default_rng(rows)
    a = generator.integers(-9, 9, (columns, rows)).astype(dtype)
    return [a, generator.integers(-9, 9, (rows, columns)).astype(dtype)]


def in_squares(kernel: AnyKernel, size: int = 4, least: int = 0) -> AnyKernel:
    """`kernel` with the step, whatever its sizes are."""

    def schedule(s: Any) -> None:
        (block,) = s.blocks()
        loops = s.loops(block)
        if len(loops) == 2:  # a size of one is no loop
            s.squares(loops[0], size, least)

    return kernel.with_schedule(schedule)


def check_sizes(kernel: AnyKernel) -> None:
    """In squares on arrays of many sizes, known when compiling or not, as in plain Python."""
    scheduled = in_squares(kernel)
    for rows, columns in SIZES:
        args = arrays(rows, columns)
        wanted = run_once(run_plain, kernel, args)
        assert_same_outcome(run_once(run_native, scheduled, args), wanted)
        assert_same_outcome(run_once(run_interpreted, scheduled, args), wanted)
        check_guarded(scheduled, args)


def name_of(kernel: AnyKernel) -> str:
    return kernel.__name__


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", CROSSED, ids=name_of)
def test_results_stay(kernel: AnyKernel) -> None:
    check_sizes(fresh(kernel))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.complex64])
@pytest.mark.parametrize("size", [2, 3, 16])
def test_types_and_sizes_of_squares(dtype: Any, size: int) -> None:
    scheduled = in_squares(transposed, size)
    for rows, columns in SIZES:
        args = arrays(rows, columns, dtype)
        wanted = run_once(run_plain, transposed, args)
        assert_same_outcome(run_once(run_native, scheduled, args), wanted)


def test_short_columns_run_as_they_did() -> None:
    scheduled = in_squares(transposed, 4, 20)
    for rows, columns in SIZES:
        args = arrays(rows, columns)
        wanted = run_once(run_plain, transposed, args)
        assert_same_outcome(run_once(run_native, scheduled, args), wanted)
    text = str(in_squares(transposed, 4, 20).schedule(hj.f64["m", "n"], hj.f64["n", "m"]).func)
    assert ">= 20" in text


@pytest.mark.parametrize("kernel", CROSSED, ids=name_of)
def test_long_columns_are_cut_without_being_asked(kernel: AnyKernel) -> None:
    args = [hj.f64[3000, 2000], hj.f64[2000, 3000]]
    s = kernel.auto_schedule(*args)
    assert "s.squares(i, size=32, least=" in str(s.trace)
    again = kernel.with_schedule(s.trace)
    assert again.inspect("asm", *args) == kernel.inspect("asm", *args)


@pytest.mark.parametrize("shape", [(2000, 60), (20, 3000)])
def test_short_ones_are_not(shape: tuple[int, int]) -> None:
    args = [hj.f64[shape[::-1]], hj.f64[shape]]
    assert "squares" not in str(transposed.auto_schedule(*args).trace)


def test_large_arrays() -> None:
    a, b = arrays(1003, 900, np.float32)
    expected = a.T.copy()
    transposed(a, b)
    np.testing.assert_array_equal(b, expected)


def test_the_step_by_hand() -> None:
    args = arrays(37, 21)
    s = transposed.schedule(*args)
    run_example(s, "squares")
    assert "equal at" in str(s.verify(*args))


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (in_place, "what its iterations touch is not proved to be apart"),
        (triangle, "it is not one around another one alone"),
        (with_more_inside, "it is not one around another one alone"),
        (unchecked, "an index in it is not proved to be inside of its array"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_refusals(kernel: AnyKernel, reason: str) -> None:
    s = kernel.schedule(hj.f64["m", "n"], hj.f64["n", "m"])
    with pytest.raises(ScheduleError, match=f"squares: loop 'i': {reason}"):
        s.squares("i")


def test_no_squares() -> None:
    s = transposed.schedule(hj.f64["m", "n"], hj.f64["n", "m"])
    with pytest.raises(ScheduleError, match="squares of 1 are none"):
        s.squares("i", 1)
    with pytest.raises((ScheduleError, TypeError), match="squares: size"):
        s.squares("i", 2.5)  # type: ignore[arg-type]
