"""Conversions between element types, as `Cast` defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.llvm_types import (
    FLOAT,
    I16,
    I32,
    Builder,
    Complex,
    LLVMType,
    Value,
    is_signed,
    lanes_of,
    mangled,
    scalar_of,
    shaped,
    value_type,
)
from hybridjit.codegen.module_features import has_feature
from hybridjit.ir.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, DType
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.codegen.emit import half
else:
    half = lazy_module("hybridjit.codegen.emit.half")


def emit_cast(b: Builder, value: Value, source: DType, to: DType) -> Value:
    """`value` of type `source` converted to `to`."""
    if source is to:
        return value
    if to.is_complex:
        return _to_complex(b, value, source, to)
    if source.is_complex:
        return _from_complex(b, value, source, to)
    if to is BOOL:
        return _truth(b, value, source)
    if source.is_float:
        value = widen(b, value, source)
        is_single = scalar_of(value.type) == FLOAT
        return _from_float(b, value, FLOAT32 if is_single else source, to)
    return _from_integer(b, value, source, to)


def _to_complex(b: Builder, value: Value, source: DType, to: DType) -> Complex:
    part = to.component
    if source.is_complex:
        real, imag = (emit_cast(b, x, source.component, part) for x in value)
        return Complex(real, imag)
    real = emit_cast(b, value, source, part)
    return Complex(real, ir.Constant(real.type, 0.0))


def _from_complex(b: Builder, value: Complex, source: DType, to: DType) -> Value:
    if to is BOOL:
        return b.or_(*(_truth(b, part, source.component) for part in value))
    return emit_cast(b, value.real, source.component, to)


def _truth(b: Builder, value: Value, source: DType) -> Value:
    if source.is_float:
        value = widen(b, value, source)
        return b.fcmp_unordered("!=", value, ir.Constant(value.type, 0.0))
    return b.icmp_unsigned("!=", value, ir.Constant(value.type, 0))


def _from_float(b: Builder, value: Value, source: DType, to: DType) -> Value:
    if to.is_integer:
        return _saturated(b, value, to)
    if to is BFLOAT16:
        single = value if source is FLOAT32 else b.fptrunc(value, like(value, FLOAT))
        return narrow(b, single, BFLOAT16)
    if to is FLOAT16:
        return half.round_to_half(b, value)
    target = like(value, value_type(to))
    if value.type == target:
        return value
    return b.fpext(value, target) if to.bits > source.bits else b.fptrunc(value, target)


def _saturated(b: Builder, value: Value, to: DType) -> Value:
    """Float to integer: truncated, saturated, NaN gives 0."""
    if lanes_of(value) > 1 and not has_feature(b.module, "neon"):
        return _saturated_lanes(b, value, to)
    sign = "s" if is_signed(to) else "u"
    target = like(value, ir.IntType(to.bits))
    name = f"llvm.fpto{sign}i.sat.{mangled(target)}.{mangled(value.type)}"
    function_type = ir.FunctionType(target, [value.type])
    return b.call(declare_function(b.module, name, function_type), [value])


def _saturated_lanes(b: Builder, value: Value, to: DType) -> Value:
    """The same in lanes. LLVM would take the vector apart where no instruction does all of it.

    Lanes beyond the limits are brought there first; of limits that no float is, the next float
    inside. Small integers are made by way of 32 bits with a sign, which every processor has.
    """
    bits, has_sign = max(to.bits, 32), is_signed(to) or to.bits < 32
    low, high = (
        (-1 << (to.bits - 1), (1 << (to.bits - 1)) - 1)
        if is_signed(to)
        else (0, (1 << to.bits) - 1)
    )
    last = _last_float(high, value)
    number = b.select(b.fcmp_ordered("ord", value, value), value, _all(value.type, 0.0))
    for sign, limit in (("<", float(low)), (">", float(last))):
        there = _all(value.type, limit)
        number = b.select(b.fcmp_ordered(sign, number, there), there, number)
    wide = like(value, ir.IntType(bits))
    whole = b.fptosi(number, wide) if has_sign else b.fptoui(number, wide)
    if last < high:
        is_above = b.fcmp_ordered(">=", value, _all(value.type, float(high + 1)))
        whole = b.select(is_above, _all(wide, high), whole)
    return whole if bits == to.bits else b.trunc(whole, like(value, ir.IntType(to.bits)))


def _last_float(limit: int, value: Value) -> int:
    """The largest float of a value's type that is not above a limit, which is 2**n - 1."""
    precision = 24 if scalar_of(value.type) == FLOAT else 53
    beyond = max(limit.bit_length() - precision, 0)
    return limit >> beyond << beyond


def _all(kind: LLVMType, number: float) -> Value:
    """A number in all lanes."""
    return ir.Constant(kind, [number] * kind.count)


def _from_integer(b: Builder, value: Value, source: DType, to: DType) -> Value:
    signed = is_signed(source)
    if to in (FLOAT16, BFLOAT16):  # through float32, as NumPy does
        float32 = like(value, FLOAT)
        single = b.sitofp(value, float32) if signed else b.uitofp(value, float32)
        return narrow(b, single, to)
    target = like(value, value_type(to))
    if to.is_float:
        return b.sitofp(value, target) if signed else b.uitofp(value, target)
    width = 1 if source is BOOL else source.bits
    if to.bits > width:
        return b.sext(value, target) if signed else b.zext(value, target)
    return b.trunc(value, target) if to.bits < width else value


def like(value: Value, scalar: LLVMType) -> LLVMType:
    """The type of as many lanes of `scalar` as `value` has."""
    return shaped(scalar, lanes_of(value))


def widen(b: Builder, value: Value, dtype: DType) -> Value:
    """A half-precision value as float32; other values as they are."""
    if dtype is FLOAT16:
        return half.extend_half(b, value)
    if dtype is BFLOAT16:
        wide = like(value, I32)
        high = b.shl(b.zext(value, wide), ir.Constant(wide, 16))
        return b.bitcast(high, like(value, FLOAT))
    return value


def narrow(b: Builder, value: Value, dtype: DType) -> Value:
    """A float32 rounded to half precision; for other types, `value` as it is."""
    if dtype is FLOAT16:
        return half.round_to_half(b, value)
    if dtype is not BFLOAT16:
        return value
    wide, short = like(value, I32), like(value, I16)
    bits, shift = b.bitcast(value, wide), ir.Constant(wide, 16)
    # Round to nearest, ties to even: add half of the dropped part, less one if already even.
    odd = b.and_(b.lshr(bits, shift), ir.Constant(wide, 1))
    rounded = b.add(b.add(bits, ir.Constant(wide, 0x7FFF)), odd)
    high = b.trunc(b.lshr(rounded, shift), short)
    quiet = b.or_(b.trunc(b.lshr(bits, shift), short), ir.Constant(short, 0x40))
    return b.select(b.fcmp_unordered("uno", value, value), quiet, high)
