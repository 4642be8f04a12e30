"""Arithmetic on integer and bool constants, with the meaning the IR gives it.

Values are Python numbers: an int inside the bounds of its type, or a bool. Nothing here touches
floats, whose folding belongs to whoever can promise the rounding of the machine.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from hybridjit.ir.dtype import DType, Kind
from hybridjit.ir.expr import (
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Eq,
    FloorDiv,
    Ge,
    Gt,
    Invert,
    Le,
    Lt,
    Max,
    Min,
    Mod,
    Mul,
    Ne,
    Neg,
    Not,
    Or,
    Pow,
    ShiftLeft,
    ShiftRight,
    Sub,
    Unary,
)


def wrap(value: int, dtype: DType) -> int:
    """`value` modulo 2^bits, as the integer type `dtype` holds it."""
    value &= (1 << dtype.bits) - 1
    if dtype.kind is Kind.INT and value >> (dtype.bits - 1):
        value -= 1 << dtype.bits
    return value


def fold_integer(op: type[Binary], a: int, b: int, dtype: DType) -> int | bool | None:
    """The value of the `Binary` node class `op` on two constants of `dtype`, an integer or bool.

    Logic and comparisons give a bool. None where nothing may be folded: the operator is an error
    on these values (division by zero, a negative exponent) or does not exist on the type.
    """
    logic = _LOGIC.get(op)
    if logic is not None:
        return bool(logic(a, b))
    if dtype.is_bool:
        lattice = _LATTICE.get(op)
        return None if lattice is None else bool(lattice(a, b))
    arithmetic = _ARITHMETIC.get(op) or _LATTICE.get(op)
    if arithmetic is not None:
        return wrap(arithmetic(a, b), dtype)
    return _fold_partial(op, a, b, dtype)


def fold_unary(op: type[Unary], a: int, dtype: DType) -> int | bool | None:
    """The value of the `Unary` node class `op` on a constant; None where there is none."""
    if dtype.is_bool:
        return not a if op is Not else None
    if op is Neg:
        return wrap(-a, dtype)
    return wrap(~a, dtype) if op is Invert else None


def _fold_partial(op: type[Binary], a: int, b: int, dtype: DType) -> int | None:
    """The operators that are an error on some operands, or look at the width of the type."""
    if op is FloorDiv and b != 0:
        return wrap(a // b, dtype)
    if op is Mod and b != 0:
        return wrap(a % b, dtype)
    if op is Pow and b >= 0:
        return wrap(pow(a, b, 1 << dtype.bits), dtype)
    if op is ShiftLeft:
        return wrap(a << b, dtype) if 0 <= b < dtype.bits else 0
    if op is ShiftRight:
        return a >> (b if 0 <= b < dtype.bits else dtype.bits)
    return None


_LOGIC: dict[type[Binary], Callable[[int, int], object]] = {
    Eq: operator.eq,
    Ne: operator.ne,
    Lt: operator.lt,
    Le: operator.le,
    Gt: operator.gt,
    Ge: operator.ge,
    And: lambda a, b: a and b,
    Or: lambda a, b: a or b,
}
_LATTICE: dict[type[Binary], Callable[[int, int], int]] = {
    BitAnd: lambda a, b: a & b,
    BitOr: lambda a, b: a | b,
    BitXor: lambda a, b: a ^ b,
    Min: min,
    Max: max,
}
_ARITHMETIC: dict[type[Binary], Callable[[int, int], int]] = {
    Add: operator.add,
    Sub: operator.sub,
    Mul: operator.mul,
}
