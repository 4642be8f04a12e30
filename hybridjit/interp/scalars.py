"""What every operator, cast and intrinsic of the IR means, on NumPy scalars.

The functions in the tables take scalars of exactly the types that the node's operands have and
return one of exactly the type that the node claims. They are to be called with NumPy's
floating-point warnings off, once around a whole run; `cast` and `apply_intrinsic` see to that
themselves. An error is a plain built-in exception: the caller knows the place.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from hybridjit.interp import special
from hybridjit.ir import expr as ir
from hybridjit.ir.dtype import DType, find_dtype
from hybridjit.ir.expr import Expr
from hybridjit.ir.intrinsics import INTRINSICS, CustomIntrinsic, Intrinsic

Scalar = Any  # a NumPy scalar; np.generic has no arithmetic that a type checker could follow
Function = Callable[..., Scalar]

FALSE, TRUE = np.False_, np.True_
_HALF_TYPES = ("float16", "bfloat16")
_COMPLEX_TYPES: dict[Function, Function] = {np.float32: np.complex64, np.float64: np.complex128}
_NUMPY_SCALAR: type[Any] = np.generic
_python: Any = operator  # typeshed leaves the types of half of these functions unknown


# Operators


def _not(x: Scalar) -> Scalar:
    return FALSE if x else TRUE


def _is_integer_zero(x: Scalar) -> bool:
    return not x and isinstance(x, np.integer)


def _floor_divide(x: Scalar, y: Scalar) -> Scalar:
    if _is_integer_zero(y):
        raise ZeroDivisionError("integer division or modulo by zero")
    return x // y


def _modulo(x: Scalar, y: Scalar) -> Scalar:
    if _is_integer_zero(y):
        raise ZeroDivisionError("integer modulo by zero")
    return x % y


def _python_min(x: Scalar, y: Scalar) -> Scalar:
    return y if y < x else x


def _python_max(x: Scalar, y: Scalar) -> Scalar:
    return y if y > x else x


# NumPy's scalar operators wrap integers, define every shift and refuse negative integer powers.
OPERATORS: dict[type[Expr], Function] = {
    ir.Neg: _python.neg,
    ir.Invert: _python.invert,
    ir.Not: _not,
    ir.Add: _python.add,
    ir.Sub: _python.sub,
    ir.Mul: _python.mul,
    ir.Div: _python.truediv,
    ir.FloorDiv: _floor_divide,
    ir.Mod: _modulo,
    ir.Pow: _python.pow,
    ir.Min: _python_min,
    ir.Max: _python_max,
    ir.BitAnd: _python.and_,
    ir.BitOr: _python.or_,
    ir.BitXor: _python.xor,
    ir.ShiftLeft: _python.lshift,
    ir.ShiftRight: _python.rshift,
    ir.Eq: _python.eq,
    ir.Ne: _python.ne,
    ir.Lt: _python.lt,
    ir.Le: _python.le,
    ir.Gt: _python.gt,
    ir.Ge: _python.ge,
}


# Intrinsics


def _type_of(x: object) -> Function:
    return type(x)


def _widened(function: Function) -> Function:
    """`function` on floats, float16 and bfloat16 computed in float32 and rounded."""

    def apply(*args: Scalar) -> Scalar:
        kind = _type_of(args[0])
        if kind.__name__ in _HALF_TYPES:
            return kind(function(*map(np.float32, args)))
        return function(*args)

    return apply


def _in_float64(function: Callable[[float], float]) -> Function:
    """`function` of a Python float on every float type, computed in float64 and rounded."""

    def apply(x: Scalar) -> Scalar:
        return _type_of(x)(np.float64(function(float(x))))

    return apply


def _fmod(x: Scalar, y: Scalar) -> Scalar:
    if _is_integer_zero(y):
        raise ZeroDivisionError("integer modulo by zero")
    return np.fmod(x, y)


def _fma(x: Scalar, y: Scalar, z: Scalar) -> Scalar:
    if isinstance(x, np.integer):
        return x * y + z
    kind = _type_of(x)
    fused = special.fma32 if kind is np.float32 else special.fma
    return kind(np.float64(fused(float(x), float(y), float(z))))


# Which of 0.0 and -0.0 is taken is as the instruction of the processor has it in float32 and
# float64: the second on x86-64; on ARM -0.0 is less. In float16, which has none, it is the first.
_ORDERS_ZEROS = bool(np.signbit(np.minimum(-0.0, 0.0)))


def _minimum(x: Scalar, y: Scalar) -> Scalar:
    if x == y:
        return x if _takes_first(x, wants_negative=True) else y
    return x if x < y or x != x else y


def _maximum(x: Scalar, y: Scalar) -> Scalar:
    if x == y:
        return x if _takes_first(x, wants_negative=False) else y
    return x if x > y or x != x else y


def _takes_first(x: Scalar, *, wants_negative: bool) -> bool:
    """Of two equal values, whether the first is taken."""
    kind = _type_of(x)
    if _ORDERS_ZEROS and kind in (np.float32, np.float64):
        return bool(np.signbit(x)) == wants_negative
    return kind is np.float16


def _bit_pattern(x: Scalar) -> tuple[int, int]:
    """The bits of an integer as a non-negative number, and how many there are."""
    width = 8 * x.itemsize
    return int(x) & ((1 << width) - 1), width


def _popcount(x: Scalar) -> Scalar:
    return _type_of(x)(_bit_pattern(x)[0].bit_count())


def _clz(x: Scalar) -> Scalar:
    bits, width = _bit_pattern(x)
    return _type_of(x)(width - bits.bit_length())


def _dot_bytes(x: Scalar, y: Scalar) -> Scalar:
    bytes_of_both = (
        np.frombuffer(int(it).to_bytes(4, "little", signed=True), "i1") for it in (x, y)
    )
    first, second = (part.astype(np.int32) for part in bytes_of_both)
    return np.int32(first @ second)


def _complex(x: Scalar, y: Scalar) -> Scalar:
    kind = _COMPLEX_TYPES.get(_type_of(x))
    if kind is None:
        raise TypeError(f"complex takes float32 or float64 values, not {x.dtype}")
    return kind(complex(x, y))


def _real(x: Scalar) -> Scalar:
    return x.real


def _imag(x: Scalar) -> Scalar:
    return x.imag


_UFUNCS: dict[str, Function] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "copysign": np.copysign,
    "fmod": _fmod,
    "fma": _fma,
}

FUNCTIONS: dict[str, Function] = {
    **{name: _widened(function) for name, function in _UFUNCS.items()},
    "rsqrt": _in_float64(special.rsqrt),
    "cbrt": _in_float64(np.cbrt),
    "sigmoid": _in_float64(special.sigmoid),
    "erf": _in_float64(math.erf),
    "erfc": _in_float64(math.erfc),
    "gamma": _in_float64(special.gamma),
    "lgamma": _in_float64(special.lgamma),
    "abs": operator.abs,
    "sign": np.sign,
    "minimum": _minimum,
    "maximum": _maximum,
    "popcount": _popcount,
    "clz": _clz,
    "dot_bytes": _dot_bytes,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "real": _real,
    "imag": _imag,
    "conj": np.conjugate,
    "complex": _complex,
}


def apply_intrinsic(name: str, *args: object) -> Scalar:
    """The intrinsic `name` of Python or NumPy scalars of one type, as a NumPy scalar."""
    values = [as_scalar(arg) for arg in args]
    intrinsic, dtype = INTRINSICS[name], dtype_of(values[0])
    if len(values) != intrinsic.arity:
        raise TypeError(f"{name} takes {intrinsic.arity} arguments, not {len(values)}")
    if not intrinsic.domain.accepts(dtype):
        raise TypeError(f"{name} takes {intrinsic.domain.value} values, not {dtype}")
    if any(dtype_of(value) is not dtype for value in values):
        names = ", ".join(dtype_of(value).name for value in values)
        raise TypeError(f"{name} takes values of one type, not {names}")
    with np.errstate(all="ignore"):
        return find_function(intrinsic, dtype)(*values)


def find_function(intrinsic: Intrinsic, dtype: DType) -> Callable[..., Scalar]:
    """What computes an intrinsic of arguments of type `dtype`."""
    if not isinstance(intrinsic, CustomIntrinsic):
        return FUNCTIONS[intrinsic.name]
    result = intrinsic.result_dtype(dtype)
    return lambda *args: cast(intrinsic.meaning(*args), result)


# Casts


def cast(value: object, dtype: DType, checked: bool = False) -> Scalar:
    """A Python or NumPy scalar converted to `dtype`, as `Cast` says."""
    if isinstance(value, int) and dtype.is_integer:  # of any size
        return _checked(dtype)(value) if checked else _wrapped(dtype)(value)
    scalar = as_scalar(value)
    with np.errstate(all="ignore"):
        return make_cast(dtype_of(scalar), dtype, checked)(scalar)


def make_cast(source: DType, to: DType, checked: bool = False) -> Callable[[Scalar], Scalar]:
    """The function that converts a scalar of type `source` to type `to`."""
    if source is to:
        return _same
    if to.is_bool:
        return _truth
    if to.is_integer:
        if source.is_inexact:
            return _saturated(to)
        return _checked(to) if checked else _wrapped(to)
    kind = to.numpy.type
    if source.is_complex and not to.is_complex:
        return lambda value: kind(value.real)
    return kind


def _same(value: Scalar) -> Scalar:
    return value


def _truth(value: Scalar) -> Scalar:
    return TRUE if value else FALSE


def _wrapped(to: DType) -> Callable[[Scalar], Scalar]:
    kind, (low, high) = to.numpy.type, to.bounds
    modulus = 1 << to.bits

    def convert(value: Scalar) -> Scalar:
        number = int(value)
        return kind(number if low <= number <= high else (number - low) % modulus + low)

    return convert


def _checked(to: DType) -> Callable[[Scalar], Scalar]:
    kind, (low, high) = to.numpy.type, to.bounds

    def convert(value: Scalar) -> Scalar:
        number = int(value)
        if not low <= number <= high:
            raise OverflowError(f"Python integer {number} out of bounds for {to}")
        return kind(number)

    return convert


def _saturated(to: DType) -> Callable[[Scalar], Scalar]:
    kind, (low, high) = to.numpy.type, to.bounds

    def convert(value: Scalar) -> Scalar:
        number = float(value.real)
        if math.isnan(number):
            return kind(0)
        # Compared as float and int, which Python does exactly.
        return kind(low if number <= low else high if number >= high else int(number))

    return convert


# Conversions from Python


def is_number(value: object) -> bool:
    """True for Python's numbers, bool included, and for NumPy scalars."""
    return isinstance(value, bool | int | float | complex | np.generic)


def as_scalar(value: object) -> Scalar:
    """A Python number as the NumPy scalar it is computed in; a NumPy scalar is left alone."""
    if isinstance(value, _NUMPY_SCALAR):
        return value
    match value:
        case bool():
            return np.bool_(value)
        case int():
            return _int_scalar(value)
        case float():
            return np.float64(value)
        case complex():
            return np.complex128(value)
        case _:
            raise TypeError(f"expected a number, not {type(value).__name__}")


def _int_scalar(value: int) -> Scalar:
    if -(1 << 63) <= value < 1 << 63:
        return np.int64(value)
    if 0 <= value < 1 << 64:
        return np.uint64(value)
    raise OverflowError(f"Python integer {value} out of bounds for int64")


def dtype_of(scalar: Scalar) -> DType:
    """The type of a NumPy scalar; a TypeError for those that the IR does not know."""
    dtype = find_dtype(scalar.dtype)
    if dtype is None:
        raise TypeError(f"values of type {scalar.dtype} are not supported")
    return dtype
