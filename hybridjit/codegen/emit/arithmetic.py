"""The operators of the language on values: a table from node class to LLVM instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from llvmlite import ir

from hybridjit.codegen.emit.casts import narrow, widen
from hybridjit.codegen.llvm_types import Builder, Complex, Value, compute_dtype, is_signed
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import (
    Add,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Compare,
    Div,
    Eq,
    FloorDiv,
    Ge,
    Gt,
    Le,
    Lt,
    Max,
    Min,
    Mod,
    Mul,
    Ne,
    ShiftLeft,
    ShiftRight,
    Sub,
)
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.codegen.math import complexes
    from hybridjit.codegen.math import library as math_library
else:
    complexes = lazy_module("hybridjit.codegen.math.complexes")
    math_library = lazy_module("hybridjit.codegen.math.library")

Operator = Callable[[Builder, Value, Value, DType], Value]
_SYMBOLS: dict[type[Compare], str] = {Eq: "==", Ne: "!=", Lt: "<", Le: "<=", Gt: ">", Ge: ">="}


def emit_binary(b: Builder, op: type[Binary], x: Value, y: Value, dtype: DType) -> Value:
    """`x op y` on two values of `dtype`. Divisors of integers are not zero."""
    if issubclass(op, Compare):
        return emit_compare(b, op, x, y, dtype)
    if dtype.is_complex:
        return _COMPLEX[op](b, x, y, dtype)
    if op in _FLOAT_FUNCTIONS and dtype.is_float:
        return math_library.emit_math(b, _FLOAT_FUNCTIONS[op], dtype, [x, y])
    if dtype.is_float:
        wide = _FLOAT[op](b, widen(b, x, dtype), widen(b, y, dtype), compute_dtype(dtype))
        return narrow(b, wide, dtype)
    return _INTEGER[op](b, x, y, dtype)


def emit_fraction(b: Builder, x: Value, dtype: DType) -> Value:
    """`x % 1.0` on floats."""
    return math_library.emit_math(b, "fraction", dtype, [x])


def emit_compare(b: Builder, op: type[Compare], x: Value, y: Value, dtype: DType) -> Value:
    """A comparison; IEEE on floats, so that only `!=` holds for a NaN."""
    symbol = _SYMBOLS[op]
    if dtype.is_complex:
        parts = [emit_compare(b, op, p, q, dtype.component) for p, q in zip(x, y, strict=True)]
        return b.and_(*parts) if op is Eq else b.or_(*parts)
    if dtype.is_float:
        x, y = widen(b, x, dtype), widen(b, y, dtype)
        return b.fcmp_unordered("!=", x, y) if op is Ne else b.fcmp_ordered(symbol, x, y)
    return b.icmp_signed(symbol, x, y) if is_signed(dtype) else b.icmp_unsigned(symbol, x, y)


def emit_negate(b: Builder, x: Value, dtype: DType) -> Value:
    """-x."""
    if dtype.is_complex:
        return Complex(b.fneg(x.real), b.fneg(x.imag))
    if dtype.is_float:
        return narrow(b, b.fneg(widen(b, x, dtype)), dtype)
    return b.neg(x)


def _min(b: Builder, x: Value, y: Value, dtype: DType) -> Value:
    return b.select(emit_compare(b, Lt, y, x, dtype), y, x)


def _max(b: Builder, x: Value, y: Value, dtype: DType) -> Value:
    return b.select(emit_compare(b, Gt, y, x, dtype), y, x)


# -- integers --------------------------------------------------------------------------------------


def _floor_divide(b: Builder, x: Value, y: Value, dtype: DType) -> Value:
    if not is_signed(dtype):
        return b.udiv(x, y)
    divisor, is_minus_one = _safe_divisor(b, y)
    quotient, rest = b.sdiv(x, divisor), b.srem(x, divisor)
    floored = b.sub(quotient, b.zext(_needs_step(b, rest, divisor), x.type))
    return b.select(is_minus_one, b.neg(x), floored)


def _modulo(b: Builder, x: Value, y: Value, dtype: DType) -> Value:
    if not is_signed(dtype):
        return b.urem(x, y)
    divisor, is_minus_one = _safe_divisor(b, y)
    rest = b.srem(x, divisor)
    stepped = b.select(_needs_step(b, rest, divisor), b.add(rest, divisor), rest)
    return b.select(is_minus_one, ir.Constant(x.type, 0), stepped)


def _safe_divisor(b: Builder, y: Value) -> tuple[Value, Value]:
    """MIN / -1 overflows, which LLVM leaves undefined: divide by 1 and negate instead."""
    is_minus_one = b.icmp_signed("==", y, ir.Constant(y.type, -1))
    return b.select(is_minus_one, ir.Constant(y.type, 1), y), is_minus_one


def _needs_step(b: Builder, rest: Value, divisor: Value) -> Value:
    """True where truncation and floor differ: a rest whose sign is not the divisor's."""
    zero = ir.Constant(rest.type, 0)
    signs_differ = b.icmp_signed("<", b.xor(rest, divisor), zero)
    return b.and_(b.icmp_signed("!=", rest, zero), signs_differ)


def _shift_left(b: Builder, x: Value, y: Value, dtype: DType) -> Value:
    fits = b.icmp_unsigned("<", y, ir.Constant(y.type, dtype.bits))
    return b.select(fits, b.shl(x, y), ir.Constant(x.type, 0))


def _shift_right(b: Builder, x: Value, y: Value, dtype: DType) -> Value:
    last = ir.Constant(y.type, dtype.bits - 1)
    fits = b.icmp_unsigned("<=", y, last)
    if is_signed(dtype):  # shifting further than the width leaves only copies of the sign
        return b.ashr(x, b.select(fits, y, last))
    return b.select(fits, b.lshr(x, y), ir.Constant(x.type, 0))


def _simple(name: str) -> Operator:
    return lambda b, x, y, dtype: getattr(b, name)(x, y)


_INTEGER: dict[type[Binary], Operator] = {
    Add: _simple("add"),
    Sub: _simple("sub"),
    Mul: _simple("mul"),
    BitAnd: _simple("and_"),
    BitOr: _simple("or_"),
    BitXor: _simple("xor"),
    FloorDiv: _floor_divide,
    Mod: _modulo,
    ShiftLeft: _shift_left,
    ShiftRight: _shift_right,
    Min: _min,
    Max: _max,
}


# -- floats ----------------------------------------------------------------------------------------


_FLOAT_FUNCTIONS: dict[type[Binary], str] = {FloorDiv: "floor_div", Mod: "floor_mod"}
_FLOAT: dict[type[Binary], Operator] = {
    Add: _simple("fadd"),
    Sub: _simple("fsub"),
    Mul: _simple("fmul"),
    Div: _simple("fdiv"),
    Min: _min,
    Max: _max,
}


# -- complex ---------------------------------------------------------------------------------------


def _complex_add(b: Builder, x: Complex, y: Complex, dtype: DType) -> Complex:
    return Complex(b.fadd(x.real, y.real), b.fadd(x.imag, y.imag))


def _complex_subtract(b: Builder, x: Complex, y: Complex, dtype: DType) -> Complex:
    return Complex(b.fsub(x.real, y.real), b.fsub(x.imag, y.imag))


def _complex_multiply(b: Builder, x: Complex, y: Complex, dtype: DType) -> Complex:
    return Complex(
        b.fsub(b.fmul(x.real, y.real), b.fmul(x.imag, y.imag)),
        b.fadd(b.fmul(x.real, y.imag), b.fmul(x.imag, y.real)),
    )


def _complex_divide(b: Builder, x: Complex, y: Complex, dtype: DType) -> Complex:
    return Complex(*complexes.emit_complex_math(b, "div", dtype, [x, y]))


_COMPLEX: dict[type[Binary], Callable[..., Complex]] = {
    Add: _complex_add,
    Sub: _complex_subtract,
    Mul: _complex_multiply,
    Div: _complex_divide,
}
