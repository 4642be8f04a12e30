"""Conversions that the source asks for: `float32(x)`, `int(x)`, `complex(x, y)`, `x.item()`."""

from __future__ import annotations

import ast

from hybridjit.frontend.builder import Builder
from hybridjit.frontend.call_arguments import arguments, number_arguments
from hybridjit.frontend.values import Value
from hybridjit.ir.dtype import (
    BOOL,
    FLOAT64,
    INT64,
    UINT64,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
    ScalarType,
)
from hybridjit.ir.expr import Call, Cast, Const, Expr
from hybridjit.scalars.conversion import convert
from hybridjit.scalars.scalar import Scalar


def cast_to(build: Builder, dtype: DType, node: ast.Call) -> Value:
    """`float32(x)`: a value of exactly that type; `complex64(x, y)` from its parts."""
    if dtype.is_complex and len(node.args) == 2:
        return _complex(build, node, ScalarType(dtype))
    args = arguments(build, node, "value", "checked", required=1)
    (value,) = build.as_operands([build.evaluate(args["value"])], [args["value"]], node)
    span = build.span(node)
    if "checked" not in args or isinstance(value.expr, Const):
        return Scalar(converted(build, value, dtype, node), ScalarType(dtype))
    checked = build.scalar(args["checked"]).constant
    if not isinstance(checked, bool):
        raise build.mismatch(
            "checked= must be known when the script is compiled",
            args["checked"],
            help="write checked=True or checked=False",
        )
    if value.expr.dtype is dtype:
        return Scalar(value.expr, ScalarType(dtype))
    return Scalar(Cast(dtype, value.expr, checked=checked, span=span), ScalarType(dtype))


def converted(build: Builder, value: Scalar, dtype: DType, node: ast.Call) -> Expr:
    """`value` as `dtype`; a complex value has no place in a real type."""
    if value.type.dtype.is_complex and not (dtype.is_complex or dtype.is_bool):
        raise build.mismatch(
            f"{dtype}(...) of a complex value would lose its imaginary part",
            node,
            help="take the part you need: x.real, x.imag or abs(x)",
        )
    return convert(value, dtype, build.span(node))


def python_cast(build: Builder, type: ScalarType, node: ast.Call) -> Value:
    """`float(x)`, `int(x)`, `bool(x)` or `complex(x)`: a Python number."""
    span = build.span(node)
    if type == WEAK_COMPLEX and len(node.args) == 2:
        return _complex(build, node, type)
    (value,) = number_arguments(build, node, 1) if not _is_text(node) else (_parsed(build, node),)
    if type == WEAK_BOOL:
        return Scalar(convert(value, BOOL, span), type)
    if type == WEAK_INT and value.type.dtype is UINT64 and value.constant is None:
        return Scalar(Cast(INT64, value.expr, checked=True, span=span), type)
    if type == WEAK_INT and isinstance(value.constant, int):
        return Scalar(Const(int(value.constant), INT64, span=span), type)
    return Scalar(converted(build, value, type.dtype, node), type)


def _is_text(node: ast.Call) -> bool:
    match node.args:
        case [ast.Constant(value=str())]:
            return True
        case _:
            return False


def _parsed(build: Builder, node: ast.Call) -> Scalar:
    """`float("inf")`: the only numbers that Python has no literal for."""
    match node.args:
        case [ast.Constant(value="inf" | "-inf" | "nan" | "infinity" as text)]:
            return Scalar(Const(float(text), FLOAT64, span=build.span(node)), WEAK_FLOAT)
        case _:
            raise build.refuse(
                "numbers cannot be read from strings inside a script",
                node,
                help="write the number itself, or convert the string outside the script",
            )


def _complex(build: Builder, node: ast.Call, type: ScalarType) -> Value:
    span = build.span(node)
    parts = [convert(part, type.dtype.component, span) for part in number_arguments(build, node, 2)]
    if isinstance(parts[0], Const) and isinstance(parts[1], Const):
        value = complex(float(parts[0].value.real), float(parts[1].value.real))
        return Scalar(Const(value, type.dtype, span=span), type)
    return Scalar(Call("complex", (parts[0], parts[1]), span=span), type)


def as_python(build: Builder, value: Scalar, node: ast.Call) -> Scalar:
    """`x.item()`: the Python number that a value is."""
    dtype = value.type.dtype
    if dtype is BOOL:
        return Scalar(value.expr, WEAK_BOOL)
    weak = WEAK_INT if dtype.is_integer else WEAK_FLOAT if dtype.is_float else WEAK_COMPLEX
    return Scalar(convert(value, weak.dtype, build.span(node)), weak)
