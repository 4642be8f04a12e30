"""float16, as its bits, to and from float32 and float64, with and without the instructions.

F16C converts between float16 and float32; only AVX512-FP16 rounds float64 to float16. Where there
is no instruction LLVM calls a function that a process need not have, so the code is our own: a
straight line of integer operations and one exact float operation, the same for vectors.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from hybridjit.codegen.llvm_types import (
    DOUBLE,
    FLOAT,
    HALF,
    I16,
    I32,
    Builder,
    Function,
    LLVMType,
    Module,
    Value,
    lanes_of,
    mangled,
    scalar_of,
    shaped,
)
from hybridjit.codegen.module_features import has_feature

_Body = Callable[[Builder, Value], Value]
_SIGN, _MAGNITUDE = 0x8000, 0x7FFF
_INFINITY, _QUIET = 0x7C00, 0x0200  # of float16
_DROPPED = 13  # bits of a float32 that float16 does not have
_OVERFLOW = 0x47800000  # 65536.0
_NORMAL = 0x38800000  # 2**-14, the least normal float16
_HALF = 0x3F000000  # 0.5, whose last bit is the last one of subnormal float16
_REBIAS = (15 - 127) << 23  # between the exponents of the formats
_SCALE = 2.0**112  # the same as a factor
_FLOAT_INFINITY = 0x7F800000


def extend_half(b: Builder, value: Value) -> Value:
    """A float16 as float32."""
    if has_feature(b.module, "f16c"):
        return b.fpext(b.bitcast(value, _like(value, HALF)), _like(value, FLOAT))
    return _call(b, "extend_half", value, FLOAT, _extend)


def round_to_half(b: Builder, value: Value) -> Value:
    """A float32 or float64 rounded to float16, once, to nearest even."""
    if scalar_of(value.type) == DOUBLE and not has_feature(b.module, "avx512fp16"):
        return round_to_half(b, _call(b, "round_to_odd", value, FLOAT, _round_to_odd))
    if has_feature(b.module, "f16c"):
        return b.bitcast(b.fptrunc(value, _like(value, HALF)), _like(value, I16))
    return _call(b, "round_to_half", value, I16, _round)


def _call(b: Builder, name: str, value: Value, result: LLVMType, body: _Body) -> Value:
    """A function that is always inlined: its instructions have none of the kernel's flags."""
    symbol = f"hj.{name}.{mangled(value.type)}"
    function: Function | None = b.module.globals.get(symbol)
    if function is None:
        function = _define(b.module, symbol, _like(value, result), value.type, body)
    return b.call(function, [value])


def _define(
    module: Module, symbol: str, result: LLVMType, argument: LLVMType, body: _Body
) -> Function:
    function: Function = ir.Function(module, ir.FunctionType(result, [argument]), symbol)
    function.linkage = "internal"
    function.attributes.add("alwaysinline")
    inside: Builder = ir.IRBuilder(function.append_basic_block("entry"))
    inside.ret(body(inside, function.args[0]))
    return function


def _extend(b: Builder, half: Value) -> Value:
    wide = _like(half, I32)
    bits = b.zext(half, wide)
    magnitude = b.and_(bits, ir.Constant(wide, _MAGNITUDE))
    sign = b.shl(b.and_(bits, ir.Constant(wide, _SIGN)), ir.Constant(wide, 16))
    # The fields in their places are the number, but for a power of two; subnormal ones too.
    small = b.bitcast(b.shl(magnitude, ir.Constant(wide, _DROPPED)), _like(half, FLOAT))
    scaled = b.bitcast(b.fmul(small, ir.Constant(small.type, _SCALE)), wide)
    is_finite = b.icmp_unsigned("<", magnitude, ir.Constant(wide, _INFINITY))
    special = b.or_(scaled, ir.Constant(wide, _FLOAT_INFINITY))
    return b.bitcast(b.or_(b.select(is_finite, scaled, special), sign), _like(half, FLOAT))


def _round(b: Builder, value: Value) -> Value:
    wide = _like(value, I32)
    bits = b.bitcast(value, wide)
    magnitude = b.and_(bits, ir.Constant(wide, 0x7FFFFFFF))
    sign = b.and_(b.lshr(bits, ir.Constant(wide, 16)), ir.Constant(wide, _SIGN))
    shifted = b.lshr(magnitude, ir.Constant(wide, _DROPPED))
    # Round to nearest, ties to even: add half of the dropped part, less one if already even.
    odd = b.and_(shifted, ir.Constant(wide, 1))
    rounding = ir.Constant(wide, (_REBIAS + 0xFFF) & 0xFFFFFFFF)
    normal = b.lshr(b.add(b.add(magnitude, rounding), odd), ir.Constant(wide, _DROPPED))
    # Adding 0.5 lets the processor round at the last bit of subnormal numbers.
    real = b.bitcast(magnitude, value.type)
    moved = b.bitcast(b.fadd(real, ir.Constant(value.type, 0.5)), wide)
    subnormal = b.sub(moved, ir.Constant(wide, _HALF))
    payload = b.or_(
        b.and_(shifted, ir.Constant(wide, 0x3FF)),
        ir.Constant(wide, _INFINITY | _QUIET),
    )
    is_nan = b.icmp_unsigned(">", magnitude, ir.Constant(wide, _FLOAT_INFINITY))
    huge = b.select(is_nan, payload, ir.Constant(wide, _INFINITY))
    is_small = b.icmp_unsigned("<", magnitude, ir.Constant(wide, _NORMAL))
    finite = b.select(is_small, subnormal, normal)
    is_huge = b.icmp_unsigned(">=", magnitude, ir.Constant(wide, _OVERFLOW))
    chosen = b.or_(b.select(is_huge, huge, finite), sign)
    return b.trunc(chosen, _like(value, I16))


def _round_to_odd(b: Builder, value: Value) -> Value:
    """A float64 as float32: if it is inexact, the neighbour whose last bit is set.

    float32 has more than two bits beyond float16, and the last one says that something follows:
    rounding again gives what one rounding would (Boldo and Melquiond).
    """
    near = b.fptrunc(value, _like(value, FLOAT))
    back = b.fpext(near, value.type)
    wide = _like(value, I32)
    bits = b.bitcast(near, wide)
    one = ir.Constant(wide, 1)
    is_even = b.icmp_unsigned("==", b.and_(bits, one), ir.Constant(wide, 0))
    is_inexact = b.fcmp_ordered("!=", back, value)  # false for NaN
    went_up = _is_larger(b, back, value)
    towards = b.select(went_up, b.sub(bits, one), b.add(bits, one))
    return b.bitcast(b.select(b.and_(is_even, is_inexact), towards, bits), near.type)


def _is_larger(b: Builder, x: Value, y: Value) -> Value:
    """|x| > |y| of two numbers of one sign, by their bits."""
    bits = _like(x, ir.IntType(64))
    return b.icmp_unsigned(">", b.bitcast(x, bits), b.bitcast(y, bits))


def _like(value: Value, scalar: LLVMType) -> LLVMType:
    return shaped(scalar, lanes_of(value))
