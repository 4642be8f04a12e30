"""Operations that may be grouped at will: declared so, or recognised by what the function is."""

from __future__ import annotations

from hybridjit.arith.fold import wrap
from hybridjit.ir.expr import (
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Call,
    Max,
    Min,
    Mul,
    Or,
    Var,
)
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Return

# What combined with x gives x; None where that depends on the type.
_IDENTITIES: dict[type[Binary], int | None] = {
    **{Add: 0, Mul: 1, BitOr: 0, BitXor: 0, BitAnd: -1},
    **{Or: 0, And: 1, Min: None, Max: None},
}
_EXTREMA = ("minimum", "maximum")


def is_reduction(func: PrimFunc) -> bool:
    """True if a function of two numbers only adds or multiplies them, or takes an extremum ..."""
    match func.body:
        case Return((Binary(Var(), Var()) as value,)):
            operands = value.lhs, value.rhs
            is_known = type(value) in _IDENTITIES
        case Return((Call(name, (Var() as lhs, Var() as rhs)),)):
            operands = lhs, rhs
            is_known = name in _EXTREMA
        case _:
            return False
    return is_known and operands[0] is not operands[1]


def identity_of(func: PrimFunc) -> int | None:
    """The identity of a function that `is_reduction`, if it has one."""
    match func.body:
        case Return((Binary() as value,)):
            identity = _IDENTITIES.get(type(value))
            if identity is None or not value.dtype.is_integer:
                return identity
            return wrap(identity, value.dtype)  # all bits of an unsigned integer are not -1
        case _:
            return None
