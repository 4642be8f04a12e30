"""The functions of the language on scalars: how arguments are converted and results typed."""

from __future__ import annotations

import ast

import numpy as np

from hybridjit.arith.fold import wrap
from hybridjit.errors import Span, TypeMismatch
from hybridjit.ir.dtype import (
    BOOL,
    FLOAT64,
    INT8,
    INT64,
    UINT8,
    WEAK_BOOL,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
    ScalarType,
    find_dtype,
)
from hybridjit.ir.expr import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
    Call,
    Cast,
    Const,
    Div,
    Eq,
    Expr,
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
    Pow,
    Select,
    ShiftLeft,
    ShiftRight,
    Sub,
)
from hybridjit.ir.intrinsics import INTRINSICS, Domain, Intrinsic, OneType
from hybridjit.scalars.comparisons import compare, extremum
from hybridjit.scalars.conversion import as_number, as_numbers, convert, join_types, truth
from hybridjit.scalars.operators import binary, logical_not, reciprocal, select, unary
from hybridjit.scalars.scalar import Scalar
from hybridjit.scalars.style import Style

_FROM_NUMPY = {
    **{"+": Add, "-": Sub, "*": Mul, "/": Div, "//": FloorDiv, "%": Mod, "pow": Pow},
    **{"&": BitAnd, "|": BitOr, "^": BitXor, "<<": ShiftLeft, ">>": ShiftRight},
}
_COMPARISONS = {"==": Eq, "!=": Ne, "<": Lt, "<=": Le, ">": Gt, ">=": Ge}
_OF_ONE = (
    "floor",
    "ceil",
    "trunc",
    "round",
    "fabs",
    "bitwise_count",
    "square",
    "complex_inverse",
    "conj",
)
_SIGNS: dict[str, ast.unaryop] = {
    "negative": ast.USub(),
    "positive": ast.UAdd(),
    "invert": ast.Invert(),
}
_LOGICAL = {"logical_and": BitAnd, "logical_or": BitOr, "logical_xor": BitXor}
_FUNCTION_ARITY = {name: 1 for name in (*_OF_ONE, *_SIGNS, "logical_not")} | {
    "clip": 3,
    "select": 3,
}
# np.clip with one bound: the function that it is then, and the end of a type that the bound is at.
_ONE_BOUND = {"clip_low": ("maximum", 0), "clip_high": ("minimum", 1)}
# Functions that are found by these names before any intrinsic is.
NAMES_WITH_RULES = frozenset((*_FUNCTION_ARITY, *_LOGICAL, *_ONE_BOUND, "as_float"))
_EXTREMA = {Min: "minimum", Max: "maximum"}
_BOOL_LATTICE = {"minimum": BitAnd, "maximum": BitOr}
_FABS = Intrinsic("abs", Domain.FLOAT)
# math.floor(x) is an int; floor(x) is a float, and so is np.floor(x) of a float.
_TO_INTEGER = ("floor", "ceil", "trunc")


def arity_of(name: str) -> int:
    """How many arguments the function takes."""
    if name in INTRINSICS:
        return INTRINSICS[name].arity
    return _FUNCTION_ARITY.get(name, 2)


def apply(name: str, style: Style, args: list[Scalar], span: Span | None) -> Scalar:
    """The function `name`, as hybridjit, numpy or math define it, applied to scalars."""
    match style:
        case Style.LANGUAGE:
            return _language(name, args, span)
        case Style.NUMPY:
            return _numpy(name, args, span)
        case Style.MATH:
            return _math(name, args, span)


def _language(name: str, args: list[Scalar], span: Span | None) -> Scalar:
    if name in _FROM_NUMPY:
        return binary(_FROM_NUMPY[name], args[0], args[1], span)
    if name in _COMPARISONS:
        return compare(_COMPARISONS[name], args[0], args[1], span)
    if name in _LOGICAL:
        sides = [Scalar(truth(arg, span), ScalarType(BOOL)) for arg in args]
        return binary(_LOGICAL[name], sides[0], sides[1], span)
    return _special(name, args, span)


def _special(name: str, args: list[Scalar], span: Span | None) -> Scalar:
    """Functions with a rule of their own, and the intrinsics."""
    match name:
        case "negative" | "positive" | "invert":
            return unary(_SIGNS[name], args[0], span)
        case "square":
            return binary(Mul, args[0], args[0], span)
        case "complex_inverse":
            return reciprocal(args[0], span)
        case "as_float":
            type = _meeting_type(INTRINSICS["exp"], as_numbers(args), span)
            return Scalar(convert(args[0], type.dtype, span), type)
        case "logical_not":
            return logical_not(args[0], span)
        case "select":
            return select(truth(args[0], span), args[1], args[2], span)
        case "clip":
            low, high = (_reachable(args[0], args[1 + side], side, span) for side in (0, 1))
            return _clipped(Min, _clipped(Max, args[0], low, span), high, span)
        case "real" | "imag" | "conj" if not args[0].type.dtype.is_complex:
            return args[0] if name != "imag" else _no_imaginary_part(args[0], span)
        case _:
            return intrinsic(INTRINSICS[name], args, span)


def _no_imaginary_part(x: Scalar, span: Span | None) -> Scalar:
    """Zero, also for NaN and infinities; computing `x` may fail all the same."""
    if not x.type.dtype.is_float:
        number = as_number(x) if x.type.weak else x  # True.imag is 0, np.True_.imag is np.False_
        return binary(BitXor, number, number, span)
    never = BitAnd(Eq(x.expr, x.expr, span=span), Ne(x.expr, x.expr, span=span), span=span)
    return Scalar(Cast(x.type.dtype, never, span=span), x.type)


def _reachable(x: Scalar, bound: Scalar, side: int, span: Span | None) -> Scalar:
    """A bound of np.clip: a Python int past the end of an integer type is that end.

    Elsewhere NumPy refuses a Python int that does not fit; clipping it only ignores.
    """
    if bound.type != WEAK_INT or not x.type.dtype.is_integer:
        return bound
    end = x.type.dtype.bounds[side]
    if bound.constant is not None:
        inner = (max, min)[side](int(bound.constant), end)
        return Scalar(Const(inner, span=bound.expr.span), WEAK_INT)
    if end in INT64.bounds or end > INT64.bounds[1]:
        return bound
    name = ("maximum", "minimum")[side]
    return intrinsic(INTRINSICS[name], [bound, Scalar(Const(end), WEAK_INT)], span)


def _clipped(op: type[Min] | type[Max], x: Scalar, bound: Scalar, span: Span | None) -> Scalar:
    """`x`, or the bound that it is beyond: `x` if they are equal, of which zeros differ.

    So np.clip has it with numbers as bounds; np.minimum takes either zero, as the processor does.
    """
    function, numbers = INTRINSICS[_EXTREMA[op]], as_numbers([x, bound])
    type = _meeting_type(function, numbers, span)
    if not type.dtype.is_float:
        return intrinsic(function, numbers, span)
    value, limit = (convert(number, type.dtype, span) for number in numbers)
    kept: Expr = op(value, limit, span=span)
    if not isinstance(limit, Const) or limit.value != limit.value:  # NaN wins, also as a bound
        kept = Select(Ne(limit, limit, span=span), limit, kept, span=span)
    return Scalar(kept, type)


def _numpy(name: str, args: list[Scalar], span: Span | None) -> Scalar:
    """A function of NumPy: its result is a NumPy scalar."""
    if name in ("real", "imag"):  # not ufuncs: np.real(2.5) is 2.5
        return _language(name, args, span)
    args = _as_numpy_takes(args)
    if name in _ONE_BOUND:
        name, side = _ONE_BOUND[name]
        args = [args[0], _reachable(args[0], args[1], side, span)]
    if name in _OF_ONE:
        return _numpy_of_one(name, args[0], span)
    if name in _BOOL_LATTICE and all(arg.type.dtype is BOOL for arg in args):
        return binary(_BOOL_LATTICE[name], args[0], args[1], span)
    if name == "clip":
        args = [_typed(args[0]), *args[1:]]  # np.clip makes an array of what it clips
    return _typed(_language(name, args, span))


def _as_numpy_takes(args: list[Scalar]) -> list[Scalar]:
    """To a ufunc, a Python bool is a NumPy bool, and Python numbers alone are NumPy scalars."""
    args = [arg if arg.type != WEAK_BOOL else _typed(arg) for arg in args]
    return [_typed(arg) for arg in args] if all(arg.type.weak for arg in args) else args


def _numpy_of_one(name: str, arg: Scalar, span: Span | None) -> Scalar:
    """Functions that NumPy types in its own way on bools and integers."""
    dtype = arg.type.dtype
    match name:
        case "floor" | "ceil" | "trunc" if not dtype.is_inexact:
            return arg
        case "round":
            return arg if dtype.is_integer else intrinsic(INTRINSICS["rint"], [arg], span)
        case "fabs":
            type = arg.type if dtype.is_inexact else _float_for(arg.type)
            return intrinsic(_FABS, [Scalar(convert(arg, type.dtype, span), type)], span)
        case "bitwise_count":
            magnitude = intrinsic(INTRINSICS["abs"], [arg], span)  # NumPy counts the bits of |x|
            count = intrinsic(INTRINSICS["popcount"], [magnitude], span)
            return Scalar(convert(count, UINT8, span), ScalarType(UINT8))
        case "square" | "conj" if dtype is BOOL:
            return Scalar(convert(arg, INT8, span), ScalarType(INT8))
        case _:
            return _language(name, [arg], span)


def _typed(value: Scalar) -> Scalar:
    return Scalar(value.expr, ScalarType(value.type.dtype))


def _math(name: str, args: list[Scalar], span: Span | None) -> Scalar:
    """A function of the math module: on Python floats, whatever it is given."""
    for arg in args:
        if arg.type.dtype.is_complex:
            raise TypeMismatch(
                f"math.{name} takes real numbers, found {arg.type}",
                span,
                help=f"call np.{name}, or take x.real, x.imag or abs(x)",
            )
    doubles = [Scalar(convert(as_number(arg), FLOAT64, span), WEAK_FLOAT) for arg in args]
    if name == "pow":
        return binary(Pow, doubles[0], doubles[1], span)
    result = intrinsic(INTRINSICS[name], doubles, span)
    if name in _TO_INTEGER:
        return Scalar(Cast(INT64, result.expr, span=span), WEAK_INT)
    return result


def intrinsic(function: Intrinsic, args: list[Scalar], span: Span | None) -> Scalar:
    """An intrinsic applied to scalars, converted to the type in which they meet."""
    args = as_numbers(args)
    type = _meeting_type(function, args, span)
    if function.name == "abs" and type.dtype is BOOL:
        return args[0]
    if not function.domain.accepts(type.dtype):
        raise TypeMismatch(
            f"{function.name} takes {function.domain.value} values, found {type.dtype}",
            span,
            help=_conversion_help(function, type.dtype),
        )
    exprs = tuple(convert(arg, type.dtype, span) for arg in args)
    if function.name == "abs" and isinstance(exprs[0], Const) and type.dtype.is_integer:
        magnitude = abs(exprs[0].value)
        folded = magnitude if type.weak else wrap(int(magnitude), type.dtype)
        return Scalar(Const(folded, type.dtype, span=span), type)
    result = function.result_dtype(type.dtype)
    weak = type.weak
    return Scalar(Call(function.name, exprs, span=span), ScalarType(result, weak))


def _conversion_help(function: Intrinsic, found: DType) -> str | None:
    if isinstance(function.domain, OneType):
        return f"convert it with {function.domain.dtype}(x) first"
    return "convert it with int64(x) first" if found.is_float else None


def _meeting_type(function: Intrinsic, args: list[Scalar], span: Span | None) -> ScalarType:
    types = [arg.type for arg in args]
    of_floats = function.domain in (Domain.FLOAT, Domain.INEXACT)
    if of_floats and not any(type.weak for type in types):
        # As a ufunc finds its loop, each for itself: int8 and uint8 both fit float16.
        types = [type if type.dtype.is_inexact else _float_for(type) for type in types]
    # Weak types come last, as in NumPy: 2.5, an int8 and a float32 meet in float32.
    type, *others = sorted(types, key=lambda type: type.weak)
    for other in others:
        type = join_types(type, other, span)
    return _float_for(type) if of_floats and not type.dtype.is_inexact else type


def _float_for(type: ScalarType) -> ScalarType:
    """The float type in which NumPy computes a function of an integer: int8 -> float16."""
    if type.weak:
        return WEAK_FLOAT
    dtype: DType | None = find_dtype(np.result_type(type.dtype.numpy, np.float16))
    assert dtype is not None
    return ScalarType(dtype)


def nearest_integer(value: Scalar, span: Span | None) -> Scalar:
    """Python's round(x): an int, halves to even."""
    if not value.type.dtype.is_inexact:
        return Scalar(convert(as_number(value), INT64, span), WEAK_INT)
    rounded = intrinsic(INTRINSICS["rint"], [value], span)
    return Scalar(Cast(INT64, rounded.expr, span=span), WEAK_INT)


def minimum_of(values: list[Scalar], op: type[Min] | type[Max], span: Span | None) -> Scalar:
    """Python's min or max of several values."""
    result = values[0]
    for value in values[1:]:
        result = extremum(op, result, value, span)
    return result
