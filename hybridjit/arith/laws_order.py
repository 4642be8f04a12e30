"""The laws of min, max and comparisons, on integers and bool.

x + 1 < y + 1 is not x < y: one side may wrap. Equality does not mind.
"""

from __future__ import annotations

from collections.abc import Mapping

from hybridjit.arith.laws_sum import Law, literal
from hybridjit.arith.totality import is_total
from hybridjit.ir.dtype import BOOL
from hybridjit.ir.expr import (
    Add,
    Binary,
    Compare,
    Const,
    Eq,
    Expr,
    Ge,
    Gt,
    Le,
    Lt,
    Max,
    Min,
    Mod,
    Ne,
    Not,
    Sub,
)

MIRRORED: Mapping[type[Expr], type[Compare]] = {Lt: Gt, Gt: Lt, Le: Ge, Ge: Le, Eq: Eq, Ne: Ne}
NEGATED: Mapping[type[Expr], type[Compare]] = {Lt: Ge, Ge: Lt, Gt: Le, Le: Gt, Eq: Ne, Ne: Eq}


def minimum(expr: Expr) -> Expr | None:
    low, high = expr.dtype.bounds
    match expr:
        case Min(x, y) if x == y:
            return x
        case Min(Const() as c, x):  # constants go right
            return Min(x, c)
        case Min(x, Const(a)) if a == high:
            return x
        case Min(x, Const(a) as c) if a == low and is_total(x):
            return c
        case Min(Min(x, Const(int(a))), Const(int(b))):
            return Min(x, literal(min(a, b), expr.dtype))
        case Min(Max(x, Const(int(a))), Const(int(b))) if b <= a and is_total(x):
            return literal(b, expr.dtype)
        case Min(Min(x, y), z) if z in (x, y):
            return Min(x, y)
        case _:
            return None


def maximum(expr: Expr) -> Expr | None:
    low, high = expr.dtype.bounds
    match expr:
        case Max(x, y) if x == y:
            return x
        case Max(Const() as c, x):  # constants go right
            return Max(x, c)
        case Max(x, Const(a)) if a == low:
            return x
        case Max(x, Const(a) as c) if a == high and is_total(x):
            return c
        case Max(Max(x, Const(int(a))), Const(int(b))):
            return Max(x, literal(max(a, b), expr.dtype))
        case Max(Min(x, Const(int(a))), Const(int(b))) if b >= a and is_total(x):
            return literal(b, expr.dtype)
        case Max(Max(x, y), z) if z in (x, y):
            return Max(x, y)
        case _:
            return None


def compare(expr: Expr) -> Expr | None:
    """What holds for all six comparisons."""
    match expr:
        case Compare(x, y) if x == y and is_total(x):
            return Const(isinstance(expr, (Eq, Le, Ge)), BOOL)
        case Compare(Const() as c, x):  # constants go right
            return MIRRORED[type(expr)](x, c)
        case _:
            return None


def compare_equal(expr: Expr) -> Expr | None:
    """Adding the same to both sides keeps them equal, or different, even if it wraps."""
    match expr:
        case Eq(Add(x, Const(int(a))), Const(int(b))) | Ne(Add(x, Const(int(a))), Const(int(b))):
            return type(expr)(x, literal(b - a, x.dtype))
        case Eq(Sub(x, Const(int(a))), Const(int(b))) | Ne(Sub(x, Const(int(a))), Const(int(b))):
            return type(expr)(x, literal(b + a, x.dtype))
        case Eq(Sub(Const(int(a)), x), Const(int(b))) | Ne(Sub(Const(int(a)), x), Const(int(b))):
            return type(expr)(x, literal(a - b, x.dtype))
        case Eq(Sub(x, y), Const(0)) | Ne(Sub(x, y), Const(0)):
            return type(expr)(x, y)
        case Eq(Add(x, y), Add(z, w)) | Ne(Add(x, y), Add(z, w)) if y == w and is_total(y):
            return type(expr)(x, z)
        case Eq(Sub(x, y), Sub(z, w)) | Ne(Sub(x, y), Sub(z, w)) if y == w and is_total(y):
            return type(expr)(x, z)
        case _:
            return None


def compare_bool(expr: Expr) -> Expr | None:
    match expr:
        case Eq(x, Const(True)) | Ne(x, Const(False)) if x.dtype.is_bool:
            return x
        case Eq(x, Const(False)) | Ne(x, Const(True)) if x.dtype.is_bool:
            return Not(x)
        case _:
            return None


def compare_with_bound(expr: Expr) -> Expr | None:
    """No value of a type lies beyond its bounds, and no remainder beyond its divisor."""
    match expr:
        case Binary(x, Const(int(a))) if is_total(x):
            low, high = _range(x)
        case _:
            return None
    match expr:
        case Lt() if a > high or a <= low:
            return Const(a > high, BOOL)
        case Le() if a >= high or a < low:
            return Const(a >= high, BOOL)
        case Gt() if a < low or a >= high:
            return Const(a < low, BOOL)
        case Ge() if a <= low or a > high:
            return Const(a <= low, BOOL)
        case _:
            return None


def _range(expr: Expr) -> tuple[int, int]:
    """The least and the greatest value that `expr` can have."""
    match expr:
        case Mod(_, Const(int(a))) if a > 0:
            return 0, a - 1
        case _:
            return expr.dtype.bounds


def _exact(law: Law) -> Law:
    """`law`, applied to integers and bool: on floats the order has exceptions."""

    def guarded(expr: Expr) -> Expr | None:
        assert isinstance(expr, Binary)
        return None if expr.lhs.dtype.is_inexact else law(expr)

    return guarded


_ORDER = (_exact(compare), _exact(compare_with_bound))
_EQUALITY = (_exact(compare), _exact(compare_bool), _exact(compare_equal))

LAWS: Mapping[type[Expr], tuple[Law, ...]] = {
    Min: (_exact(minimum),),
    Max: (_exact(maximum),),
    **dict.fromkeys((Lt, Le, Gt, Ge), _ORDER),
    **dict.fromkeys((Eq, Ne), _EQUALITY),
}
