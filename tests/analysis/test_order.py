"""When two accesses of a loop nest may meet in an element."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridjit import hybrid
from hybridjit.analysis.distances import Order
from hybridjit.analysis.order import Iterations
from hybridjit.arith.ranges import Ranges
from hybridjit.ir.expr import Add, Const, Expr, Mul, Var
from tests.support.array_results import assert_agree

ROW, COLUMN, K, N = Var("i"), Var("j"), Var("k"), Var("n")
SIZE = 4
KNOWN = Ranges(
    {
        K: (Const(1), N, Const(1)),
        ROW: (Const(0), N, Const(1)),
        COLUMN: (Const(0), N, Const(1)),
    },
    {},
    {N},
)


def meet(ours: list[Any], theirs: list[Any], varying: tuple[Var, ...] = ()) -> Order:
    return Iterations([ROW, COLUMN], varying, KNOWN).meet(ours, theirs)


def test_the_same_element_is_met_in_the_same_iteration():
    assert meet([ROW, COLUMN], [ROW, COLUMN]) == Order.SAME


def test_the_outer_loop_decides():
    assert meet([ROW + 1, COLUMN], [ROW, COLUMN + 1]) == Order.BEFORE
    assert meet([ROW, COLUMN + 1], [ROW + 1, COLUMN]) == Order.AFTER


def test_an_index_that_may_count_from_the_end_is_not_known():
    assert meet([ROW - 1, COLUMN], [ROW - 1, COLUMN]) == Order.ANY


def test_what_moves_otherwise_is_not_known():
    assert meet([COLUMN, ROW], [ROW, COLUMN]) == Order.ANY
    assert meet([ROW, K], [ROW, COLUMN]) == Order.ANY


def test_a_value_that_changes_inside_the_nest_is_not_known():
    assert meet([ROW, K + 1], [ROW, K + 1], varying=(K,)) == Order.ANY


def test_fixed_indices_that_differ_never_meet():
    assert meet([ROW, K - 1], [ROW, K]) == Order.NEVER
    assert meet([ROW, Const(1)], [ROW, Const(2)]) == Order.NEVER


def test_fixed_indices_that_may_count_from_the_end_may_meet():
    assert meet([ROW, K - 2], [ROW, K]) != Order.NEVER
    assert meet([ROW, Const(-1)], [ROW, Const(2)]) != Order.NEVER


def test_steps_that_miss_each_other_never_meet():
    assert meet([ROW * 2, COLUMN], [ROW * 2 + 1, COLUMN]) == Order.NEVER


def test_a_distance_of_known_sign():
    assert meet([ROW + K, COLUMN], [ROW, COLUMN]) == Order.BEFORE
    assert meet([ROW, COLUMN], [ROW + K, COLUMN]) == Order.AFTER
    assert meet([ROW + N, COLUMN], [ROW, COLUMN]) == Order.BEFORE | Order.SAME


def _indices() -> st.SearchStrategy[Expr]:
    def build(loop: Any, factor: int, offset: int) -> Expr:
        return Const(offset) if loop is None else Add(Mul(loop, Const(factor)), Const(offset))

    return st.builds(
        build, st.sampled_from([ROW, COLUMN, None]), st.sampled_from([1, 2]), st.integers(0, 3)
    )


def _value(expr: Expr, i: int, j: int) -> int:
    match expr:
        case Const(int(value)):
            return value
        case Add(Mul(loop, Const(factor)), Const(offset)):
            return (i if loop is ROW else j) * int(factor.real) + int(offset.real)
        case _:
            raise AssertionError(expr)


@given(st.tuples(_indices(), _indices()), st.tuples(_indices(), _indices()))
def test_every_meeting_is_foreseen(ours: tuple[Expr, Expr], theirs: tuple[Expr, Expr]):
    found = meet([*ours], [*theirs])
    points = list(itertools.product(range(SIZE), repeat=2))
    for p, q in itertools.product(points, points):
        if all(_value(a, *p) == _value(b, *q) for a, b in zip(ours, theirs, strict=True)):
            order = Order.BEFORE if p < q else Order.SAME if p == q else Order.AFTER
            assert order in found, (p, q)


# -- assignments that overlap ----------------------------------------------------------------------


def _shift_down(a: Any):
    a[:-1] = a[1:] * 2


def _shift_up(a: Any):
    a[1:] = a[:-1] * 2


def _rows(a: Any):
    for k in range(1, a.shape[0]):
        a[k] = a[k] - a[k - 1] * 3


def _window(a: Any):
    a[1:-1, 1:] += a[1:-1, :-1] + a[:-2, :-1] + a[2:, 1:]


def _turned(a: Any):
    a[:] = a[::-1] + a


@pytest.mark.parametrize(
    ("function", "temporaries"),
    [(_shift_down, 0), (_shift_up, 1), (_rows, 0), (_window, 1), (_turned, 1)],
)
def test_a_copy_is_made_only_where_one_is_needed(function: Any, temporaries: int):
    kernel: Any = hybrid.script(function)
    array: Any = np.ones((5, 4)) + np.arange(4.0)
    array[:, 0] = np.arange(5.0)
    assert_agree(kernel, [array])
    assert kernel.inspect("tir", array).count("allocate(") == temporaries


def test_a_size_that_only_a_branch_checks():
    """`np.ones(n)` says that n is not negative, but only where it runs."""

    @hybrid.script
    def kernel(a: Any, n: int, c: int):
        s = 0.0
        if c > 0:
            x = np.ones(n)
            s = x.sum()
        return a[:n].sum() + s

    assert_agree(kernel, [np.arange(5.0), -2, 0])
    assert_agree(kernel, [np.arange(5.0), 2, 1])
