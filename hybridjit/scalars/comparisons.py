"""Comparisons, and Python's min and max: exact between integers of any two types."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from hybridjit.arith.totality import is_total
from hybridjit.errors import Span, TypeMismatch
from hybridjit.ir.dtype import BOOL, INT64, UINT64, WEAK_BOOL, WEAK_INT, DType, ScalarType
from hybridjit.ir.expr import (
    And,
    Cast,
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
    Ne,
    Or,
)
from hybridjit.scalars.conversion import convert, join_types, truth
from hybridjit.scalars.operators import combine, select
from hybridjit.scalars.scalar import Scalar

COMPARE: dict[type[ast.cmpop], type[Compare]] = {
    ast.Eq: Eq,
    ast.NotEq: Ne,
    ast.Lt: Lt,
    ast.LtE: Le,
    ast.Gt: Gt,
    ast.GtE: Ge,
}
_SYMBOLS: dict[type[Compare], str] = {Eq: "==", Ne: "!=", Lt: "<", Le: "<=", Gt: ">", Ge: ">="}
_DECIDE: dict[type[Compare], Callable[[Any, Any], bool]] = {
    Eq: operator.eq,
    Ne: operator.ne,
    Lt: operator.lt,
    Le: operator.le,
    Gt: operator.gt,
    Ge: operator.ge,
}


def compare(op: type[Compare], lhs: Scalar, rhs: Scalar, span: Span | None) -> Scalar:
    """`lhs op rhs`; exact between integers of any two types."""
    result = WEAK_BOOL if lhs.type.weak and rhs.type.weak else ScalarType(BOOL)
    if _is_integral(lhs.type.dtype) and _is_integral(rhs.type.dtype):
        return Scalar(_compare_integers(op, lhs, rhs, span), result)
    type = join_types(lhs.type, rhs.type, span)
    if type.dtype.is_complex and op not in (Eq, Ne):
        raise TypeMismatch(
            f"complex numbers have no order: '{_SYMBOLS[op]}' needs real numbers",
            span,
            help="compare x.real, x.imag or abs(x)",
        )
    a, b = convert(lhs, type.dtype, span), convert(rhs, type.dtype, span)
    if isinstance(a, Const) and isinstance(b, Const):
        return Scalar(Const(_DECIDE[op](a.value, b.value), BOOL, span=span), result)
    return Scalar(op(a, b, span=span), result)


def _fits(value: Scalar, dtype: DType) -> bool:
    """False for a Python int, or an integer of another type, that may have no place in `dtype`."""
    if value.type.dtype is dtype or not (dtype.is_integer and _is_integral(value.type.dtype)):
        return True
    low, high = dtype.bounds
    if value.constant is not None:
        return low <= value.constant <= high
    return low <= value.type.dtype.bounds[0] and value.type.dtype.bounds[1] <= high


def _is_integral(dtype: DType) -> bool:
    return dtype.is_integer or dtype.is_bool


def _compare_integers(op: type[Compare], lhs: Scalar, rhs: Scalar, span: Span | None) -> Expr:
    if lhs.constant is not None and rhs.constant is not None:
        return Const(_DECIDE[op](lhs.constant, rhs.constant), BOOL, span=span)
    for value, other in ((lhs, rhs), (rhs, lhs)):
        if value.type == WEAK_INT and value.constant is not None and not other.type.weak:
            low, high = other.type.dtype.bounds
            if not low <= value.constant <= high:  # decided, whatever the other operand holds
                above = value.constant > high
                a, b = (1, 0) if (value is lhs) == above else (0, 1)
                return _decided(bool(_DECIDE[op](a, b)), other.expr, span)
            dtype = other.type.dtype
            return op(convert(lhs, dtype, span), convert(rhs, dtype, span), span=span)
    left, right = lhs.type.dtype, rhs.type.dtype
    if left is right:
        return op(convert(lhs, left, span), convert(rhs, left, span), span=span)
    if UINT64 not in (left, right):
        return op(convert(lhs, INT64, span), convert(rhs, INT64, span), span=span)
    return _compare_with_uint64(op, lhs, rhs, span)


def _decided(value: bool, operand: Expr, span: Span | None) -> Expr:
    """A comparison with a known answer; an operand that may fail is looked at all the same."""
    if is_total(operand):
        return Const(value, BOOL, span=span)
    return (Eq if value else Ne)(operand, operand, span=span)


def _compare_with_uint64(op: type[Compare], lhs: Scalar, rhs: Scalar, span: Span | None) -> Expr:
    """One side is uint64, the other may be negative: then it is the smaller one."""
    signed = rhs if lhs.type.dtype is UINT64 else lhs
    as_signed = convert(signed, INT64, span)
    if isinstance(as_signed, Const) and as_signed.value.real >= 0:
        return op(convert(lhs, UINT64, span), convert(rhs, UINT64, span), span=span)
    both = tuple(
        Cast(UINT64, as_signed, span=span) if value is signed else convert(value, UINT64, span)
        for value in (lhs, rhs)
    )
    when_negative = Const(_DECIDE[op](*((0, 1) if signed is lhs else (1, 0))), BOOL)
    if isinstance(as_signed, Const):
        unsigned = rhs if signed is lhs else lhs
        return _decided(bool(when_negative.value), unsigned.expr, span)
    # First the comparison that looks at both sides: either may fail.
    compared = op(*both, span=span)
    if when_negative.value:
        return Or(compared, Lt(as_signed, Const(0), span=span), span=span)
    return And(compared, Ge(as_signed, Const(0), span=span), span=span)


def extremum(op: type[Min] | type[Max], lhs: Scalar, rhs: Scalar, span: Span | None) -> Scalar:
    """Python's min or max of two values."""
    type = join_types(lhs.type, rhs.type, span)
    if type.dtype.is_complex:
        raise TypeMismatch(
            f"complex numbers have no order: '{op.__name__.lower()}' needs real numbers",
            span,
            help="compare x.real, x.imag or abs(x)",
        )
    if type == WEAK_INT and lhs.constant is not None and rhs.constant is not None:
        chosen = min if op is Min else max
        # One of them may be a bool, which is a number from here on.
        return Scalar(Const(int(chosen(lhs.constant, rhs.constant)), INT64, span=span), type)
    if not _fits(lhs, type.dtype) or not _fits(rhs, type.dtype):
        # Compare exactly, then convert only the one that is chosen: the other need not fit.
        better = compare(Lt if op is Min else Gt, rhs, lhs, span)
        return select(truth(better, span), rhs, lhs, span)
    a, b = convert(lhs, type.dtype, span), convert(rhs, type.dtype, span)
    return combine(op, a, b, type, span)
