"""The laws of +, - and negation, on integers that wrap.

A sum leans to the left and ends in its constant: ((x + y) - z) + 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hybridjit.arith.fold import wrap
from hybridjit.arith.totality import is_total
from hybridjit.ir.dtype import DType, Kind
from hybridjit.ir.expr import Add, Const, Expr, FloorDiv, Mod, Mul, Neg, Sub

Law = Callable[[Expr], Expr | None]


def literal(value: int, dtype: DType) -> Const:
    """The constant of the integer type or bool `dtype`, wrapped to its width."""
    return Const(bool(value), dtype) if dtype.is_bool else Const(wrap(value, dtype), dtype)


def add_constants(expr: Expr) -> Expr | None:
    """Constants go right, and one is enough."""
    match expr:
        case Add(x, Const(0)):
            return x
        case Add(Const() as c, x):
            return Add(x, c)
        case Add(Add(x, Const(int(a))), Const(int(b))):
            return Add(x, literal(a + b, expr.dtype))
        case Add(Sub(x, Const(int(a))), Const(int(b))):
            return Add(x, literal(b - a, expr.dtype))
        case Add(Sub(Const(int(a)), x), Const(int(b))):
            return Sub(literal(a + b, expr.dtype), x)
        case Add(x, Const(int(a))) if _is_better_negated(a, expr.dtype):
            return Sub(x, literal(-a, expr.dtype))
        case _:
            return None


def subtract_constants(expr: Expr) -> Expr | None:
    """The same for a difference, whose left operand may be the constant."""
    match expr:
        case Sub(x, Const(0)):
            return x
        case Sub(Const(0), x):
            return Neg(x)
        case Sub(Sub(Const(int(a)), x), Const(int(b))):
            return Sub(literal(a - b, expr.dtype), x)
        case Sub(Const(int(a)), Add(x, Const(int(b)))):
            return Sub(literal(a - b, expr.dtype), x)
        case Sub(Const(int(a)), Sub(x, Const(int(b)))):
            return Sub(literal(a + b, expr.dtype), x)
        case Sub(Add(x, Const(int(a))), Const(int(b))):
            return Add(x, literal(a - b, expr.dtype))
        case Sub(Sub(x, Const(int(a))), Const(int(b))):
            return Add(x, literal(-a - b, expr.dtype))
        case Sub(x, Const(int(a))) if not _is_better_subtracted(a, expr.dtype):
            return Add(x, literal(-a, expr.dtype))
        case _:
            return None


def lean_left(expr: Expr) -> Expr | None:
    """x + (y + z) = (x + y) + z, with every combination of signs."""
    match expr:
        case Add(x, Add(y, z)):
            return Add(Add(x, y), z)
        case Add(x, Sub(Const() as c, y)):
            return Add(Sub(x, y), c)
        case Add(x, Sub(y, z)):
            return Sub(Add(x, y), z)
        case Sub(x, Add(y, z)):
            return Sub(Sub(x, y), z)
        case Sub(x, Sub(y, z)):
            return Add(Sub(x, y), z)
        case Add(x, Neg(y)):
            return Sub(x, y)
        case Sub(x, Neg(y)):
            return Add(x, y)
        case Add(Neg(x), y) if is_total(x):  # y is evaluated first now
            return Sub(y, x)
        case _:
            return None


def move_constant_out(expr: Expr) -> Expr | None:
    """(x + c) + y = (x + y) + c, with every combination of signs."""
    match expr:
        case Add(Add(x, Const() as c), y):
            return Add(Add(x, y), c)
        case Add(Sub(x, Const() as c), y):
            return Sub(Add(x, y), c)
        case Add(Sub(Const() as c, x), y) if is_total(x):  # y is evaluated first now
            return Add(Sub(y, x), c)
        case Sub(Add(x, Const() as c), y):
            return Add(Sub(x, y), c)
        case Sub(Sub(x, Const() as c), y):
            return Sub(Sub(x, y), c)
        case _:
            return None


def add_like_terms(expr: Expr) -> Expr | None:
    """x * a + y + x * b = x * (a + b) + y."""
    match expr:
        case Add(Mul(FloorDiv(x, Const(int(a))), Const(int(b))), Mod(y, Const(int(c)))) if (
            x == y and a == b == c != 0  # the quotient times the divisor, plus the remainder
        ):
            return x
        case Add(x, y):
            return _merge_term(x, *_term(y))
        case Sub(x, Mul(FloorDiv(y, Const(int(a)) as divisor), Const(int(b)))) if (
            x == y and a == b != 0  # the remainder
        ):
            return Mod(x, divisor)
        case Sub(x, y):
            atom, coefficient = _term(y)
            return _merge_term(x, atom, -coefficient)
        case _:
            return None


def negate(expr: Expr) -> Expr | None:
    match expr:
        case Neg(Neg(x)):
            return x
        case Neg(Sub(x, y)) if is_total(x):  # y is evaluated first now
            return Sub(y, x)
        case Neg(Add(x, Const(int(a)))):
            return Sub(literal(-a, expr.dtype), x)
        case Neg(Mul(x, Const(int(a)))):
            return Mul(x, literal(-a, expr.dtype))
        case _:
            return None


def _is_better_negated(value: int, dtype: DType) -> bool:
    """Whether x + value reads better as x - (-value); the smallest value is its own negation."""
    return value < 0 and value != dtype.bounds[0]


def _is_better_subtracted(value: int, dtype: DType) -> bool:
    """Whether x - value is how to write it, and not x + (-value)."""
    return dtype.kind is Kind.UINT or value > 0


def _term(expr: Expr) -> tuple[Expr, int]:
    """`expr` as (x, c), the product x * c."""
    match expr:
        case Mul(x, Const(int(a))):
            return x, a
        case Neg(x):
            return x, -1
        case _:
            return expr, 1


def _merge_term(total: Expr, atom: Expr, coefficient: int) -> Expr | None:
    """The sum `total` with `coefficient * atom` added to its term of the same atom, if any."""
    if isinstance(atom, Const):
        return None
    own, count = _term(total)
    if own == atom:
        return _product(atom, count + coefficient)
    match total:
        case Add(x, y) | Sub(x, y):
            sign = 1 if isinstance(total, Add) else -1
            own, count = _term(y)
            if own == atom:
                merged = _product(atom, sign * count + coefficient)
                return None if merged is None else Add(x, merged)
            rest = _merge_term(x, atom, coefficient)
            return None if rest is None else type(total)(rest, y)
        case _:
            return None


def _product(atom: Expr, coefficient: int) -> Expr | None:
    """`atom * coefficient`; None where that would drop what must be evaluated."""
    factor = literal(coefficient, atom.dtype)
    if factor.value == 0:
        return factor if is_total(atom) else None
    return atom if factor.value == 1 else Mul(atom, factor)


_SUM_LAWS = (lean_left, move_constant_out, add_like_terms)


def on_integers(law: Law) -> Law:
    """`law`, applied to integers only: operators have one name for them and for floats."""

    def guarded(expr: Expr) -> Expr | None:
        return law(expr) if expr.dtype.is_integer else None

    return guarded


LAWS: Mapping[type[Expr], tuple[Law, ...]] = {
    Add: tuple(map(on_integers, (add_constants, *_SUM_LAWS))),
    Sub: tuple(map(on_integers, (subtract_constants, *_SUM_LAWS))),
    Neg: (on_integers(negate),),
}
