"""The laws of and, or, not, conditional expressions, bits and conversions.

`and`, `or` and the conditional evaluate only what they need: dropping what was never evaluated
is always right, dropping a condition only if it cannot fail.
"""

from __future__ import annotations

from collections.abc import Mapping

from hybridjit.arith.laws_order import NEGATED
from hybridjit.arith.laws_sum import Law, literal
from hybridjit.arith.totality import is_total
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import (
    And,
    BitAnd,
    BitOr,
    BitXor,
    Cast,
    Compare,
    Const,
    Expr,
    Invert,
    Not,
    Or,
    Select,
)


def both(expr: Expr) -> Expr | None:
    match expr:
        case And(Const(True), x) | And(x, Const(True)):
            return x
        case And(Const(False) as false, _):
            return false
        case And(x, Const(False) as false) if is_total(x):
            return false
        case And(x, y) if x == y:
            return x
        case And(x, And(y, z)):
            return And(And(x, y), z)
        case And(And(x, y), z) if z in (x, y):
            return And(x, y)
        case _:
            return None


def either(expr: Expr) -> Expr | None:
    match expr:
        case Or(Const(False), x) | Or(x, Const(False)):
            return x
        case Or(Const(True) as true, _):
            return true
        case Or(x, Const(True) as true) if is_total(x):
            return true
        case Or(x, y) if x == y:
            return x
        case Or(x, Or(y, z)):
            return Or(Or(x, y), z)
        case Or(Or(x, y), z) if z in (x, y):
            return Or(x, y)
        case _:
            return None


def negate(expr: Expr) -> Expr | None:
    match expr:
        case Not(Not(x)):
            return x
        case Not(Compare(x, y)) if not x.dtype.is_inexact:  # with NaN neither may hold
            return NEGATED[type(expr.value)](x, y)
        case _:
            return None


def choose(expr: Expr) -> Expr | None:
    match expr:
        case Select(Const(cond), x, y):
            return x if cond else y
        case Select(cond, x, y) if x == y and is_total(cond):
            return x
        case Select(Not(cond), x, y):
            return Select(cond, y, x)
        case Select(cond, Const(True), Const(False)) if expr.dtype.is_bool:
            return cond
        case Select(cond, Const(False), Const(True)) if expr.dtype.is_bool:
            return Not(cond)
        case _:
            return None


def bits_with_constant(expr: Expr) -> Expr | None:
    """0 and the value with all bits set are neutral to one of `&` and `|`, and end the other."""
    ones = _all_ones(expr.dtype)
    match expr:
        case BitAnd(Const() as c, x) | BitOr(Const() as c, x) | BitXor(Const() as c, x):
            return type(expr)(x, c)  # constants go right
        case BitOr(x, Const(0)) | BitXor(x, Const(0)):
            return x
        case BitAnd(x, Const(a)) if a == ones:
            return x
        case BitAnd(x, Const(0) as c) if is_total(x):
            return c
        case BitOr(x, Const(a) as c) if a == ones and is_total(x):
            return c
        case _:
            return None


def bits(expr: Expr) -> Expr | None:
    match expr:
        case BitAnd(x, y) | BitOr(x, y) if x == y:
            return x
        case BitXor(x, y) if x == y and is_total(x):
            return literal(0, expr.dtype)
        case BitAnd(BitAnd(x, Const(int(a))), Const(int(b))):
            return BitAnd(x, literal(a & b, expr.dtype))
        case BitOr(BitOr(x, Const(int(a))), Const(int(b))):
            return BitOr(x, literal(a | b, expr.dtype))
        case BitXor(BitXor(x, Const(int(a))), Const(int(b))):
            return BitXor(x, literal(a ^ b, expr.dtype))
        case Invert(Invert(x)):
            return x
        case _:
            return None


def convert(expr: Expr) -> Expr | None:
    match expr:
        case Cast(to, x) if x.dtype is to:
            return x
        case Cast(to, Const(int(a)) as c) if not to.is_inexact and not c.dtype.is_inexact:
            fits = to.bounds[0] <= a <= to.bounds[1]
            if to.is_bool:
                return literal(a != 0, to)
            return literal(a, to) if fits or not expr.checked else None
        case Cast(to, Cast(wide, x)) if x.dtype is to and _holds(wide, to):
            return x
        case _:
            return None


def _all_ones(dtype: DType) -> int:
    return dtype.bounds[1] if dtype.bounds[0] == 0 else -1


def _holds(wide: DType, narrow: DType) -> bool:
    """Whether the integer type `wide` has every value of `narrow`."""
    if wide.is_inexact or narrow.is_inexact:
        return False
    return wide.bounds[0] <= narrow.bounds[0] and narrow.bounds[1] <= wide.bounds[1]


LAWS: Mapping[type[Expr], tuple[Law, ...]] = {
    And: (both,),
    Or: (either,),
    Not: (negate,),
    Select: (choose,),
    **dict.fromkeys((BitAnd, BitOr, BitXor), (bits_with_constant, bits)),
    Invert: (bits,),
    Cast: (convert,),
}
