"""The operators of the language on scalars, with the types that NumPy 2 gives their results."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from hybridjit.arith.fold import fold_integer, wrap
from hybridjit.arith.totality import is_total
from hybridjit.errors import Span, TypeMismatch
from hybridjit.interp.scalars import OPERATORS
from hybridjit.ir.dtype import (
    BOOL,
    FLOAT64,
    INT8,
    INT64,
    WEAK_BOOL,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
    Kind,
    ScalarType,
)
from hybridjit.ir.expr import (
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Call,
    Const,
    Div,
    Expr,
    FloorDiv,
    Invert,
    Le,
    Mod,
    Mul,
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
from hybridjit.scalars.conversion import as_number, as_numbers, convert, join_types, truth
from hybridjit.scalars.scalar import Scalar

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
_python: Any = operator  # typeshed leaves the types of half of these functions unknown

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
}
_PYTHON: dict[type[Binary], Callable[[Any, Any], Any]] = {
    Add: _python.add,
    Sub: _python.sub,
    Mul: _python.mul,
    FloorDiv: _python.floordiv,
    Mod: _python.mod,
    Pow: _python.pow,
    BitAnd: _python.and_,
    BitOr: _python.or_,
    BitXor: _python.xor,
    ShiftLeft: _python.lshift,
    ShiftRight: _python.rshift,
}
_BITWISE = (BitAnd, BitOr, BitXor)
_SHIFTS = (ShiftLeft, ShiftRight)
_FOR_CONDITIONS: dict[type[Binary], str] = {
    BitAnd: "to join conditions write `and` between them; ",
    BitOr: "to join conditions write `or` between them; ",
}
# What + and * mean between two NumPy bools; the other operators leave bool for int8.
_BOOL_MEANING: dict[type[Binary], type[Binary]] = {Add: BitOr, Mul: BitAnd}
# 2 ** 1024 is far past every type; a larger exponent is a slip that would fill the memory.
_MAX_FOLDED_SHIFT = 1024


def binary(op: type[Binary], lhs: Scalar, rhs: Scalar, span: Span | None) -> Scalar:
    """`lhs op rhs`, as NumPy types it."""
    if op not in _BITWISE:
        lhs, rhs = as_numbers([lhs, rhs])
    if lhs.type == rhs.type == WEAK_INT and op is not Div:
        return _python_integers(op, lhs, rhs, span)
    type = join_types(lhs.type, rhs.type, span)
    if type.dtype is BOOL and op not in _BITWISE:
        return _on_bools(op, lhs, rhs, span)
    if op is Div and not type.dtype.is_inexact:
        type = WEAK_FLOAT if type.weak else ScalarType(FLOAT64)
    if op in (*_BITWISE, *_SHIFTS):
        _check_mixed_integers(op, lhs, rhs, span)
    _check_operand_type(op, type.dtype, span)
    if op is Pow:
        _check_exponent(type.dtype, rhs, span)
    a, b = convert(lhs, type.dtype, span), convert(rhs, type.dtype, span)
    if op in _SHIFTS and isinstance(b, Const) and not 0 <= b.value.real < type.dtype.bits:
        return _past_the_width(op, a, type, span)
    return combine(op, a, b, type, span)


def binary_of_arrays(op: type[Binary], lhs: Scalar, rhs: Scalar, span: Span | None) -> Scalar:
    """`lhs op rhs` for elements of arrays. NumPy has short cuts for some powers of arrays."""
    exponent = rhs.constant
    if op is Pow and exponent == 2 and lhs.type.dtype is BOOL and rhs.type == WEAK_INT:
        return Scalar(convert(lhs, INT8, span), ScalarType(INT8))  # np.square
    is_root = exponent == 0.5 and lhs.type.dtype.is_integer
    if op is Pow and (is_root or (lhs.type.dtype.is_inexact and exponent in (2, -1, 0.5))):
        type = join_types(lhs.type, rhs.type, span)
        base = Scalar(convert(lhs, type.dtype, span), type)
        if exponent == 2:
            return binary(Mul, base, base, span)
        if type.dtype.is_complex and rhs.type != (WEAK_FLOAT if exponent == 0.5 else WEAK_INT):
            return binary(op, lhs, rhs, span)  # zeros and infinities show the difference
        if exponent == -1:
            return reciprocal(base, span)
        return Scalar(Call("sqrt", (base.expr,), span=span), type)
    return binary(op, lhs, rhs, span)


def reciprocal(x: Scalar, span: Span | None) -> Scalar:
    """1 / x, which of complex numbers NumPy does not divide as others. `x` is used repeatedly."""
    if not x.type.dtype.is_complex:
        return binary(Div, Scalar(const(1, x.type.dtype), x.type), x, span)
    real, imag = (Call(name, (x.expr,), span=span) for name in ("real", "imag"))
    one = const(1, real.dtype)
    is_flat = Le(Call("abs", (imag,), span=span), Call("abs", (real,), span=span), span=span)
    large, small = Select(is_flat, real, imag, span=span), Select(is_flat, imag, real, span=span)
    ratio = Div(small, large, span=span)
    divisor = Add(large, Mul(small, ratio, span=span), span=span)
    parts = (
        Div(Select(is_flat, one, ratio, span=span), divisor, span=span),
        Div(Neg(Select(is_flat, ratio, one, span=span), span=span), divisor, span=span),
    )
    return Scalar(Call("complex", parts, span=span), x.type)


def _past_the_width(op: type[Binary], value: Expr, type: ScalarType, span: Span | None) -> Scalar:
    """A shift by a constant that is negative or too large: as in NumPy, only the sign is left."""
    if op is ShiftRight and type.dtype.kind is Kind.INT:
        return combine(ShiftRight, value, Const(type.dtype.bits - 1, type.dtype), type, span)
    return combine(BitAnd, value, Const(0, type.dtype), type, span)


def _python_integers(op: type[Binary], lhs: Scalar, rhs: Scalar, span: Span | None) -> Scalar:
    """Python ints: exact while they are constants, int64 once they are not."""
    a, b = lhs.constant, rhs.constant
    if op in (Pow, *_SHIFTS) and b is not None:
        if b < 0 and op is Pow:
            return binary(Pow, _as_float(lhs, span), _as_float(rhs, span), span)
        if b < 0:
            other = ">>" if op is ShiftLeft else "<<"
            raise TypeMismatch(
                f"negative shift count {b}", span, help=f"shift the other way: {other} {-b}"
            )
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
        return combine(_BOOL_MEANING[op], a, b, ScalarType(BOOL), span)
    if op is Sub:
        raise TypeMismatch(
            "NumPy does not subtract bools",
            span,
            help='for "one but not the other" write x ^ y; for numbers convert with int8(x)',
        )
    dtype = FLOAT64 if op is Div else INT8
    a, b = convert(lhs, dtype, span), convert(rhs, dtype, span)
    return combine(op, a, b, ScalarType(dtype), span)


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
    if op in (FloorDiv, Mod):
        raise TypeMismatch(
            f"'{SYMBOLS[op]}' needs real numbers, found {dtype}",
            span,
            help="use the real part, x.real, or the imaginary part, x.imag",
        )
    raise TypeMismatch(
        f"'{SYMBOLS[op]}' needs integers, found {dtype}",
        span,
        help=f"{_FOR_CONDITIONS.get(op, '')}convert a float with int64(x) first",
    )


def _check_mixed_integers(op: type[Binary], lhs: Scalar, rhs: Scalar, span: Span | None) -> None:
    """uint64 and a signed type have only float64 in common."""
    a, b = lhs.type.dtype, rhs.type.dtype
    if a.is_integer and b.is_integer and join_types(lhs.type, rhs.type, span).dtype.is_float:
        raise TypeMismatch(
            f"'{SYMBOLS[op]}' needs integers, but {a} and {b} meet in float64",
            span,
            help=f"convert one operand, as in {b}(x)",
        )


def _check_exponent(dtype: DType, rhs: Scalar, span: Span | None) -> None:
    if dtype.is_integer and rhs.constant is not None and rhs.constant < 0:
        raise TypeMismatch(
            f"an integer to the negative power {rhs.constant} is not an integer",
            span,
            help=f"make the base a float: float64(x) ** {rhs.constant}",
        )


def combine(op: type[Binary], lhs: Expr, rhs: Expr, type: ScalarType, span: Span | None) -> Scalar:
    """`lhs op rhs` on operands of one type, folded where both are constants."""
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
            f"NumPy has no unary '{sign}' for bool",
            span,
            help="for the opposite write `not x`; for a number convert with int8(x)",
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
        raise TypeMismatch(
            f"'~' needs an integer or bool, found {dtype}",
            span,
            help="for the opposite of a condition write `not`; convert a float with int64(x) first",
        )
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
    """`lhs and rhs` or `lhs or rhs` on conditions, decided now where one side decides.

    What stands left of a side that decides is still looked at if it may fail.
    """
    decisive = op is Or
    if isinstance(lhs, Const):
        return Const(decisive, BOOL, span=span) if lhs.value is decisive else rhs
    if not isinstance(rhs, Const):
        return op(lhs, rhs, span=span)
    if rhs.value is not decisive:
        return lhs
    return Const(decisive, BOOL, span=span) if is_total(lhs) else op(lhs, rhs, span=span)


def select(cond: Expr, then: Scalar, otherwise: Scalar, span: Span | None) -> Scalar:
    """`then if cond else otherwise`, in the type where both meet."""
    type = join_types(then.type, otherwise.type, span)
    if isinstance(cond, Const):
        return Scalar(convert(then if cond.value else otherwise, type.dtype, span), type)
    sides = convert(then, type.dtype, span), convert(otherwise, type.dtype, span)
    return Scalar(Select(cond, *sides, span=span), type)
