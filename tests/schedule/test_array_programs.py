"""Schedules of whole-array code: they start from the program as written."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import ScheduleError, hybrid
from hybridjit.schedule.schedule import Schedule
from tests.support.optimized import bound_of_order

np: Any = numpy
Array = Any
RNG: Any = np.random.default_rng(3)


@hybrid.script
def softmax(x: Array) -> Array:
    largest = np.max(x, axis=-1, keepdims=True)
    exps = np.exp(x - largest)
    return exps / np.sum(exps, axis=-1, keepdims=True)


@hybrid.script
def affine(a: Array, b: Array, c: Array) -> Array:
    return a @ b + c


def merge_rows(s: Schedule) -> None:
    s.merge(s.loops("exps")[0], s.loops("sum")[0])


def tiled(s: Schedule) -> None:
    i, j, k = s.loops("product")
    i_0, i_1 = s.split(i, factor=8)
    j_0, j_1 = s.split(j, factor=16)
    s.reorder(i_0, j_0, k, i_1, j_1)
    s.vectorize(j_1)


def test_a_product_is_three_loops_around_one_block() -> None:
    s = affine.schedule(*[RNG.random((24, 24))] * 3)
    assert [loop.var.name for loop in s.loops("product")] == ["i", "j", "k"]
    assert [block.name for block in s.blocks()] == ["product", "result"]


def test_two_nests_are_merged_by_hand() -> None:
    x = RNG.random((30, 40))
    s = softmax.schedule(x)
    merge_rows(s)
    assert str(s.func).count("for i") == str(softmax.prim_func(x)).count("for i") - 1
    merged = softmax.with_schedule(merge_rows)
    np.testing.assert_allclose(merged(x), softmax(x), rtol=0, atol=bound_of_order(40, "f8", 1.0))


def test_a_product_is_tiled_by_hand() -> None:
    a, b, c = (RNG.integers(-8, 9, (n, m)) / 4 for n, m in ((40, 33), (33, 48), (40, 48)))
    kernel = affine.with_schedule(tiled)
    np.testing.assert_array_equal(kernel(a, b, c), affine(a, b, c))  # sums without rounding
    np.testing.assert_array_equal(kernel.interpret(a, b, c), affine(a, b, c))
    assert "i_0 * 8 + i_1" in kernel.inspect("optimized", a, b, c)


def test_the_steps_replay_on_other_shapes() -> None:
    s = affine.schedule(*[RNG.random((16, 16))] * 3)
    tiled(s)
    a, b, c = (RNG.integers(-8, 9, (n, m)) / 4 for n, m in ((9, 7), (7, 5), (9, 5)))
    kernel = affine.with_schedule(s)
    np.testing.assert_array_equal(kernel(a, b, c), affine(a, b, c))


@hybrid.script
def two_parts(a: Array, b: Array, x: Array) -> Any:
    t = x * 2
    u = t + 1
    return a @ b, u * u


def test_what_no_step_touches_is_optimised() -> None:
    args = RNG.random((24, 24)), RNG.random((24, 24)), RNG.random(40)
    kernel = two_parts.with_schedule(tiled)
    text = kernel.inspect("optimized", *args)
    assert "t = allocate" not in text
    assert "i_0 * 8 + i_1" in text
    for got, want in zip(kernel(*args), two_parts(*args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)


@hybrid.script
def without_column_sums(a: Array) -> Array:
    return a - a.sum(axis=0)


def test_a_merge_that_is_illegal_is_refused() -> None:
    """The sum of a column would be used before all of its rows are in it."""
    s = without_column_sums.schedule(RNG.random((30, 40)))
    with pytest.raises(ScheduleError, match="before one that it depends on"):
        s.merge(s.loops("sum")[0], s.loops("result")[0])


@hybrid.script
def row_sums(a: Array) -> Array:
    return a.sum(axis=1)


@hybrid.script
def row_sums_in_order(a: Array) -> Array:
    total = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total[i] += a[i, j]
    return total


def columns_last_first(s: Schedule, block: str) -> None:
    """The terms of a sum in another order: every fourth one first."""
    _, j = s.loops(block)
    outer, inner = s.split(j, factor=4)
    s.reorder(inner, outer)


def test_the_sum_of_an_array_statement_may_take_its_terms_in_another_order() -> None:
    a = RNG.random((6, 8))
    kernel = row_sums.with_schedule(lambda s: columns_last_first(s, "sum"))
    np.testing.assert_allclose(kernel(a), a.sum(axis=1), rtol=1e-14)
    partial = row_sums.with_schedule(lambda s: s.rfactor(s.loops("sum")[1]))
    np.testing.assert_allclose(partial(a), a.sum(axis=1), rtol=1e-14)


def test_the_sum_of_a_loop_keeps_its_order() -> None:
    s = row_sums_in_order.schedule(RNG.random((6, 8)))
    with pytest.raises(ScheduleError, match="is written by"):
        columns_last_first(s, "total")
    with pytest.raises(ScheduleError, match="would be rounded otherwise"):
        s.rfactor("j_1")
