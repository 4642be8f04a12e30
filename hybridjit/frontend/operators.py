"""The operators of the language on scalars, with the types that NumPy 2 gives their results."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from hybridjit.arith.fold import fold_integer, wrap
from hybridjit.errors import Span, TypeMismatch
from hybridjit.frontend.conversion import as_number, convert, join_types, truth
from hybridjit.frontend.values import Scalar
from hybridjit.interp.scalars import OPERATORS
from hybridjit.ir.dtype import (
    BOOL,
    FLOAT64,
    INT8,
    INT64,
    UINT64,
    WEAK_BOOL,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
    ScalarType,
)
from hybridjit.ir.expr import (
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Cast,
    Compare,
    Const,
    Div,
    Eq,
    Expr,
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
    Select,
    ShiftLeft,
    ShiftRight,
    Sub,
    const,
)

BINARY: dict[type[ast.operator], type[Binary]] = {
    ast.Add: Add,
    ast.Sub: Sub,
    ast.Mult: Mul,
    ast.Div: Div,
    ast.FloorDiv: FloorDiv,
    ast.Mod: Mod,
    ast.Pow: Pow,
    ast.BitAnd: BitAnd,
    ast.BitOr: BitOr,
    ast.BitXor: BitXor,
    ast.LShift: ShiftLeft,
    ast.RShift: ShiftRight,
}
COMPARE: dict[type[ast.cmpop], type[Compare]] = {
    ast.Eq: Eq,
    ast.NotEq: Ne,
    ast.Lt: Lt,
    ast.LtE: Le,
    ast.Gt: Gt,
    ast.GtE: Ge,
}
SYMBOLS: dict[type[Expr], str] = {
    Add: "+",
    Sub: "-",
    Mul: "*",
    Div: "/",
    FloorDiv: "//",
    Mod: "%",
    Pow: "**",
    BitAnd: "&",
    BitOr: "|",
    BitXor: "^",
    ShiftLeft: "<<",
    ShiftRight: ">>",
    Eq: "==",
    Ne: "!=",
    Lt: "<",
    Le: "<=",
    Gt: ">",
    Ge: ">=",
}
_PYTHON: dict[type[Binary], Callable[[Any, Any], Any]] = {
    Add: operator.add,
    Sub: operator.sub,
    Mul: operator.mul,
    FloorDiv: operator.floordiv,
    Mod: operator.mod,
    Pow: operator.pow,
    BitAnd: operator.and_,
    BitOr: operator.or_,
    BitXor: operator.xor,
    ShiftLeft: operator.lshift,
    ShiftRight: operator.rshift,
    Eq: operator.eq,
    Ne: operator.ne,
    Lt: operator.lt,
    Le: operator.le,
    Gt: operator.gt,
    Ge: operator.ge,
}
_BITWISE = (BitAnd, BitOr, BitXor)
_SHIFTS = (ShiftLeft, ShiftRight)
# What + and * mean between two NumPy bools; the other operators leave bool for int8.
_BOOL_MEANING: dict[type[Binary], type[Binary]] = {Add: BitOr, Mul: BitAnd}
# 2 ** 1024 is far past every type; a larger exponent is a slip that would fill the memory.
_MAX_FOLDED_SHIFT = 1024


def binary(op: type[Binary], lhs: Scalar, rhs: Scalar, span: Span | None) -> Scalar:
    """`lhs op rhs`, as NumPy types it."""
    if op not in _BITWISE:
        lhs, rhs = as_number(lhs), as_number(rhs)
    if lhs.type == rhs.type == WEAK_INT and op is not Div:
        return _python_integers(op, lhs, rhs, span)
    type = join_types(lhs.type, rhs.type, span)
    if type.dtype is BOOL and op not in _BITWISE:
        return _on_bools(op, lhs, rhs, span)
    if op is Div and not type.dtype.is_inexact:
        type = WEAK_FLOAT if type.weak else ScalarType(FLOAT64)
    _check_operand_type(op, type.dtype, span)
    if op is Pow:
        _check_exponent(type.dtype, rhs, span)
    return _combine(op, convert(lhs, type.dtype, span), convert(rhs, type.dtype, span), type, span)


def _python_integers(op: type[Binary], lhs: Scalar, rhs: Scalar, span: Span | None) -> Scalar:
    """Python ints: exact while they are constants, int64 once they are not."""
    a, b = lhs.constant, rhs.constant
    if op in (Pow, *_SHIFTS) and b is not None:
        if b < 0 and op is Pow:
            return binary(Pow, _as_float(lhs, span), _as_float(rhs, span), span)
        if b < 0:
            raise TypeMismatch(f"negative shift count {b}", span)
        if b > _MAX_FOLDED_SHIFT:
            raise TypeMismatch(f"{SYMBOLS[op]} {b} is far past the range of int64", span)
    if a is not None and b is not None and not (op in (FloorDiv, Mod) and b == 0):
        return Scalar(Const(_PYTHON[op](a, b), INT64, span=span), WEAK_INT)
    return Scalar(op(convert(lhs, INT64, span), convert(rhs, INT64, span), span=span), WEAK_INT)


def _as_float(value: Scalar, span: Span | None) -> Scalar:
    return Scalar(convert(value, FLOAT64, span), WEAK_FLOAT)


def _on_bools(op: type[Binary], lhs: Scalar, rhs: Scalar, span: Span | None) -> Scalar:
    """Arithmetic on NumPy bools: + is or, * is and, / is float64, the rest is int8."""
    if op in _BOOL_MEANING:
        a, b = convert(lhs, BOOL, span), convert(rhs, BOOL, span)
        return _combine(_BOOL_MEANING[op], a, b, ScalarType(BOOL), span)
    if op is Sub:
        raise TypeMismatch("NumPy does not subtract bools", span, help="use ^ or int8(x)")
    dtype = FLOAT64 if op is Div else INT8
    a, b = convert(lhs, dtype, span), convert(rhs, dtype, span)
    return _combine(op, a, b, ScalarType(dtype), span)


def _check_operand_type(op: type[Binary], dtype: DType, span: Span | None) -> None:
    if op in _BITWISE:
        accepted = dtype.is_integer or dtype.is_bool
    elif op in _SHIFTS:
        accepted = dtype.is_integer
    elif op in (FloorDiv, Mod):
        accepted = not dtype.is_complex
    else:
        accepted = True
    if accepted:
        return
    needed = "real numbers" if op in (FloorDiv, Mod) else "integers"
    raise TypeMismatch(
        f"'{SYMBOLS[op]}' needs {needed}, found {dtype}",
        span,
        help="convert with int64(x) first" if needed == "integers" else "use x.real or x.imag",
    )


def _check_exponent(dtype: DType, rhs: Scalar, span: Span | None) -> None:
    if dtype.is_integer and rhs.constant is not None and rhs.constant < 0:
        raise TypeMismatch(
            f"an integer to the negative power {rhs.constant} is not an integer",
            span,
            help=f"make the base a float: float64(x) ** {rhs.constant}",
        )


def _combine(op: type[Binary], lhs: Expr, rhs: Expr, type: ScalarType, span: Span | None) -> Scalar:
    if isinstance(lhs, Const) and isinstance(rhs, Const):
        folded = _fold(op, lhs, rhs)
        if folded is not None:
            return Scalar(folded, type)
    return Scalar(op(lhs, rhs, span=span), type)


def _fold(op: type[Binary], lhs: Const, rhs: Const) -> Const | None:
    """The constant that `lhs op rhs` is, where computing it now gives what it would give later."""
    dtype = lhs.of
    if not dtype.is_inexact:
        value = fold_integer(op, int(lhs.value.real), int(rhs.value.real), dtype)
        return None if value is None else Const(value, dtype, span=lhs.span)
    if op not in (Add, Sub, Mul, Div):
        return None
    with np.errstate(all="ignore"):
        value = OPERATORS[op](dtype.numpy.type(lhs.value), dtype.numpy.type(rhs.value))
    return const(value, dtype)


def compare(op: type[Compare], lhs: Scalar, rhs: Scalar, span: Span | None) -> Scalar:
    """`lhs op rhs`; exact between integers of any two types."""
    result = WEAK_BOOL if lhs.type.weak and rhs.type.weak else ScalarType(BOOL)
    if _is_integral(lhs.type.dtype) and _is_integral(rhs.type.dtype):
        return Scalar(_compare_integers(op, lhs, rhs, span), result)
    type = join_types(lhs.type, rhs.type, span)
    if type.dtype.is_complex and op not in (Eq, Ne):
        raise TypeMismatch(
            f"complex numbers have no order: '{SYMBOLS[op]}' needs real numbers",
            span,
            help="compare x.real, x.imag or abs(x)",
        )
    a, b = convert(lhs, type.dtype, span), convert(rhs, type.dtype, span)
    if isinstance(a, Const) and isinstance(b, Const):
        return Scalar(Const(_PYTHON[op](a.value, b.value), BOOL, span=span), result)
    return Scalar(op(a, b, span=span), result)


def _is_integral(dtype: DType) -> bool:
    return dtype.is_integer or dtype.is_bool


def _compare_integers(op: type[Compare], lhs: Scalar, rhs: Scalar, span: Span | None) -> Expr:
    if lhs.constant is not None and rhs.constant is not None:
        return Const(_PYTHON[op](lhs.constant, rhs.constant), BOOL, span=span)
    for value, other in ((lhs, rhs), (rhs, lhs)):
        if value.type == WEAK_INT and value.constant is not None and not other.type.weak:
            low, high = other.type.dtype.bounds
            if not low <= value.constant <= high:  # decided, whatever the other operand holds
                above = value.constant > high
                a, b = (1, 0) if (value is lhs) == above else (0, 1)
                return Const(_PYTHON[op](a, b), BOOL, span=span)
            dtype = other.type.dtype
            return op(convert(lhs, dtype, span), convert(rhs, dtype, span), span=span)
    left, right = lhs.type.dtype, rhs.type.dtype
    if left is right:
        return op(convert(lhs, left, span), convert(rhs, left, span), span=span)
    if UINT64 not in (left, right):
        return op(convert(lhs, INT64, span), convert(rhs, INT64, span), span=span)
    return _compare_with_uint64(op, lhs, rhs, span)


def _compare_with_uint64(op: type[Compare], lhs: Scalar, rhs: Scalar, span: Span | None) -> Expr:
    """One side is uint64, the other may be negative: then it is the smaller one."""
    signed = rhs if lhs.type.dtype is UINT64 else lhs
    as_signed = convert(signed, INT64, span)
    both = tuple(
        Cast(UINT64, as_signed, span=span) if value is signed else convert(value, UINT64, span)
        for value in (lhs, rhs)
    )
    when_negative = Const(_PYTHON[op](*((0, 1) if signed is lhs else (1, 0))), BOOL)
    is_negative = Lt(as_signed, Const(0), span=span)
    return Select(is_negative, when_negative, op(*both, span=span), span=span)


def unary(op: ast.unaryop, value: Scalar, span: Span | None) -> Scalar:
    """`-x`, `+x`, `~x` or `not x`."""
    if isinstance(op, ast.Not):
        return logical_not(value, span)
    value = as_number(value)
    dtype = value.type.dtype
    if isinstance(op, ast.Invert):
        return _invert(value, span)
    if dtype is BOOL:
        sign = "-" if isinstance(op, ast.USub) else "+"
        raise TypeMismatch(
            f"NumPy has no unary '{sign}' for bool", span, help="use `not x`, or int8(x)"
        )
    if isinstance(op, ast.UAdd):
        return value
    if value.constant is not None:
        negated = -value.constant
        if dtype.is_integer and not value.type.weak:
            negated = wrap(negated, dtype)
        return Scalar(Const(negated, dtype, span=span), value.type)
    return Scalar(Neg(value.expr, span=span), value.type)


def _invert(value: Scalar, span: Span | None) -> Scalar:
    dtype = value.type.dtype
    if dtype is BOOL:
        return Scalar(_negation(value.expr, span), value.type)
    if not dtype.is_integer:
        raise TypeMismatch(f"'~' needs an integer or bool, found {dtype}", span)
    if value.constant is not None:
        inverted = ~value.constant if value.type.weak else wrap(~value.constant, dtype)
        return Scalar(Const(inverted, dtype, span=span), value.type)
    return Scalar(Invert(value.expr, span=span), value.type)


def logical_not(value: Scalar, span: Span | None) -> Scalar:
    """`not x`: always a Python bool."""
    return Scalar(_negation(truth(value, span), span), WEAK_BOOL)


def _negation(cond: Expr, span: Span | None) -> Expr:
    if isinstance(cond, Const):
        return Const(not cond.value, BOOL, span=span)
    return Not(cond, span=span)


def conjunction(op: type[And] | type[Or], lhs: Expr, rhs: Expr, span: Span | None) -> Expr:
    """`lhs and rhs` or `lhs or rhs` on conditions, decided now where one side decides."""
    decisive = op is Or
    for side, other in ((lhs, rhs), (rhs, lhs)):
        if isinstance(side, Const):
            return Const(decisive, BOOL, span=span) if side.value is decisive else other
    return op(lhs, rhs, span=span)


def select(cond: Expr, then: Scalar, otherwise: Scalar, span: Span | None) -> Scalar:
    """`then if cond else otherwise`, in the type where both meet."""
    type = join_types(then.type, otherwise.type, span)
    sides = convert(then, type.dtype, span), convert(otherwise, type.dtype, span)
    if isinstance(cond, Const):
        return Scalar(sides[0] if cond.value else sides[1], type)
    return Scalar(Select(cond, *sides, span=span), type)


def extremum(op: type[Min] | type[Max], lhs: Scalar, rhs: Scalar, span: Span | None) -> Scalar:
    """Python's min or max of two values."""
    type = join_types(lhs.type, rhs.type, span)
    if type.dtype.is_complex:
        raise TypeMismatch("complex numbers have no order", span, help="compare abs(x)")
    if type == WEAK_INT and lhs.constant is not None and rhs.constant is not None:
        chosen = min if op is Min else max
        return Scalar(Const(chosen(lhs.constant, rhs.constant), INT64, span=span), type)
    if _is_integral(lhs.type.dtype) and _is_integral(rhs.type.dtype) and lhs.type != rhs.type:
        # Compare exactly, then convert only the one that is chosen: the other need not fit.
        better = compare(Lt if op is Min else Gt, rhs, lhs, span)
        return select(truth(better, span), rhs, lhs, span)
    a, b = convert(lhs, type.dtype, span), convert(rhs, type.dtype, span)
    return Scalar(op(a, b, span=span), type)
