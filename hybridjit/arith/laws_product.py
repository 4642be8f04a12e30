"""The laws of *, //, %, ** and shifts, on integers that wrap.

Laws such as x * 4 // 4 = x are missing on purpose: they are false when x * 4 wraps.
"""

from __future__ import annotations

from collections.abc import Mapping

from hybridjit.arith.laws_sum import Law, literal, on_integers
from hybridjit.arith.totality import is_total
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import (
    Add,
    Const,
    Expr,
    FloorDiv,
    Mod,
    Mul,
    Neg,
    Pow,
    ShiftLeft,
    ShiftRight,
    Sub,
)


def multiply_constants(expr: Expr) -> Expr | None:
    match expr:
        case Mul(x, Const(0) as zero) if is_total(x):
            return zero
        case Mul(x, Const(1)):
            return x
        case Mul(x, Const(-1)):
            return Neg(x)
        case Mul(Const() as c, x):  # constants go right
            return Mul(x, c)
        case Mul(Mul(x, Const(int(a))), Const(int(b))):
            return Mul(x, literal(a * b, expr.dtype))
        case Mul(Neg(x), Const(int(a))):
            return Mul(x, literal(-a, expr.dtype))
        case _:
            return None


def distribute_constant(expr: Expr) -> Expr | None:
    """(x + a) * b = x * b + a * b: the sum of the whole index then has one constant."""
    match expr:
        case Mul(Add(x, Const(int(a))), Const(int(b)) as factor):
            return Add(Mul(x, factor), literal(a * b, expr.dtype))
        case Mul(Sub(x, Const(int(a))), Const(int(b)) as factor):
            return Sub(Mul(x, factor), literal(a * b, expr.dtype))
        case _:
            return None


def multiply_leaning_left(expr: Expr) -> Expr | None:
    match expr:
        case Mul(x, Mul(y, z)):
            return Mul(Mul(x, y), z)
        case Mul(Mul(x, Const() as c), y):  # the constant goes out
            return Mul(Mul(x, y), c)
        case _:
            return None


def divide(expr: Expr) -> Expr | None:
    match expr:
        case FloorDiv(x, Const(1)):
            return x
        case FloorDiv(x, Const(-1)):  # the smallest integer wraps to itself on both sides
            return Neg(x)
        case FloorDiv(Const(0) as zero, Const(int(a))) if a != 0:
            return zero
        case FloorDiv(FloorDiv(x, Const(int(a))), Const(int(b))) if (
            a > 0 and b > 0 and _fits(a * b, expr.dtype)
        ):
            return FloorDiv(x, literal(a * b, expr.dtype))
        case FloorDiv(Mod(x, Const(int(a))), Const(int(b))) if 0 < a <= b and is_total(x):
            return literal(0, expr.dtype)  # a remainder is less than its divisor
        case _:
            return None


def remainder(expr: Expr) -> Expr | None:
    match expr:
        case Mod(x, Const(1 | -1)) if is_total(x):
            return literal(0, expr.dtype)
        case Mod(Mod(x, Const(int(a))), Const(int(b))) if 0 < a <= b:
            return expr.lhs
        case Mod(Mod(x, Const(int(a))), Const(int(b))) if b > 0 and a != 0 and a % b == 0:
            return Mod(x, expr.rhs)
        case _:
            return None


def remainder_by_power_of_two(expr: Expr) -> Expr | None:
    """A power of two divides 2^bits, so wrapping does not change the remainder by it."""
    match expr:
        case Mod(x, Const(int(b))) if not _is_power_of_two(b):
            return None
        case Mod(Mul(x, Const(int(a))), Const(int(b))) if a % b == 0 and is_total(x):
            return literal(0, expr.dtype)
        case Mod(Add(x, Const(int(a))), Const(int(b)) as divisor) if not 0 <= a < b:
            return Mod(Add(x, literal(a % b, expr.dtype)), divisor)
        case Mod(Sub(x, Const(int(a))), Const(int(b)) as divisor):
            return Mod(Add(x, literal(-a % b, expr.dtype)), divisor)
        case Mod(Add(Mul(x, Const(int(a))), y), Const(int(b)) as divisor) if (
            a % b == 0 and is_total(x)
        ):
            return Mod(y, divisor)
        case Mod(Add(y, Mul(x, Const(int(a)))), Const(int(b)) as divisor) if (
            a % b == 0 and is_total(x)
        ):
            return Mod(y, divisor)
        case _:
            return None


def raise_to_power(expr: Expr) -> Expr | None:
    match expr:
        case Pow(x, Const(0)) if is_total(x):
            return literal(1, expr.dtype)
        case Pow(x, Const(1)):
            return x
        case _:
            return None


def shift(expr: Expr) -> Expr | None:
    match expr:
        case ShiftLeft(x, Const(0)) | ShiftRight(x, Const(0)):
            return x
        case _:
            return None


def _fits(value: int, dtype: DType) -> bool:
    low, high = dtype.bounds
    return low <= value <= high


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


LAWS: Mapping[type[Expr], tuple[Law, ...]] = {
    Mul: tuple(map(on_integers, (multiply_constants, distribute_constant, multiply_leaning_left))),
    FloorDiv: (on_integers(divide),),
    Mod: tuple(map(on_integers, (remainder, remainder_by_power_of_two))),
    Pow: (on_integers(raise_to_power),),
    ShiftLeft: (on_integers(shift),),
    ShiftRight: (on_integers(shift),),
}
