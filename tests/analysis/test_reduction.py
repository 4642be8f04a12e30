"""find_reduction: every spelling of an update, and what looks like one but is not."""

from __future__ import annotations

import pytest

from hybridjit.analysis.reduction import (
    ReductionOp,
    find_guarded_reduction,
    find_reduction,
)
from hybridjit.ir.dtype import BOOL, FLOAT32, INT64, UINT8
from hybridjit.ir.expr import (
    Add,
    And,
    BitAnd,
    BitOr,
    BitXor,
    Buffer,
    BufferRef,
    Call,
    Const,
    Div,
    Expr,
    ExternCall,
    Ge,
    Gt,
    Le,
    Load,
    Lt,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Or,
    Select,
    Sub,
    Var,
)
from hybridjit.ir.extern import Extern
from hybridjit.ir.stmt import If, Seq, Store

i, j = Var("i"), Var("j")
EIGHT = (Const(8),)
INTS, FLOATS = Buffer("x", INT64, EIGHT), Buffer("x", FLOAT32, EIGHT)
BOOLS, BYTES = Buffer("x", BOOL, EIGHT), Buffer("x", UINT8, EIGHT)
x, e, f = Load(INTS, (i,)), Var("e"), Var("f")
fx, fe, ff = Load(FLOATS, (i,)), Var("e", FLOAT32), Var("f", FLOAT32)
bx, be = Load(BOOLS, (i,)), Var("e", BOOL)
Op = ReductionOp


def update(value: Expr, buffer: Buffer | None = None) -> tuple[ReductionOp, Expr] | None:
    """What storing `value` to x[i] is recognised as."""
    target = {INT64: INTS, FLOAT32: FLOATS, BOOL: BOOLS}[value.dtype] if buffer is None else buffer
    found = find_reduction(Store(target, (i,), value))
    if found is None:
        return None
    assert found.buffer is target
    assert found.indices == (i,)
    return found.op, found.update


@pytest.mark.parametrize(
    ("value", "op", "expected"),
    [
        (x + e, Op.ADD, e),
        (e + x, Op.ADD, e),
        (x - e, Op.ADD, Neg(e)),
        (x - 3, Op.ADD, Const(-3)),
        (x + e + f, Op.ADD, e + f),
        (x + e - f, Op.ADD, e - f),
        (x - e - f, Op.ADD, Neg(e) - f),
        (e + x + f, Op.ADD, e + f),
        (e + (x + f), Op.ADD, f + e),
        (fx + fe + ff, Op.ADD, fe + ff),
        (x * e, Op.MUL, e),
        (e * x, Op.MUL, e),
        (x * e * f, Op.MUL, e * f),
        (x + e * f, Op.ADD, e * f),
        (Min(x, e), Op.MIN, e),
        (Min(e, x), Op.MIN, e),
        (Min(Min(x, e), f), Op.MIN, Min(e, f)),
        (Max(fx, fe), Op.MAX, fe),
        (Call("minimum", (fx, fe)), Op.MINIMUM, fe),
        (Call("maximum", (fe, fx)), Op.MAXIMUM, fe),
        (And(bx, be), Op.AND, be),
        (Or(be, bx), Op.OR, be),
        (BitAnd(x, e), Op.BIT_AND, e),
        (BitOr(e, x), Op.BIT_OR, e),
        (BitXor(bx, be), Op.BIT_XOR, be),
    ],
)
def test_operators(value: Expr, op: ReductionOp, expected: Expr) -> None:
    assert update(value) == (op, expected)


def test_an_unsigned_constant_is_negated_modulo_its_width() -> None:
    value = Sub(Load(BYTES, (i,)), Const(3, UINT8))
    assert update(value, BYTES) == (Op.ADD, Const(253, UINT8))


@pytest.mark.parametrize(
    ("cond", "then_update", "op"),
    [
        (Lt(e, x), True, Op.MIN),
        (Le(e, x), True, Op.MIN),
        (Gt(x, e), True, Op.MIN),
        (Gt(e, x), True, Op.MAX),
        (Lt(x, e), True, Op.MAX),
        (Ge(e, x), True, Op.MAX),
        (Lt(x, e), False, Op.MIN),
        (Ge(e, x), False, Op.MIN),
        (Ge(x, e), False, Op.MAX),
        (Lt(e, x), False, Op.MAX),
        (Not(Lt(x, e)), True, Op.MIN),
        (Not(Not(Lt(x, e))), True, Op.MAX),
    ],
)
def test_conditional_spellings(cond: Expr, then_update: bool, op: ReductionOp) -> None:
    value = Select(cond, e, x) if then_update else Select(cond, x, e)
    assert update(value) == (op, e)


@pytest.mark.parametrize(
    ("value", "op"),
    [
        (Select(Lt(fe, fx), fe, fx), Op.MIN),
        (Select(Gt(fx, fe), fe, fx), Op.MIN),
        (Select(Gt(fe, fx), fe, fx), Op.MAX),
        (Select(Not(Gt(fe, fx)), fx, fe), Op.MAX),
        (Select(Le(fe, fx), fe, fx), None),  # -0.0 and 0.0
        (Select(Lt(fx, fe), fx, fe), None),  # takes a NaN
        (Select(Not(Lt(fe, fx)), fe, fx), None),
        (Min(fe, fx), None),
        (Max(fe, fx), None),
        (Min(Min(fx, fe), ff), None),
        (Min(fx, Min(fe, ff)), Op.MIN),
    ],
)
def test_floats_only_where_nan_cannot_tell_the_order(value: Expr, op: ReductionOp | None) -> None:
    found = update(value)
    assert (found and found[0]) == op


@pytest.mark.parametrize(
    "value",
    [
        e,
        x,
        e - x,
        e + f,
        Load(INTS, (j,)) + e,
        x + x,
        x * e + f,
        x + Load(INTS, (j,)),
        x + e * Load(INTS, (j,)),
        Neg(x),
        Div(fx, fe),
        Min(x, e) + f,
        Select(Lt(e, f), e, x),
        Select(Lt(e, x), f, x),
        Select(Lt(e, x), e, f),
        Select(be, e, x),
        Select(Lt(x, x), x, x),
        x + ExternCall(Extern("f", abs, INT64), (e,)),
        x + ExternCall(Extern("f", abs, INT64), (BufferRef(INTS),)),
    ],
)
def test_not_a_reduction(value: Expr) -> None:
    assert update(value) is None


def test_an_index_that_reads_the_buffer_is_not_a_reduction() -> None:
    place = (Load(INTS, (i,)),)
    assert find_reduction(Store(INTS, place, Load(INTS, place) + 1)) is None


def test_a_scattered_update_is_a_reduction() -> None:
    place = (Load(Buffer("index", INT64, EIGHT), (i,)),)
    found = find_reduction(Store(INTS, place, Load(INTS, place) + 1))
    assert found is not None
    assert found.indices == place


def test_guarded() -> None:
    store = Store(INTS, (i,), e)
    for then in (store, Seq((store,))):
        found = find_guarded_reduction(If(Gt(e, x), then))
        assert found is not None
        assert (found.op, found.update) == (Op.MAX, e)


@pytest.mark.parametrize(
    "stmt",
    [
        If(Gt(f, x), Store(INTS, (i,), e)),
        If(Gt(e, x), Store(INTS, (j,), e)),
        If(Gt(e, x), Store(INTS, (i,), e), Store(INTS, (i,), f)),
        If(Gt(e, x), Seq((Store(INTS, (i,), e), Store(INTS, (j,), e)))),
        If(Ge(fe, fx), Store(FLOATS, (i,), fe)),
        If(be, Store(INTS, (i,), e)),
    ],
)
def test_not_guarded_by_the_comparison(stmt: If) -> None:
    assert find_guarded_reduction(stmt) is None


def test_a_long_sum_takes_no_time() -> None:
    total: Expr = x
    for number in range(300):
        total = Add(total, Mul(e, Const(number)))
    assert find_reduction(Store(INTS, (i,), total)) is not None
