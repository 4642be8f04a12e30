"""Every math function by name, and how it is put into a module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from hybridjit.codegen.emit.half import extend_half, round_to_half
from hybridjit.codegen.math import (
    elementary,
    error,
    exponential,
    gamma,
    inverse,
    known_powers,
    logarithm,
    power,
    remainder,
    roots,
    trigonometric,
)
from hybridjit.codegen.math.avx512 import FEATURE
from hybridjit.codegen.math.values import F32, FORMATS, UNDEFINED, Flag, Format, Real, Scope
from hybridjit.codegen.module_features import has_feature, has_fma
from hybridjit.errors import InternalError
from hybridjit.ir.dtype import BFLOAT16, FLOAT16, DType

Body = Callable[..., Real | Flag | tuple[Real, Real]]

BODIES: dict[str, Body] = {
    "exp": exponential.exp,
    "log": logarithm.log,
    "log2": logarithm.log2,
    "log10": logarithm.log10,
    "log1p": logarithm.log1p,
    "exp2": exponential.exp2,
    "expm1": exponential.expm1,
    "pow": power.power,
    "sin": trigonometric.sin,
    "cos": trigonometric.cos,
    "tan": trigonometric.tan,
    "asin": inverse.asin,
    "acos": inverse.acos,
    "atan": inverse.atan,
    "atan2": inverse.atan2,
    "asinh": inverse.asinh,
    "acosh": inverse.acosh,
    "atanh": inverse.atanh,
    "erf": error.erf,
    "erfc": error.erfc,
    "gamma": gamma.gamma,
    "lgamma": gamma.lgamma,
    "fmod": remainder.fmod,
    "floor_mod": remainder.floor_mod,
    "floor_div": remainder.floor_div,
    "fraction": remainder.fraction,
    "rsqrt": roots.rsqrt,
    "cbrt": roots.cbrt,
    "hypot": roots.hypot,
    "sqrt": elementary.sqrt,
    "floor": elementary.floor,
    "ceil": elementary.ceil,
    "trunc": elementary.trunc,
    "rint": elementary.rint,
    "sign": elementary.sign,
    "signum": elementary.signum,
    "copysign": elementary.copysign,
    "fma": elementary.fma,
    "minimum": elementary.minimum,
    "maximum": elementary.maximum,
    "lesser": elementary.lesser,
    "greater": elementary.greater,
    "isnan": elementary.isnan,
    "isinf": elementary.isinf,
    "isfinite": elementary.isfinite,
    "abs": elementary.absolute,
    "sinh": exponential.sinh,
    "cosh": exponential.cosh,
    "tanh": exponential.tanh,
    "sigmoid": exponential.sigmoid,
    "sin_and_cos": trigonometric.sin_and_cos,
}
# What takes the place of an instruction in types that have none.
_COMPARED = {"minimum": "lesser", "maximum": "greater"}
# Functions that are one result of another one: who asks for both gets them from one call.
PARTS = {"sin": ("sin_and_cos", 0), "cos": ("sin_and_cos", 1)}


def emit_math(
    builder: Any, name: str, dtype: DType, args: Sequence[Any], target_has_fma: bool | None = None
) -> Any:
    """The value of the function `name` of floats of type `dtype`; an i1 for the tests.

    The arguments may be vectors. Half precision is computed in float32 and rounded once;
    its values are given, and returned, as their bits (i16).
    """
    lanes: int = getattr(args[0].type, "count", 1)  # of a vector
    fused = has_fma(builder.module) if target_has_fma is None else target_has_fma
    scope = Scope(builder, fused, lanes)
    wide = [_widen(scope, arg, dtype) for arg in args]
    if dtype.bits < F32.bits and name in _COMPARED:
        name = _COMPARED[name]
        if dtype is FLOAT16:
            wide.reverse()  # of two zeros NumPy takes the first here, in bfloat16 the second
    if dtype is BFLOAT16 and name == "sign":
        name = "signum"
    format = FORMATS.get(dtype.bits, F32)
    function = math_function(builder.module, name, format, fused, lanes)
    result = builder.call(function, wide)
    return result if _is_flag(result) else _narrow(scope, result, dtype)


def emit_floor_mod(builder: Any, dtype: DType, x: Any, y: Any) -> Any:
    """x % y on floats, as np.remainder."""
    return emit_math(builder, "floor_mod", dtype, [x, y])


def emit_floor_div(builder: Any, dtype: DType, x: Any, y: Any) -> Any:
    """x // y on floats, as np.floor_divide."""
    return emit_math(builder, "floor_div", dtype, [x, y])


def math_function(
    module: Any, name: str, dtype: DType | Format, target_has_fma: bool = True, lanes: int = 1
) -> Any:
    """The function `name` on float32 or float64 values, emitted on first use.

    It is internal. Those that are straight lines are always inlined, and so are those on vectors.
    """
    format = FORMATS[dtype.bits]
    shape = f"f{format.bits}" if lanes == 1 else f"v{lanes}f{format.bits}"
    symbol = f"hj.{name}.{shape}"
    found = module.globals.get(symbol)
    if found is not None:
        return found
    body = BODIES.get(name) or known_powers.BODIES.get(name)
    if body is None:
        raise InternalError(f"there is no math function named {name}", "codegen")
    avx512 = target_has_fma and has_feature(module, FEATURE)
    if name in PARTS:
        return _define_part(module, symbol, PARTS[name], format, Scope(None, target_has_fma, lanes))
    function = _define(module, symbol, body, format, Scope(None, target_has_fma, lanes, avx512))
    if name in BRANCHING and lanes == 1:
        _mark_pure(function)
    else:
        function.attributes.add("alwaysinline")
    return function


# These have a rare path behind a branch, and are long: one number at a time they are called.
BRANCHING = ("sin", "cos", "tan", "sin_and_cos")
# With the instructions of avx512.py these are shorter, in vectors that fill a register.
SHORTER_WITH_AVX512 = (
    *("log", "log2", "log10", "log1p", "pow", "cbrt"),
    *("expm1", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)


def _mark_pure(function: Any) -> None:
    """Let LLVM call a function once for all who ask for the same, or not at all.

    Inlined, one that gives the sine and the cosine would be there twice for who wants both.
    """
    function.attributes = _Attributes()
    for attribute in ("noinline", "nounwind", "readnone", "willreturn", "speculatable"):
        function.attributes.add(attribute)


_set: Any = set  # FunctionAttributes is one, and checks names in `add`


class _Attributes(ir.values.FunctionAttributes):
    """llvmlite's attributes, and any that LLVM knows besides."""

    def add(self, name: str) -> None:
        _set.add(self, name)


def _define(module: Any, symbol: str, body: Body, format: Format, scope: Scope) -> Any:
    kind = scope.type_of(format.type)
    arity = body.__code__.co_argcount
    result = _result_type(body.__annotations__["return"], scope, kind)
    function: Any = ir.Function(module, ir.FunctionType(result, [kind] * arity), symbol)
    function.linkage = "internal"
    builder: Any = ir.IRBuilder(function.append_basic_block("entry"))
    inside = scope.at(builder)
    value = body(*(Real(inside, format, arg) for arg in function.args))
    builder.ret(_structure(builder, value) if isinstance(value, tuple) else value.value)
    return function


def _result_type(annotation: str, scope: Scope, kind: Any) -> Any:
    match annotation:
        case "Flag":
            return scope.type_of(ir.IntType(1))
        case "Real":
            return kind
        case _:
            return ir.LiteralStructType([kind, kind])


def _structure(builder: Any, parts: tuple[Real, Real]) -> Any:
    values = [part.value for part in parts]
    kind = ir.LiteralStructType([value.type for value in values])
    made: Any = ir.Constant(kind, UNDEFINED)
    for position, value in enumerate(values):
        made = builder.insert_value(made, value, position)
    return made


def _define_part(
    module: Any, symbol: str, part: tuple[str, int], format: Format, scope: Scope
) -> Any:
    """A function that is one of the results of another one."""
    name, position = part
    kind = scope.type_of(format.type)
    function: Any = ir.Function(module, ir.FunctionType(kind, [kind]), symbol)
    function.linkage = "internal"
    function.attributes.add("alwaysinline")
    builder: Any = ir.IRBuilder(function.append_basic_block("entry"))
    both = math_function(module, name, format, scope.fma, scope.lanes)
    builder.ret(builder.extract_value(builder.call(both, function.args), position))
    return function


def _is_flag(value: Any) -> bool:
    scalar: object = getattr(value.type, "element", value.type)
    return scalar == ir.IntType(1)


def _widen(scope: Scope, value: Any, dtype: DType) -> Any:
    """A value of type `dtype` in the format it is computed in."""
    builder = scope.builder
    if dtype is FLOAT16:
        return extend_half(builder, value)
    if dtype is BFLOAT16:
        wide = builder.zext(value, scope.type_of(ir.IntType(32)))
        shifted = builder.shl(wide, scope.constant(ir.IntType(32), 16))
        return builder.bitcast(shifted, scope.type_of(F32.type))
    return value


def _narrow(scope: Scope, value: Any, dtype: DType) -> Any:
    """The result of a computation rounded to `dtype`."""
    if dtype is FLOAT16:
        return round_to_half(scope.builder, value)
    if dtype is BFLOAT16:
        return _round_to_bfloat16(Real(scope, F32, value))
    return value


def _round_to_bfloat16(x: Real) -> Any:
    """The bits of x rounded to nearest even; NaN stays NaN."""
    bits = x.bits
    rounded = bits + (bits.logical_shift(16) & 1) + 0x7FFF
    quiet = bits | 0x400000
    builder = x.scope.builder
    chosen = builder.select(x.is_nan().value, quiet.value, rounded.value)
    high = builder.lshr(chosen, x.scope.constant(ir.IntType(32), 16))
    return builder.trunc(high, x.scope.type_of(ir.IntType(16)))
