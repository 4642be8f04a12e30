"""How long loops take at most, where their bounds depend on other loops."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, config, hybrid
from hybridjit.analysis.cost import find_quiet_work, find_work
from hybridjit.analysis.limits import find_limits, limits_of_loop, most_iterations
from hybridjit.ir.dtype import BOOL, INT64
from hybridjit.ir.expr import Buffer, Const, Eq, Expr, FloorDiv, Load, Lt, Max, Min, Select, Var
from hybridjit.ir.stmt import AT_MOST, Break, For, If, Let, Seq, Stmt, Store, While, seq
from hybridjit.ir.visit import walk
from hybridjit.lowering.pipeline import lower
from hybridjit.processor import current_target
from tests.corpus.case import Array

ROW, COLUMN = Var("i"), Var("j")
N = Var("n")
COUNT = Buffer("count", INT64, (), Buffer.REGISTER)
KNOWN = {ROW: (2, 9), COLUMN: (-3, 4)}
BOUNDS: list[Expr | int] = [
    *(0, 5, -4, ROW, COLUMN, ROW + COLUMN, ROW - COLUMN, ROW * 2 - 3, -COLUMN),
    *(Min(ROW, COLUMN), Max(COLUMN, Const(0)), ROW + 8),
    *(Min(ROW + 8, Const(13)), Max(ROW - 6, COLUMN), Min(ROW + 3, Min(COLUMN + 9, ROW + 5))),
]


def _expr(bound: Expr | int) -> Expr:
    return Const(bound) if isinstance(bound, int) else bound


def _value(expr: Expr, i: int, j: int) -> int:
    """What an index is for given variables."""
    match expr:
        case Const(int(value)):
            return value
        case Var():
            return i if expr is ROW else j
        case Min(a, b):
            return min(_value(a, i, j), _value(b, i, j))
        case Max(a, b):
            return max(_value(a, i, j), _value(b, i, j))
        case _:
            limits = find_limits(expr, {ROW: (i, i), COLUMN: (j, j)})
            assert limits is not None
            return limits[0]


def _loop(start: Expr | int, stop: Expr | int, step: int = 1, body: Stmt | None = None) -> For:
    inner = Seq(()) if body is None else body
    return For(Var("k"), _expr(start), _expr(stop), Const(step), inner)


@pytest.mark.parametrize("step", [1, 3, -1, -4])
@pytest.mark.parametrize("start", BOUNDS, ids=lambda bound: str(BOUNDS.index(bound)))
def test_limits_hold_in_all_iterations(start: Expr | int, step: int) -> None:
    for stop in BOUNDS:
        _check_limits(_loop(start, stop, step), step)


def _check_limits(loop: For, step: int) -> None:
    limits, most = limits_of_loop(loop, KNOWN), most_iterations(loop, KNOWN)
    assert limits is not None
    assert most is not None
    for i, j in itertools.product(range(2, 10), range(-3, 5)):
        run = range(_value(loop.start, i, j), _value(loop.stop, i, j), step)
        assert len(run) <= most
        assert all(limits[0] <= k <= limits[1] for k in run)


def test_limits_are_reached() -> None:
    assert limits_of_loop(_loop(0, ROW), KNOWN) == (0, 8)
    assert most_iterations(_loop(0, ROW), KNOWN) == 9
    assert most_iterations(_loop(ROW, ROW + 16, 3), {}) == 6
    assert most_iterations(_loop(ROW, 12), KNOWN) == 10
    assert most_iterations(_loop(ROW, COLUMN - 2, -2), KNOWN) == 7
    assert most_iterations(_loop(ROW, Min(ROW + 8, N)), {}) == 8  # a tile
    assert most_iterations(_loop(ROW, Max(N, ROW - 9), -2), {}) == 5


def test_products_and_quotients() -> None:
    assert find_limits(ROW * COLUMN, KNOWN) == (-27, 36)
    assert find_limits(FloorDiv(COLUMN, Const(2)) * 2 - ROW, KNOWN) == (-13, 2)


def test_a_loop_may_say_how_often_it_runs() -> None:
    loop = replace(_loop(0, N), annotations=((AT_MOST, 7),))
    assert most_iterations(loop, KNOWN) == 7


def test_what_is_not_known() -> None:
    for loop in (_loop(0, N), _loop(N, 5), _loop(0, Load(COUNT))):
        assert most_iterations(loop, KNOWN) is None
    assert limits_of_loop(_loop(0, N), KNOWN) is None
    assert find_limits(ROW + (1 << 50), KNOWN) is None
    stepping = For(Var("k"), Const(0), Const(5), N, Seq(()))
    assert most_iterations(stepping, KNOWN) is None


def test_work_of_a_triangle() -> None:
    row = _loop(0, ROW, body=Break())
    nest = For(ROW, Const(0), Const(10), Const(1), row)
    assert find_work(row) is None
    assert find_work(nest) == 10 * (9 * 2 + 1)


def test_names_count_as_what_they_stand_for() -> None:
    last = Var("last")
    body = seq(Let(last, ROW + 1), _loop(ROW, last, body=Break()))
    assert find_work(body) is None
    assert find_work(body, KNOWN) == 1 + 2 * (10 - 2)


def test_quiet_work_leaves_out_what_looks_for_signals() -> None:
    short, long, unknown = _loop(0, 10, body=Break()), _loop(0, 500, body=Break()), _loop(0, N)
    endless = While(Const(True, BOOL), Break())
    body = seq(short, long, unknown, endless, If(Const(True, BOOL), short, Break()))
    assert find_quiet_work(body, 100) == 20 + 21
    assert find_quiet_work(body, 10_000) == 20 + 1000 + 21


@hybrid.script
def triangle(a: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]


def test_a_short_nest_does_not_look_for_signals() -> None:
    with config.scope(interpret=False):
        assert "hj_poll" not in triangle.inspect("llvm", np.ones((50, 50)))
        assert "hj_poll" in triangle.inspect("llvm", np.ones((500, 500)))


@hybrid.script
def counted(a: Array, b: Array, n: int, m: int) -> None:
    for i in range(n):
        a[3 * i + m] = b[i]


@hybrid.script
def skipping(a: Array, b: Array, n: int, m: int) -> None:
    for i in range(n):
        if i % 2 == m:
            continue
        a[i // 2] = b[0]


def _loops(kernel: Kernel[..., None], *specs: Any) -> list[For]:
    func = lower(kernel.prim_func(*specs, 1, 2), current_target())
    return [node for node in walk(func.body) if isinstance(node, For)]


def test_a_loop_is_no_longer_than_the_arrays_that_it_goes_along() -> None:
    plain, checked = _loops(counted, hj.f64[50], hj.f64[40])
    assert most_iterations(plain, {}) == 17
    assert most_iterations(checked, {}) is None


def test_elements_that_are_not_touched_each_time_say_nothing() -> None:
    assert all(most_iterations(loop, {}) is None for loop in _loops(skipping, hj.f64[9], hj.f64[9]))
    index, cell = ROW * 0, Buffer("cell", INT64, (Const(9),))
    same = For(ROW, Const(0), N, Const(1), Store(cell, (index,), ROW))
    some = For(ROW, Const(0), N, Const(1), If(Eq(ROW, N), Store(cell, (ROW,), ROW)))
    either = Select(Lt(ROW, Const(9)), Load(cell, (ROW,)), Const(0))
    chosen = For(ROW, Const(0), N, Const(1), Let(Var("x"), either))
    assert all(most_iterations(loop, {}) is None for loop in (same, some, chosen))


def test_loops_of_unknown_length_note_their_own_work() -> None:
    row = _loop(0, ROW, body=Break())
    assert find_work(row, KNOWN) == 2 * 9
    assert find_quiet_work(row, 100, KNOWN) == 0
    around = _loop(0, 5, body=seq(row, Break()))
    assert find_quiet_work(around, 1000, KNOWN) == 5 * (0 + 1 + 1)
