"""linear_form: what is linear, and what is not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given

from hybridjit.arith.linear import Linear, linear_form
from hybridjit.ir.dtype import INT32, INT64
from hybridjit.ir.expr import (
    Add,
    Buffer,
    Cast,
    Const,
    Expr,
    FloorDiv,
    Load,
    Min,
    Mod,
    Mul,
    Neg,
    ShiftLeft,
    Sub,
    Var,
)
from hybridjit.ir.printer import format_expr
from tests.support.choices import Choose, pick, strategy

i, j, n = Var("i"), Var("j"), Var("n")


@pytest.mark.parametrize(
    ("expr", "terms", "constant"),
    [
        (i, {i: 1}, 0),
        (Const(5), {}, 5),
        (i * 4 + j - 3, {i: 4, j: 1}, -3),
        (2 - (i - j) * 3, {i: -3, j: 3}, 2),
        (Neg(i + 1), {i: -1}, -1),
        (i - i + j, {j: 1}, 0),
        ((i + 2) * (Const(3) - 1), {i: 2}, 4),
        (Const(3) * (Const(2) * i), {i: 6}, 0),
        (i * 0, {}, 0),
        (i * (1 << 62) * 8, {i: 1 << 65}, 0),
    ],
    ids=lambda value: format_expr(value) if isinstance(value, Expr) else "",
)
def test_linear(expr: Expr, terms: dict[Var, int], constant: int) -> None:
    assert linear_form(expr) == Linear(terms, constant)


@pytest.mark.parametrize(
    "expr",
    [
        i * n,
        FloorDiv(i, Const(2)),
        Mod(i, Const(2)),
        Min(i, j),
        ShiftLeft(i, Const(2)),
        Load(Buffer("t", INT64, (n,)), (i,)) + 1,
        Cast(INT64, Var("k", INT32)),
        Var("k", INT32),
    ],
    ids=format_expr,
)
def test_not_linear(expr: Expr) -> None:
    assert linear_form(expr) is None


def test_variables_are_inlined() -> None:
    forms = {j: Linear({i: 2}, 1)}
    assert linear_form(j * 3 + i, lambda var: forms.get(var, Linear({var: 1}))) == Linear({i: 7}, 3)
    assert linear_form(j * 3 + i, forms.get) is None


def test_replace() -> None:
    form = Linear({i: 2, j: 1}, 5)
    assert form.replace(i, Linear({j: 3}, 1)) == Linear({j: 7}, 7)
    assert form.replace(i, Linear({j: -1}, 0)).terms == {j: -1}
    assert form.replace(n, Linear({j: -1}, 0)) is form


def make_sum(choose: Choose, depth: int = 4) -> Expr:
    if depth == 0 or choose(4) == 0:
        return pick(choose, (i, j, n, Const(choose(7) - 3)))
    lhs, rhs = make_sum(choose, depth - 1), make_sum(choose, depth - 1)
    return pick(choose, (Add(lhs, rhs), Sub(lhs, rhs), Mul(lhs, Const(choose(7) - 3)), Neg(lhs)))


def exact_value(expr: Expr, env: dict[Var, int]) -> int:
    """The value in the integers, without a width."""
    match expr:
        case Const(int(value)):
            return value
        case Var():
            return env[expr]
        case Neg(x):
            return -exact_value(x, env)
        case Add(x, y):
            return exact_value(x, env) + exact_value(y, env)
        case Sub(x, y):
            return exact_value(x, env) - exact_value(y, env)
        case Mul(x, y):
            return exact_value(x, env) * exact_value(y, env)
        case _:
            raise NotImplementedError(type(expr).__name__)


@given(strategy(make_sum))
def test_the_form_has_the_value_of_the_expression(expr: Expr) -> None:
    form = linear_form(expr)
    assert form is not None
    assert 0 not in form.terms.values()
    generator = random.Random(0)
    for _ in range(5):
        env = {var: generator.randint(-(1 << 40), 1 << 40) for var in (i, j, n)}
        total = form.constant + sum(c * env[var] for var, c in form.terms.items())
        assert total == exact_value(expr, env)
