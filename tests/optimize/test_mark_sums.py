"""Marks on loops of sums: in the receipt, by hand, with other numbers, and where they cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, ScheduleError, hybrid
from hybridjit.interp.run import interpret
from hybridjit.schedule.schedule import Schedule
from hybridjit.schedule.trace import Trace
from tests.corpus.case import Array
from tests.lowering.sum_kernels import arrays, neighbours
from tests.lowering.ways import assert_native_agrees

AnyKernel = Kernel[..., Any]


@hybrid.script
def product(c: Array, a: Array, b: Array) -> None:
    for i in range(c.shape[0]):
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@hybrid.script
def scaled_product(c: Array, a: Array, b: Array) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= 0.5
        for k in range(a.shape[1]):
            for m in range(c.shape[1]):
                c[i, m] += a[i, k] * b[k, m]


@hybrid.script
def factor(a: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]


@hybrid.script
def gathers(out: Array, a: Array, indices: Array) -> None:
    for i in range(out.shape[0]):
        for k in range(indices.shape[0]):
            out[i] += a[indices[k]]


@hybrid.script
def of_any_size(n: int, c: Array, a: Array) -> None:
    """Indices are checked before the loops: there is a version without checks."""
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i, j] += a[i, k] * a[k, j]


def steps(schedule: Schedule, *names: str) -> list[str]:
    lines = (line.strip() for line in str(schedule.trace).splitlines())
    return [line for line in lines if line.startswith(tuple(f"s.{name}(" for name in names))]


# -- the receipt -----------------------------------------------------------------------------------


def test_the_receipt_tells_lanes_and_rows() -> None:
    (line,) = steps(product.auto_schedule(*arrays(20, 21, 64)), "sums_in_lanes", "in_lanes")
    # How many rows depends on the registers of the processor.
    assert re.match(r"s\.sums_in_lanes\(j, i, lanes=\d+, rows=[2-8], ", line)


def test_the_receipt_tells_what_is_in_registers() -> None:
    lines = steps(factor.auto_schedule(np.eye(9)), "in_register")
    assert lines == ["s.in_register(k, if_possible=True)"]


def test_loops_that_are_taken_apart_are_in_the_receipt() -> None:
    (line,) = steps(scaled_product.auto_schedule(*arrays(20, 21, 64)), "sums_in_lanes")
    assert line.startswith("s.sums_in_lanes(m, i, lanes=")


@pytest.mark.parametrize("kernel", [product, scaled_product], ids=lambda kernel: kernel.__name__)
def test_a_receipt_gives_the_same_code(kernel: AnyKernel) -> None:
    args = arrays(20, 21, 64)
    trace = kernel.auto_schedule(*args).trace
    for again in (trace, Trace.from_json(trace.to_json())):
        assert kernel.with_schedule(again).inspect("asm", *args) == kernel.inspect("asm", *args)


def test_a_receipt_is_for_other_sizes_too() -> None:
    replayed = product.with_schedule(product.auto_schedule(*arrays(20, 21, 64)).trace)
    for sizes in ((1, 1, 1), (3, 2, 5), (5, 17, 9), (7, 40, 65)):
        assert_native_agrees(replayed, *arrays(*sizes))


# -- by hand ---------------------------------------------------------------------------------------


def test_any_numbers_keep_every_bit() -> None:
    for lanes, rows in ((2, 3), (8, 1), (64, 16)):
        changed = product.with_schedule(
            lambda s, x=lanes, y=rows: s.sums_in_lanes("j", "i", lanes=x, rows=y)
        )
        for sizes in ((5, 17, 9), (4, 16, 71)):
            assert_native_agrees(changed, *arrays(*sizes))
        text = changed.inspect("lowered", *arrays(40, 9, 200))
        assert f"for j_0 in range(0, {200 // lanes * lanes}, {lanes}):" in text


def test_marks_leave_the_program_to_the_interpreter() -> None:
    s = product.schedule(hj.f64[9, 41], hj.f64[9, 17], hj.f64[17, 41])
    interpret(s.func, before := arrays(9, 17, 41))
    s.sums_in_lanes("j", "i", lanes=8, rows=2)
    s.in_register("k")
    interpret(s.func, after := arrays(9, 17, 41))
    assert before[0].tobytes() == after[0].tobytes()


def test_one_lane_is_none() -> None:
    alone = product.with_schedule(lambda s: s.sums_in_lanes("j", lanes=1))
    assert "c_value" not in alone.inspect("lowered", *arrays(20, 21, 64))


def test_a_sum_may_stay_in_memory() -> None:
    plain = factor.with_schedule(lambda s: s.in_register("k", False))
    assert "a_value" in factor.inspect("lowered", np.eye(9))
    assert "a_value" not in plain.inspect("lowered", np.eye(9))


def test_checks_before_the_loops_are_no_obstacle() -> None:
    text = of_any_size.inspect("lowered", 20, np.eye(20), np.eye(20))
    assert text.index("if ") < text.index("vectorize(j_0, j_0 + ")
    assert_native_agrees(of_any_size, 17, *arrays(17, 17, 17)[:2])


def test_what_a_schedule_did_not_touch_is_marked() -> None:
    @hybrid.script
    def two(c: Array, a: Array, b: Array) -> None:
        for p in range(c.shape[0]):
            c[p, 0] = 1.0
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    split = two.with_schedule(lambda s: s.split("p", 4))
    assert "c_value" in split.inspect("lowered", *arrays(20, 21, 64))


@hybrid.script(parallel=True)
def of_rows(n: int, a: Array) -> Array:
    c = np.zeros((n, n), np.float64)
    for k in range(a.shape[0]):
        for i in range(n):
            for j in range(n):
                c[i, j] += a[k, i] - a[k, j]
    return c


def test_what_threads_leave_without_terms_is_no_tile() -> None:
    args = 500, np.ones((600, 500))
    assert steps(of_rows.auto_schedule(*args), "sums_in_lanes")
    text = of_rows.inspect("lowered", *args)
    assert "parallel(" in text
    assert "i_1 + 1" not in text


@hybrid.script
def column_sums(out: Array, a: Array) -> None:
    for i in range(out.shape[0]):
        for k in range(a.shape[1]):
            out[i] += a[i, k]


open_sums = hybrid.script(column_sums.__hybrid_function__, fastmath={"reassoc"})


def test_lanes_do_not_gather_where_the_order_is_open() -> None:
    args = np.zeros(20), np.ones((20, 64))
    (line,) = steps(column_sums.auto_schedule(*args), "sums_in_lanes", "in_register")
    assert line.startswith("s.sums_in_lanes(i, lanes=")
    (line,) = steps(open_sums.auto_schedule(*args), "sums_in_lanes", "in_register")
    assert line == "s.in_register(k, if_possible=True)"


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint64, np.bool_], ids=str)
def test_integers_are_kept_in_registers(dtype: Any) -> None:
    elements: Any = np.arange(5 * 67)
    args = np.ones(5, dtype), elements.reshape(5, 67).astype(dtype)
    assert steps(column_sums.auto_schedule(*args), "in_register")
    assert_native_agrees(Kernel(column_sums.__hybrid_function__), *args)


# -- refused ---------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[Schedule], object], str]] = {
    "lanes": (lambda s: s.sums_in_lanes("j", lanes=3), "a power of two, 256 at most, got 3"),
    "rows": (lambda s: s.sums_in_lanes("j", "i", lanes=8, rows=17), "1 to 16 rows, got 17"),
    "no loop": (lambda s: s.sums_in_lanes("j", lanes=8, rows=2), "which loop goes over the 2 rows"),
    "one loop": (lambda s: s.sums_in_lanes("j", "j", lanes=8), "either lanes or rows"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_numbers(name: str) -> None:
    step, message = REFUSED[name]
    with pytest.raises(ScheduleError, match=message):
        step(product.schedule(*arrays(9, 9, 9)))


def test_sums_that_need_each_other_are_refused() -> None:
    kernel = neighbours.with_schedule(lambda s: s.sums_in_lanes("j", lanes=8))
    with pytest.raises(ScheduleError, match="sums in loop 'j' cannot run in 8 lanes: its sums are"):
        kernel(*arrays(9, 17, 41))
    left = neighbours.with_schedule(lambda s: s.sums_in_lanes("j", lanes=8, if_possible=True))
    assert_native_agrees(left, *arrays(9, 17, 41))


def test_an_element_that_a_failure_would_show_is_refused() -> None:
    kernel = gathers.with_schedule(lambda s: s.in_register("k"))
    args = np.ones(3), np.ones(5), np.array([0, 4, 1])
    with pytest.raises(ScheduleError, match="in_register: loop 'k' cannot keep what it updates"):
        kernel(*args)
    left = gathers.with_schedule(lambda s: s.in_register("k", if_possible=True))
    assert_native_agrees(left, *args)
