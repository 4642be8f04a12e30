"""The functions of ir/intrinsics.py on values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from hybridjit.codegen.arithmetic import call_float, emit_compare
from hybridjit.codegen.casts import declare, narrow, widen
from hybridjit.codegen.llvm_types import (
    I1,
    Builder,
    Complex,
    Value,
    compute_dtype,
    is_signed,
    value_type,
)
from hybridjit.codegen.math.library import BODIES, math_function
from hybridjit.errors import InternalError
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Gt, Lt

Intrinsic = Callable[[Builder, Sequence[Value], DType], Value]


def emit_intrinsic(b: Builder, name: str, args: Sequence[Value], dtype: DType) -> Value:
    """The intrinsic `name` of arguments of type `dtype`."""
    if dtype.is_complex:
        return _COMPLEX[name](b, args, dtype)
    if dtype.is_integer:
        return _INTEGER[name](b, args, dtype)
    wide = [widen(b, arg, dtype) for arg in args]
    result = _emit_float(b, name, wide, compute_dtype(dtype))
    is_number = not isinstance(result, Complex) and result.type != I1
    return narrow(b, result, dtype) if is_number else result


def _emit_float(b: Builder, name: str, args: Sequence[Value], dtype: DType) -> Value:
    function = _FLOAT.get(name)
    if function is not None:
        return function(b, args, dtype)
    if name in BODIES:
        return b.call(math_function(b.module, name, dtype), args)
    return _call_library(b, name, args, dtype)


_LIBRARY = {"gamma": "tgamma"}


def _call_library(b: Builder, name: str, args: Sequence[Value], dtype: DType) -> Value:
    """A function of the C library."""
    suffix = "f" if dtype.bits == 32 else ""
    function_type = ir.FunctionType(value_type(dtype), [arg.type for arg in args])
    symbol = _LIBRARY.get(name, name) + suffix
    return b.call(declare(b.module, symbol, function_type), args)


def _one(dtype: DType) -> Value:
    return ir.Constant(value_type(dtype), 1.0)


def _unary(name: str) -> Intrinsic:
    return lambda b, args, dtype: call_float(b, name, *args)


def _is_nan(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    return b.fcmp_unordered("uno", args[0], args[0])


def _is_inf(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    infinity = ir.Constant(value_type(dtype), float("inf"))
    return b.fcmp_ordered("==", call_float(b, "fabs", args[0]), infinity)


def _is_finite(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    infinity = ir.Constant(value_type(dtype), float("inf"))
    return b.fcmp_ordered("<", call_float(b, "fabs", args[0]), infinity)


def _extremum(op: type[Lt] | type[Gt]) -> Intrinsic:
    """np.minimum and np.maximum: NaN wins; of equal values, the second."""

    def emit(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
        x, y = args
        wins = emit_compare(b, op, x, y, dtype)
        if dtype.is_float:
            wins = b.or_(wins, b.fcmp_unordered("uno", x, x))
        return b.select(wins, x, y)

    return emit


def _rsqrt(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    return b.fdiv(_one(dtype), call_float(b, "sqrt", args[0]))


def _float_sign(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    (x,) = args
    zero, one = ir.Constant(x.type, 0.0), ir.Constant(x.type, 1.0)
    positive = b.select(b.fcmp_ordered(">", x, zero), one, zero)
    signed = b.select(b.fcmp_ordered("<", x, zero), ir.Constant(x.type, -1.0), positive)
    return b.select(b.fcmp_unordered("uno", x, x), x, signed)


def _complex(b: Builder, args: Sequence[Value], dtype: DType) -> Complex:
    return Complex(*args)


_FLOAT: dict[str, Intrinsic] = {
    **{name: _unary(name) for name in ("sqrt", "floor", "ceil", "trunc", "rint", "copysign")},
    "abs": _unary("fabs"),
    "fmod": lambda b, args, dtype: b.frem(*args),
    "isnan": _is_nan,
    "isinf": _is_inf,
    "isfinite": _is_finite,
    "minimum": _extremum(Lt),
    "maximum": _extremum(Gt),
    "rsqrt": _rsqrt,
    "sign": _float_sign,
    "complex": _complex,
}


# -- integers --------------------------------------------------------------------------------------


def _call_bits(b: Builder, name: str, x: Value, *flags: bool) -> Value:
    constants = [ir.Constant(I1, flag) for flag in flags]
    function_type = ir.FunctionType(x.type, [x.type, *(I1 for _ in flags)])
    function = declare(b.module, f"llvm.{name}.i{x.type.width}", function_type)
    return b.call(function, [x, *constants])


def _integer_abs(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    return _call_bits(b, "abs", args[0], False) if is_signed(dtype) else args[0]


def _integer_sign(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    (x,) = args
    zero, one = ir.Constant(x.type, 0), ir.Constant(x.type, 1)
    positive = b.select(emit_compare(b, Gt, x, zero, dtype), one, zero)
    if not is_signed(dtype):
        return positive
    return b.select(emit_compare(b, Lt, x, zero, dtype), ir.Constant(x.type, -1), positive)


def _integer_fmod(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    x, y = args
    if not is_signed(dtype):
        return b.urem(x, y)
    is_minus_one = b.icmp_signed("==", y, ir.Constant(y.type, -1))
    divisor = b.select(is_minus_one, ir.Constant(y.type, 1), y)
    return b.srem(x, divisor)


_INTEGER: dict[str, Intrinsic] = {
    "abs": _integer_abs,
    "sign": _integer_sign,
    "fmod": _integer_fmod,
    "minimum": _extremum(Lt),
    "maximum": _extremum(Gt),
    "popcount": lambda b, args, dtype: _call_bits(b, "ctpop", args[0]),
    "clz": lambda b, args, dtype: _call_bits(b, "ctlz", args[0], False),
}


# -- complex ---------------------------------------------------------------------------------------


def _either_part(name: str) -> Intrinsic:
    def emit(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
        real, imag = (_FLOAT[name](b, [part], dtype.component) for part in args[0])
        return b.and_(real, imag) if name == "isfinite" else b.or_(real, imag)

    return emit


def _complex_abs(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
    return _call_library(b, "hypot", list(args[0]), dtype.component)


def _not_yet(name: str) -> Intrinsic:
    def emit(b: Builder, args: Sequence[Value], dtype: DType) -> Value:
        raise InternalError(f"native code has no {name} of complex values", "codegen")

    return emit


_COMPLEX: dict[str, Intrinsic] = {
    "real": lambda b, args, dtype: args[0].real,
    "imag": lambda b, args, dtype: args[0].imag,
    "conj": lambda b, args, dtype: Complex(args[0].real, b.fneg(args[0].imag)),
    "abs": _complex_abs,
    **{name: _either_part(name) for name in ("isnan", "isinf", "isfinite")},
    **{
        name: _not_yet(name)
        for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
}
