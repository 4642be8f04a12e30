"""Proofs that iterations touch different elements, against all iterations."""

from __future__ import annotations

from itertools import product

import pytest

from hybridjit.analysis.distinct import prove_distinct
from hybridjit.ir.expr import Const, Expr, Var
from hybridjit.ir.stmt import Evaluate, For, Let, Seq

i, j, x, outside = Var("i"), Var("j"), Var("x"), Var("outside")


def nest(inner: int, step: int = 1, value: Expr | None = None) -> For:
    """for i in range(0, 12, step): for j in range(inner): x = value"""
    body = Seq((Let(x, value if value is not None else i + j), Evaluate(x)))
    inside = For(j, Const(0), Const(inner), Const(1), body)
    return For(i, Const(0), Const(12), Const(step), inside)


@pytest.mark.parametrize(
    "index",
    [i, -i, i + outside, i * 4 + j, j - i * 4, i * 5 + j, outside * 3 - i * 4 - j],
    ids=str,
)
def test_proved(index: Expr) -> None:
    assert prove_distinct(nest(4), (index,))
    assert prove_distinct(nest(4), (j, index))


@pytest.mark.parametrize(
    "index", [j, outside, i * 3 + j, i // 2, i % 5, i * i, Const(3), i - i], ids=str
)
def test_not_proved(index: Expr) -> None:
    assert not prove_distinct(nest(4), (index,))
    assert not prove_distinct(nest(4), (index, outside))


def test_names_are_looked_through() -> None:
    assert prove_distinct(nest(4, value=i * 4 + j), (x,))
    assert not prove_distinct(nest(4, value=i * 4 + j * 2), (x,))
    assert not prove_distinct(nest(4, value=i * i), (x,))


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize(("scale", "inner"), list(product(range(-6, 7), range(1, 7))))
def test_agrees_with_all_iterations(scale: int, inner: int, step: int) -> None:
    touched = [{scale * a + b for b in range(inner)} for a in range(0, 12, step)]
    is_distinct = sum(map(len, touched)) == len(set[int]().union(*touched))
    assert prove_distinct(nest(inner, step), (i * scale + j,)) == is_distinct


def test_unknown_ranges_are_not_trusted() -> None:
    loop = For(i, Const(0), Const(9), Const(1), For(j, Const(0), outside, Const(1), Evaluate(j)))
    assert not prove_distinct(loop, (i * 4 + j,))
    shifted = For(j, outside, outside + 4, Const(1), Evaluate(j))
    loop = For(i, Const(0), Const(9), Const(1), shifted)
    assert prove_distinct(loop, (i * 4 + j,))


def test_ranges_that_move_with_the_loop_are_not_trusted() -> None:
    """4 * i - j with j in range(i, i + 4) is 0 for i = 0 and for i = 1."""
    moving = For(j, i, i + 4, Const(1), Evaluate(j))
    assert not prove_distinct(For(i, Const(0), Const(9), Const(1), moving), (i * 4 - j,))
    named = Seq((Let(x, i + 1), For(j, x, x + 4, Const(1), Evaluate(j))))
    assert not prove_distinct(For(i, Const(0), Const(9), Const(1), named), (i * 4 - j,))


def test_unknown_steps_are_not_trusted() -> None:
    loop = For(i, Const(0), Const(9), outside, Evaluate(i))
    assert not prove_distinct(loop, (i,))
