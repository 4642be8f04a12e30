"""How a scalar becomes a value of another type: the explicit `Cast`s of the IR are made here."""

from __future__ import annotations

from collections.abc import Sequence

from hybridjit.errors import Span, TypeMismatch
from hybridjit.interp.scalars import cast
from hybridjit.ir.dtype import BOOL, INT64, WEAK_BOOL, WEAK_INT, DType, ScalarType, join
from hybridjit.ir.expr import Cast, Const, Expr, Ne, const
from hybridjit.scalars.scalar import Scalar

# An integer of this many bits is within float64.
FLOAT64_BITS = 1023


def convert(value: Scalar, dtype: DType, span: Span | None) -> Expr:
    """`value` as an expression of type `dtype`. A Python int that cannot fit is refused."""
    if isinstance(value.expr, Const):
        return _convert_constant(value.expr, value.type.weak, dtype, span)
    if value.expr.dtype is dtype:
        return value.expr
    return Cast(dtype, value.expr, checked=_needs_check(value.type, dtype), span=span)


def _needs_check(source: ScalarType, dtype: DType) -> bool:
    return source == WEAK_INT and dtype.is_integer


def _convert_constant(value: Const, weak: bool, dtype: DType, span: Span | None) -> Const:
    number = value.value
    if weak and value.of is INT64 and dtype.is_integer:
        low, high = dtype.bounds
        if not low <= int(number.real) <= high:
            raise TypeMismatch(
                f"the Python integer {number} does not fit in {dtype} ({low} to {high})",
                value.span or span,
                help=_range_help(int(number.real), dtype),
            )
        return Const(number, dtype, span=span)
    if value.of is dtype:
        return value
    if value.of.is_integer and not dtype.is_integer:
        return _convert_integer(int(number.real), dtype, span)
    source = value.of.numpy.type(number)
    return const(cast(source, dtype).item(), dtype)


def _convert_integer(number: int, dtype: DType, span: Span | None) -> Const:
    """A Python int, which may be wider than int64, converted exactly."""
    try:
        return const(number, dtype)
    except OverflowError:
        raise TypeMismatch(
            f"a Python integer of {number.bit_length()} bits is too large for {dtype}", span
        ) from None


def _range_help(number: int, dtype: DType) -> str:
    if number.bit_length() > FLOAT64_BITS:
        return "no type of the language holds a number this large"
    low, high = INT64.bounds
    if not low <= number <= high:
        return f"a number this large must be a float, as in {float(number)!r}"
    return (
        f"to compute in a wider type, convert the other operand with int64(...); "
        f"to wrap around, write {dtype}(int64({number}))"
    )


def store_value(value: Scalar, dtype: DType, span: Span | None) -> Expr:
    """`value` converted to what an element or variable of type `dtype` holds, as NumPy assigns."""
    if value.type.dtype.is_complex and not (dtype.is_complex or dtype.is_bool):
        raise TypeMismatch(
            f"cannot store a {value.type.dtype} value in {dtype}: it would lose its imaginary part",
            span,
            help="take the part you need: x.real, x.imag or abs(x)",
        )
    return convert(value, dtype, span)


def truth(value: Scalar, span: Span | None) -> Expr:
    """`value` as a condition: itself if it is a bool, otherwise whether it is not zero."""
    if isinstance(value.expr, Const):
        return Const(bool(value.expr.value), BOOL, span=span)
    if value.expr.dtype is BOOL:
        return value.expr
    return Ne(value.expr, const(0, value.expr.dtype), span=span)


def join_types(a: ScalarType, b: ScalarType, span: Span | None) -> ScalarType:
    """The type in which two values meet; refused where NumPy has none."""
    joined = join(a, b)
    if joined is None:
        raise TypeMismatch(
            f"{a} and {b} have no common type in NumPy",
            span,
            help=f"convert one of them, as in {b.dtype}(x) or float32(x)",
        )
    return joined


def as_numbers(values: Sequence[Scalar]) -> list[Scalar]:
    """Python bools read as ints, unless they meet a NumPy bool, to which they are bools."""
    if any(value.type == ScalarType(BOOL) for value in values):
        return list(values)
    return [as_number(value) for value in values]


def as_number(value: Scalar) -> Scalar:
    """`value` with a Python bool read as the int it is in arithmetic."""
    if value.type != WEAK_BOOL:
        return value
    return Scalar(convert(value, INT64, value.expr.span), WEAK_INT)
