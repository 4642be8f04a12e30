"""The cost model: which functions count, and how much code and work there is."""

from __future__ import annotations

import pytest

import hybridjit as hj
from hybridjit.analysis.cost import (
    FUNCTION,
    FUNCTION_NODES,
    UNBOUNDED,
    count_nodes,
    estimate_work,
    is_dear,
    make_work,
    operation_cost,
)
from hybridjit.ir.dtype import FLOAT64
from hybridjit.ir.expr import Call, Const, Div, Min, Pow, Var
from hybridjit.ir.intrinsics import INTRINSICS
from hybridjit.ir.stmt import Evaluate, For
from tests.frontend.from_text import script_from_text

x = Var("x", FLOAT64)


@pytest.mark.parametrize("name", ["exp", "sin", "tanh", "erf", "lgamma", "atan2"])
def test_polynomials_are_dear(name: str) -> None:
    call = Call(name, (x,) * INTRINSICS[name].arity)
    assert operation_cost(call) == FUNCTION
    assert is_dear([call], divisions=False)
    assert count_nodes(Evaluate(call)) > FUNCTION_NODES


@pytest.mark.parametrize("name", ["sqrt", "abs", "floor", "isnan", "minimum", "copysign", "hypot"])
def test_some_instructions_are_not(name: str) -> None:
    call = Call(name, (x,) * INTRINSICS[name].arity)
    assert not is_dear([call], divisions=True)
    assert count_nodes(Evaluate(call)) < FUNCTION_NODES


def test_divisions_count_where_they_are_asked_for() -> None:
    assert is_dear([Div(x, x)], divisions=True)
    assert not is_dear([Div(x, x)], divisions=False)
    assert is_dear([Pow(x, Const(0.3, FLOAT64))], divisions=False)


def test_work_is_a_number_times_the_run_time_sizes() -> None:
    head = "def f(a):\n    for i in range(a.shape[0]):\n"
    text = f"{head}        for j in range(8):\n            a[i] += 1\n"
    func = script_from_text(text, {}).prim_func(hj.f64["n"])
    number, sizes = estimate_work(func)
    assert 8 <= number < 80
    assert [size.name for size in sizes] == ["n"]


def test_nobody_knows_how_long_a_while_loop_runs() -> None:
    text = "def f(a):\n    while a[0] > 0:\n        a[0] -= 1\n"
    func = script_from_text(text, {}).prim_func(hj.f64[4])
    assert estimate_work(func) == (UNBOUNDED, ())


@pytest.mark.parametrize("step", [1, 3, -2])
def test_blocks_of_which_the_last_is_shorter_are_long(step: int) -> None:
    """By a guess of eight iterations, all blocks of a loop went to one thread."""
    block, i = Var("block"), Var("i")
    first = block * 624
    end = first + Min(40_000 - first, Const(624))
    bounds = (first, end) if step > 0 else (end, first)
    loop = For(i, *bounds, Const(step), Evaluate(Call("exp", (x,))))
    each = FUNCTION + 1
    assert make_work(loop, [block]) == Const(-(-624 // abs(step)) * (each + 1))
