"""sums_first: sums of several rows before the rest of these rows, bit for bit the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, ScheduleError, hybrid
from hybridjit.schedule.trace import Trace
from tests.corpus.case import Array
from tests.lowering.ways import assert_native_agrees
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
SIZES = [(0, 3), (1, 1), (3, 0), (7, 8), (8, 7), (9, 33), (17, 17), (33, 9)]
LONG = 64  # terms, which are worth it


@hybrid.script
def atax(a: Array, x: Array, y: Array) -> None:
    for i in range(a.shape[0]):
        row = 0.0
        for j in range(a.shape[1]):
            row += a[i, j] * x[j]
        for j in range(a.shape[1]):
            y[j] += row * a[i, j]


@hybrid.script
def scaled(a: Array, x: Array, y: Array) -> None:
    """In place: a row is a row's own."""
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j] * a[i, j]
        if total > 4.0:
            norm = math.sqrt(total)
            for j in range(a.shape[1]):
                a[i, j] /= norm
        elif total < 2.0:
            continue
        y[0] += total * x[0]


@hybrid.script
def normalised(a: Array, x: Array, y: Array) -> None:
    """Two sums, with a name and a variable that the rest takes, and changes."""
    for i in range(a.shape[0]):
        last = a.shape[0] - 1 - i
        mean = 0.0
        for j in range(a.shape[1]):
            mean += a[i, j]
        mean /= a.shape[1] + 1
        spread = 1.0
        for j in range(a.shape[1]):
            spread += (a[i, j] - mean) * (a[i, j] - mean)
        if last > 1:
            spread *= 0.5
        for j in range(a.shape[1]):
            y[j] = y[j] * spread - mean * x[j] + last
            spread += 1.0


@hybrid.script
def in_blocks(a: Array, x: Array, y: Array) -> None:
    """Inside of another loop, whose variable the bounds are made of."""
    for k in range(2):
        for i in range(k, a.shape[0]):
            row = 0.0
            for j in range(k, a.shape[1]):
                row -= a[i, j] * x[j]
            for j in range(a.shape[1]):
                y[j] += row


@hybrid.script
def may_fail(a: Array, x: Array, y: Array) -> None:
    """The last sum is past the end: by then, the rows before have stored."""
    for i in range(a.shape[0]):
        row = 0.0
        for j in range(a.shape[1]):
            row += a[i, j] * x[i + j]
        for j in range(a.shape[1]):
            y[j] += row


@hybrid.script
def rest_may_fail(a: Array, x: Array, y: Array) -> None:
    for i in range(a.shape[0]):
        row = 0.0
        for j in range(a.shape[1]):
            row += a[i, j]
        for j in range(a.shape[1]):
            y[j] += row * x[i + j]


@hybrid.script
def feeds_back(a: Array, x: Array, y: Array) -> None:
    """What the rest sets is what the next sum reads."""
    for i in range(a.shape[0]):
        row = 0.0
        for j in range(a.shape[1]):
            row += a[i, j] * y[j]
        for j in range(a.shape[1]):
            y[j] -= row * x[j]


@hybrid.script
def next_row(a: Array, x: Array, y: Array) -> None:
    for i in range(a.shape[0]):
        row = 0.0
        for j in range(a.shape[1]):
            row += a[i, j]
        for j in range(a.shape[1]):
            if i + 1 < a.shape[0]:
                a[i + 1, j] += row * x[j]


@hybrid.script
def carries(a: Array, x: Array, y: Array) -> None:
    """A variable of the loop around, which the sums read and the rest sets."""
    scale = 1.0
    for i in range(a.shape[0]):
        row = 0.0
        for j in range(a.shape[1]):
            row += a[i, j] * scale
        for j in range(a.shape[1]):
            y[j] += row
        scale = row * 0.125


@hybrid.script
def leaves(a: Array, x: Array, y: Array) -> None:
    for i in range(a.shape[0]):
        row = 0.0
        for j in range(a.shape[1]):
            row += a[i, j]
        if row > 9.0:
            break
        for j in range(a.shape[1]):
            y[j] += row


@hybrid.script
def no_sum(a: Array, x: Array, y: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[j] += a[i, j]
        y[0] = 1.0


@hybrid.script
def of_integers(a: Array, x: Array, y: Array) -> None:
    for i in range(a.shape[0]):
        row = 0
        for j in range(a.shape[1]):
            row += int(a[i, j])
        for j in range(a.shape[1]):
            y[j] += row


@hybrid.script
def largest(a: Array, x: Array, y: Array) -> None:
    for i in range(a.shape[0]):
        top = 0.0
        for j in range(a.shape[1]):
            top = max(top, a[i, j])
        for j in range(a.shape[1]):
            y[j] += top


@hybrid.script
def exponentials(a: Array, x: Array, y: Array) -> None:
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            total += math.exp(a[i, j])
        for j in range(a.shape[1]):
            y[j] += total


FIRST = (atax, scaled, normalised, in_blocks, rest_may_fail)


def name_of(kernel: AnyKernel) -> str:
    return kernel.__name__


def arrays(rows: int, columns: int, dtype: Any = np.float64) -> list[Any]:
    generator = np.random.default_rng(rows)
    shapes = (rows, columns), (max(rows + columns, 1),), (max(columns, 1),)
    values = [generator.integers(-99, 99, shape) for shape in shapes]
    if np.dtype(dtype).kind == "i":
        return [each.astype(dtype) for each in values]
    return [(each / 64 + generator.random(each.shape) / 128).astype(dtype) for each in values]


def with_groups(kernel: AnyKernel, group: int = 4) -> AnyKernel:
    """`kernel` with the step, whatever its sizes are."""

    return kernel.with_schedule(lambda s: s.sums_first("i", group))


def steps(kernel: AnyKernel, *args: Any) -> str:
    return str(kernel.auto_schedule(*args).trace)


# -- results ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", FIRST, ids=name_of)
def test_results_stay(kernel: AnyKernel) -> None:
    """By the step, on arrays of many sizes, known when compiling or not, as in plain Python."""
    scheduled = with_groups(kernel)
    for rows, columns in SIZES[-5:]:
        args = arrays(rows, columns)
        wanted = run_once(run_plain, kernel, args)
        assert_same_outcome(run_once(run_native, scheduled, args), wanted)
        assert_same_outcome(run_once(run_interpreted, scheduled, args), wanted)
        check_guarded(scheduled, args)


@pytest.mark.parametrize("kernel", [*FIRST, may_fail, feeds_back, next_row, carries], ids=name_of)
def test_all_ways_agree_without_being_asked(kernel: AnyKernel) -> None:
    own = fresh(kernel)
    for rows, columns in [*SIZES, (8, LONG), (17, LONG + 1), (33, LONG + 7)]:
        args = arrays(rows, columns)
        assert_same_outcome(run_once(run_native, own, args), run_once(run_plain, kernel, args))
        assert_native_agrees(fresh(kernel), *args)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex64])
def test_types(dtype: Any) -> None:
    for rows, columns in [(9, LONG), (33, LONG + 1)]:
        args = arrays(rows, columns, dtype)
        wanted = run_once(run_interpreted, fresh(atax), args)
        assert_same_outcome(run_once(run_native, fresh(atax), args), wanted)
        assert_same_outcome(run_once(run_native, with_groups(atax, 8), args), wanted)


def test_arguments_that_share_memory() -> None:
    """Sums read what the rest has just set: they run in their order."""
    for _ in range(2):
        shared: Any = np.full((40, LONG), 0.01)
        shared += np.arange(LONG) / 1e5
        expected = shared.copy()
        atax.py_func(expected, expected[3], expected[20])
        atax(shared, shared[3], shared[20])
        np.testing.assert_array_equal(shared, expected)


# -- the receipt -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", FIRST[:-1], ids=name_of)
def test_the_receipt_tells_it(kernel: AnyKernel) -> None:
    args = arrays(33, LONG)
    s = kernel.auto_schedule(*args)
    assert "s.sums_first(i, group=" in str(s.trace)
    for trace in (s.trace, Trace.from_json(s.trace.to_json())):
        again = kernel.with_schedule(trace)
        assert again.inspect("asm", *args) == kernel.inspect("asm", *args)
    for rows, columns in SIZES[-4:]:
        assert_native_agrees(kernel.with_schedule(s.trace), *arrays(rows, columns))


def test_sums_are_in_lanes() -> None:
    text = atax.inspect("lowered", *arrays(33, LONG))
    assert "for i in vectorize(" in text
    assert text.index("vectorize(") < text.index("row_values[")


def test_sizes_that_are_known_at_run_time_only() -> None:
    args = hj.f64["m", "n"], hj.f64["n"], hj.f64["n"]
    assert "s.sums_first(i, group=" in steps(atax, *args)
    assert "s.sums_first(i, group=" in steps(rest_may_fail, *arrays(33, LONG))


@pytest.mark.parametrize(
    "kernel",
    [feeds_back, next_row, carries, leaves, no_sum, of_integers, largest, exponentials],
    ids=name_of,
)
def test_others_are_left_alone(kernel: AnyKernel) -> None:
    assert "sums_first" not in steps(kernel, *arrays(33, LONG))


def test_what_may_fail_is_left_alone() -> None:
    assert "sums_first" not in steps(may_fail, hj.f64["m", "n"], hj.f64["k"], hj.f64["n"])


@pytest.mark.parametrize("shape", [(1, LONG), (99, 9)])
def test_what_does_not_pay_is_left_alone(shape: tuple[int, int]) -> None:
    assert "sums_first" not in steps(atax, *arrays(*shape))


def test_an_open_order_needs_no_groups() -> None:
    loose = hybrid.script(atax.py_func, fastmath={"reassoc"})
    assert "sums_first" not in steps(loose, *arrays(33, LONG))


# -- by hand ---------------------------------------------------------------------------------------


def test_the_step_by_hand() -> None:
    args = arrays(37, 21)
    s = atax.schedule(*args)
    run_example(s, "sums_first")
    assert "equal at" in str(s.verify(*args))


def test_a_short_loop_stays() -> None:
    args = arrays(7, 21)
    s = atax.schedule(*args)
    before = str(s.func)
    s.sums_first("i", 8)
    assert str(s.func) == before


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (feeds_back, "what earlier iterations set is not proved to be apart"),
        (next_row, "what earlier iterations set is not proved to be apart"),
        (carries, "what earlier iterations set is not proved to be apart"),
        (may_fail, "an index in it is not proved to be inside of its array"),
        (leaves, "its iterations are no sums in variables of their own, and a rest"),
        (no_sum, "its iterations are no sums in variables of their own, and a rest"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_refusals(kernel: AnyKernel, reason: str) -> None:
    s = kernel.schedule(hj.f64["m", "n"], hj.f64["k"], hj.f64["n"])
    with pytest.raises(ScheduleError, match=f"sums_first: loop 'i': {reason}"):
        s.sums_first("i")


@pytest.mark.parametrize("group", [0, 3, 1024])
def test_groups_are_powers_of_two(group: int) -> None:
    s = atax.schedule(*arrays(9, 9))
    with pytest.raises(ScheduleError, match="sums_first: lanes are a power of two"):
        s.sums_first("i", group)


def test_groups_of_one_are_none() -> None:
    s = atax.schedule(*arrays(9, 9))
    with pytest.raises(ScheduleError, match="groups of one iteration are none"):
        s.sums_first("i", 1)
