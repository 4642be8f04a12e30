"""simplify: the same value, nothing more to do the second time, and each law by example."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridjit.arith.simplify import LAWS, simplify
from hybridjit.errors import Span
from hybridjit.ir.dtype import BOOL, FLOAT32, INT8, INT64, UINT8
from hybridjit.ir.expr import (
    Add,
    And,
    BitAnd,
    BitOr,
    BitXor,
    Buffer,
    Cast,
    Const,
    Eq,
    Expr,
    ExternCall,
    FloorDiv,
    Ge,
    Gt,
    Invert,
    Le,
    Load,
    Lt,
    Max,
    Min,
    Mul,
    Ne,
    Neg,
    Not,
    Or,
    Pow,
    Select,
    ShiftLeft,
    Sub,
    Var,
)
from hybridjit.ir.extern import Extern
from hybridjit.ir.printer import format_expr
from tests.arith.exprs import FailsError, environments, evaluate, make_integer_expr
from tests.support.choices import samples, strategy

i, j, k = Var("i"), Var("j"), Var("k")
p, q = Var("p", BOOL), Var("q", BOOL)
b, u = Var("b", INT8), Var("u", UINT8)
x, y = Var("x", FLOAT32), Var("y", FLOAT32)
MAX = (1 << 63) - 1
MIN = -(1 << 63)
TABLE = Buffer("t", INT64, (Const(4),))
load = Load(TABLE, (i,))
TRUE, FALSE = Const(True, BOOL), Const(False, BOOL)


def outcome(expr: Expr, env: Mapping[Var, int]) -> int | None:
    """The value of `expr`, or None for an error."""
    try:
        return evaluate(expr, env)
    except FailsError:
        return None


# --- properties --------------------------------------------------------------------------------


def differ(a: Expr, b: Expr, seed: int) -> bool:
    """Whether some assignment tells `a` from `b`."""
    return any(outcome(a, env) != outcome(b, env) for env in environments(seed))


@given(strategy(make_integer_expr), st.integers(0, 1000))
def test_the_value_stays_and_so_do_errors(expr: Expr, seed: int) -> None:
    simple = simplify(expr)
    assert simple.dtype is expr.dtype
    assert not differ(expr, simple, seed), format_expr(simple)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(4))
def test_many_more_expressions(seed: int) -> None:
    for expr in samples(make_integer_expr, count=500, seed=seed):
        simple = simplify(expr)
        assert not differ(expr, simple, seed), f"{format_expr(expr)} --> {format_expr(simple)}"
        assert simplify(simple) is simple


@given(strategy(make_integer_expr))
def test_a_second_time_changes_nothing(expr: Expr) -> None:
    simple = simplify(expr)
    assert simplify(simple) is simple


@given(strategy(make_integer_expr))
def test_the_same_object_when_nothing_changes(expr: Expr) -> None:
    simple = simplify(expr)
    assert simple is expr or simple != expr


def cancel_factor(expr: Expr) -> Expr | None:
    match expr:
        case FloorDiv(Mul(value, Const(a)), Const(c)) if a == c != 0:
            return value
        case _:
            return None


def cancel_term(expr: Expr) -> Expr | None:
    match expr:
        case Lt(Add(value, Const(int(a))), Const(int(c))):
            return Lt(value, Const(c - a, value.dtype))
        case _:
            return None


def drop_factor(expr: Expr) -> Expr | None:
    match expr:
        case Mul(_, Const(0) as zero):
            return zero
        case _:
            return None


# With a seed that soon shows it.
@pytest.mark.parametrize(
    ("node", "law", "seed"),
    [(FloorDiv, cancel_factor, 3), (Lt, cancel_term, 2), (Mul, drop_factor, 0)],
)
def test_the_property_catches_a_law_that_forgets_wrapping_or_errors(
    node: type[Expr], law: object, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LAWS, node, (law, *LAWS[node]))  # type: ignore[arg-type]

    def is_wrong(expr: Expr) -> bool:
        return differ(expr, simplify(expr), seed=0)

    assert any(is_wrong(expr) for expr in samples(make_integer_expr, 10_000, seed))


# --- the laws ----------------------------------------------------------------------------------

SUMS = [
    (0 + i, i),
    (1 + i, i + 1),
    (i + 2 + 3, i + 5),
    (i - 2 + 5, i + 3),
    (i + 2 - 5, i - 3),
    (i - 2 - 5, i - 7),
    (i + Const(-3), i - 3),
    (i - Const(-3), i + 3),
    (i + MAX + 1, i + Const(MIN)),
    (7 - i + 1, 8 - i),
    (7 - i - 1, 6 - i),
    (7 - (i + 1), 6 - i),
    (7 - (i - 1), 8 - i),
    (0 - i, Neg(i)),
    (i + (j + k), i + j + k),
    (i + (j - k), i + j - k),
    (i - (j + k), i - j - k),
    (i - (j - k), i - j + k),
    (i + (3 - j), i - j + 3),
    (i + Neg(j), i - j),
    (i - Neg(j), i + j),
    (Neg(i) + j, j - i),
    (i + 1 + j, i + j + 1),
    (i - 1 + j, i + j - 1),
    (1 - i + j, j - i + 1),
    (i + 1 - j, i - j + 1),
    (i - 1 - j, i - j - 1),
    (i - i, Const(0)),
    (i + i, i * 2),
    (i * 32 + j - i * 32, j),
    (i * 3 + j + i, i * 4 + j),
    (j - i * 3 + i, j + i * Const(-2)),
    (j - i + i * 2, j + i),
    (i // 4 * 4 + i % 4, i),
    (i - i // 4 * 4, i % 4),
    (Neg(Neg(i)), i),
    (Neg(i - j), j - i),
    (Neg(i + 3), Const(-3) - i),
    (Neg(i * 3), i * Const(-3)),
    (load - load, load - load),  # may fail: it has to be evaluated
    (load + load, load * 2),
]

PRODUCTS = [
    (i * 0, Const(0)),
    (load * 0, load * 0),
    (i * 1, i),
    (i * Const(-1), Neg(i)),
    (4 * i, i * 4),
    (i * 4 * 8, i * 32),
    (Neg(i) * 4, i * Const(-4)),
    ((i + 1) * 4, i * 4 + 4),
    ((i - 1) * 4, i * 4 - 4),
    (i * (j * k), i * j * k),
    (i * 4 * j, i * j * 4),
    (i * (1 << 62) * 4, Const(0)),
    (i * 4 // 4, i * 4 // 4),  # i * 4 may wrap
    (i // 1, i),
    (i // Const(-1), Neg(i)),
    (Const(0) // Const(5), Const(0)),
    (Const(1) // Const(0), Const(1) // Const(0)),
    (Const(0) // i, Const(0) // i),
    (i // 4 // 8, i // 32),
    (i // (1 << 40) // (1 << 40), i // (1 << 40) // (1 << 40)),
    (i % 4 // 4, Const(0)),
    (i % 1, Const(0)),
    (i % 4 % 8, i % 4),
    (i % 12 % 4, i % 4),
    (i % 6 % 4, i % 6 % 4),
    (i % 0 % 4, i % 0 % 4),  # an error has to stay one
    (i * 8 % 4, Const(0)),
    (i * 6 % 3, i * 6 % 3),  # 3 does not divide 2^64
    ((i * 8 + j) % 4, j % 4),
    ((j + i * 8) % 4, j % 4),
    ((i + 5) % 4, (i + 1) % 4),
    ((i - 1) % 4, (i + 3) % 4),
    (Pow(i, Const(0)), Const(1)),
    (Pow(i, Const(1)), i),
    (ShiftLeft(i, Const(0)), i),
]

ORDER = [
    (Min(i, i), i),
    (Min(Const(3), i), Min(i, Const(3))),
    (Min(i, Const(MAX)), i),
    (Min(i, Const(MIN)), Const(MIN)),
    (Min(Min(i, Const(5)), Const(3)), Min(i, Const(3))),
    (Min(Max(i, Const(5)), Const(3)), Const(3)),
    (Min(Min(i, j), i), Min(i, j)),
    (Max(i, i), i),
    (Max(Const(3), i), Max(i, Const(3))),
    (Max(i, Const(MIN)), i),
    (Max(u, Const(0, UINT8)), u),
    (Max(i, Const(MAX)), Const(MAX)),
    (Max(Max(i, Const(5)), Const(3)), Max(i, Const(5))),
    (Max(Min(i, Const(3)), Const(5)), Const(5)),
    (Max(Max(i, j), j), Max(i, j)),
    (Lt(i, i), FALSE),
    (Le(i, i), TRUE),
    (Eq(load, load), Eq(load, load)),
    (Lt(Const(3), i), Gt(i, Const(3))),
    (Eq(i + 3, Const(5)), Eq(i, Const(2))),
    (Ne(i - 3, Const(5)), Ne(i, Const(8))),
    (Eq(3 - i, Const(5)), Eq(i, Const(-2))),
    (Eq(i - j, Const(0)), Eq(i, j)),
    (Ne(i + k, j + k), Ne(i, j)),
    (Eq(i - k, j - k), Eq(i, j)),
    (Eq(i + load, j + load), Eq(i + load, j + load)),
    (Lt(i + 3, Const(5)), Lt(i + 3, Const(5))),  # i + 3 may wrap
    (Eq(p, TRUE), p),
    (Ne(p, TRUE), Not(p)),
    (Lt(i % 4, Const(4)), TRUE),
    (Ge(i % 4, Const(4)), FALSE),
    (Ge(i % 4, Const(0)), TRUE),
    (Le(i % 4, Const(2)), Le(i % 4, Const(2))),
    (Gt(i, Const(MAX)), FALSE),
    (Ge(u, Const(0, UINT8)), TRUE),
    (Lt(b, Const(-128, INT8)), FALSE),
]

LOGIC = [
    (And(TRUE, p), p),
    (And(p, TRUE), p),
    (And(FALSE, Eq(load, i)), FALSE),
    (And(p, FALSE), FALSE),
    (And(Eq(load, i), FALSE), And(Eq(load, i), FALSE)),
    (And(p, p), p),
    (And(p, And(q, Lt(i, j))), And(And(p, q), Lt(i, j))),
    (And(And(p, q), p), And(p, q)),
    (Or(FALSE, p), p),
    (Or(p, FALSE), p),
    (Or(TRUE, p), TRUE),
    (Or(p, TRUE), TRUE),
    (Or(p, p), p),
    (Or(p, Or(q, Lt(i, j))), Or(Or(p, q), Lt(i, j))),
    (Or(Or(p, q), q), Or(p, q)),
    (Not(Not(p)), p),
    (Not(Lt(i, j)), Ge(i, j)),
    (Not(Lt(x, y)), Not(Lt(x, y))),  # NaN
    (Select(TRUE, i, j), i),
    (Select(FALSE, x, y), y),
    (Select(p, i, i), i),
    (Select(Not(p), i, j), Select(p, j, i)),
    (Select(p, TRUE, FALSE), p),
    (Select(p, FALSE, TRUE), Not(p)),
    (BitAnd(Const(6), i), BitAnd(i, Const(6))),
    (BitAnd(i, Const(-1)), i),
    (BitAnd(i, Const(0)), Const(0)),
    (BitAnd(u, Const(255, UINT8)), u),
    (BitAnd(i, i), i),
    (BitAnd(BitAnd(i, Const(6)), Const(3)), BitAnd(i, Const(2))),
    (BitOr(i, Const(0)), i),
    (BitOr(i, Const(-1)), Const(-1)),
    (BitOr(BitOr(i, Const(6)), Const(3)), BitOr(i, Const(7))),
    (BitOr(p, TRUE), TRUE),
    (BitXor(i, i), Const(0)),
    (BitXor(p, p), FALSE),
    (BitXor(BitXor(i, Const(6)), Const(3)), BitXor(i, Const(5))),
    (Invert(Invert(i)), i),
    (Cast(INT64, i), i),
    (Cast(INT8, Const(300)), Const(44, INT8)),
    (Cast(INT8, Const(300), checked=True), Cast(INT8, Const(300), checked=True)),
    (Cast(INT8, Const(3), checked=True), Const(3, INT8)),
    (Cast(BOOL, Const(2)), TRUE),
    (Cast(INT64, TRUE), Const(1)),
    (Cast(INT8, Cast(INT64, b), checked=True), b),
    (Cast(INT64, Cast(INT8, i)), Cast(INT64, Cast(INT8, i))),
    (Cast(FLOAT32, Const(3)), Cast(FLOAT32, Const(3))),
]


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        pytest.param(expr, expected, id=format_expr(expr))
        for expr, expected in [*SUMS, *PRODUCTS, *ORDER, *LOGIC]
    ],
)
def test_law(expr: Expr, expected: Expr) -> None:
    simple = simplify(expr)
    assert simple == expected, format_expr(simple)
    assert simple is expr or expr != expected


@pytest.mark.parametrize(
    "expr",
    [
        Add(x, Const(0.0, FLOAT32)),
        Mul(x, Const(1.0, FLOAT32)),
        Sub(x, x),
        Add(Const(1.0, FLOAT32), x),
        Min(x, x),
        Eq(x, x),
        Neg(Neg(x)),
        Add(Const(1.0, FLOAT32), Const(2.0, FLOAT32)),
    ],
    ids=format_expr,
)
def test_floats_are_left_alone(expr: Expr) -> None:
    assert simplify(expr) is expr


def test_indices_inside_a_float_expression_are_simplified() -> None:
    a = Buffer("a", FLOAT32, (Const(8),))
    one = Const(1.0, FLOAT32)
    assert simplify(Add(Load(a, (i + 0,)), one)) == Add(Load(a, (i,)), one)


def test_an_extern_call_keeps_everything_as_it_is() -> None:
    call = ExternCall(Extern("f", abs, INT64, (INT64,)), (i + 0,))
    expr = Add(load + 0, call)
    assert simplify(expr) is expr


def test_a_new_node_has_the_span_of_the_one_it_replaces() -> None:
    span = Span("kernel.py", 3, 4, 3, 9)
    simple = simplify(Mul(Const(4), i, span=span))
    assert simple.span is span


def test_a_long_sum_takes_no_time() -> None:
    total: Expr = i
    for number in range(200):
        total = total + number
    assert simplify(total) == i + sum(range(200))


def test_a_variable_stays_the_same_variable() -> None:
    """A copy that carries the span of what was simplified would be another variable."""
    var = Var("i")
    span = Span("kernel.py", 1, 1, 1, 6)

    assert simplify(Add(Sub(var, Const(1)), Const(1), span=span)) is var
