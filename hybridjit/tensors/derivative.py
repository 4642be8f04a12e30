"""Derivatives of expressions: by one element of a tensor that they read.

Where a function has none, what JAX and PyTorch choose is chosen:

- abs has slope 0 at 0; steps (floor, sign, `//`, comparisons) have slope 0 everywhere.
- Of min and max of two equal numbers, each counts one half; so max(x, 0) has slope 0.5 at 0. Of
  equal extrema in a reduction, all count the same.
- x ** 0 has slope 0, at 0, too. By its exponent, 0 ** y has slope 0, and -inf where y < 0, as in
  PyTorch; a negative base gives NaN.
- sqrt, cbrt, log at 0, asin, acosh at 1: the limit, which is infinite.
- `x % y` has the slope of x, and by y that of -(x // y) * y.
- hypot has slope 0 at (0, 0); copysign has slope 0 where its first argument is 0, as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from hybridjit.errors import ArgumentError
from hybridjit.ir.dtype import ScalarType
from hybridjit.ir.expr import (
    Add,
    Call,
    Cast,
    Const,
    Div,
    Expr,
    FloorDiv,
    Gt,
    Load,
    Lt,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Pow,
    Select,
    Sub,
)
from hybridjit.ir.printer import format_expr
from hybridjit.ir.visit import walk
from hybridjit.scalars.scalar import Scalar
from hybridjit.tensors import functions as te
from hybridjit.tensors.expression import Expression, condition

Derivative = Expression | None
"""None is zero."""


def typed(expr: Expr) -> Expression:
    """`expr` as a typed value."""
    return Expression(Scalar(expr, ScalarType(expr.dtype)))


# The derivative of each function of one argument, by its argument and its value.
_Rule = Callable[[Expression, Expression], Expression]
_RULES: dict[str, _Rule] = {
    "exp": lambda x, y: y,
    "exp2": lambda x, y: y * math.log(2),
    "expm1": lambda x, y: y + 1,
    "log": lambda x, y: 1 / x,
    "log2": lambda x, y: 1 / (x * math.log(2)),
    "log10": lambda x, y: 1 / (x * math.log(10)),
    "log1p": lambda x, y: 1 / (1 + x),
    "sqrt": lambda x, y: 0.5 / y,
    "rsqrt": lambda x, y: -0.5 * y * y * y,
    "cbrt": lambda x, y: 1 / (3 * y * y),
    "sin": lambda x, y: te.cos(x),
    "cos": lambda x, y: -te.sin(x),
    "tan": lambda x, y: 1 + y * y,
    "asin": lambda x, y: te.rsqrt(1 - x * x),
    "acos": lambda x, y: -te.rsqrt(1 - x * x),
    "atan": lambda x, y: 1 / (1 + x * x),
    "sinh": lambda x, y: te.cosh(x),
    "cosh": lambda x, y: te.sinh(x),
    "tanh": lambda x, y: 1 - y * y,
    "asinh": lambda x, y: te.rsqrt(x * x + 1),
    "acosh": lambda x, y: te.rsqrt(x * x - 1),
    "atanh": lambda x, y: 1 / (1 - x * x),
    "sigmoid": lambda x, y: y * (1 - y),
    "erf": lambda x, y: te.exp(-x * x) * (2 / math.sqrt(math.pi)),
    "erfc": lambda x, y: te.exp(-x * x) * (-2 / math.sqrt(math.pi)),
    "abs": lambda x, y: _sign(x),
}
# The derivatives of each function of two arguments by both, by its arguments and its value.
_RULES_OF_TWO: dict[
    str, Callable[[Expression, Expression, Expression], tuple[Derivative, Derivative]]
] = {
    "hypot": lambda x, y, z: (_share(x, z), _share(y, z)),
    "atan2": lambda y, x, z: (x / (x * x + y * y), -y / (x * x + y * y)),
    "copysign": lambda x, y, z: (_sign(x) * te.copysign(typed(Const(1.0, y.dtype)), y), None),
    "fmod": lambda x, y, z: (typed(Const(1.0, x.dtype)), -te.trunc(x / y)),
}
_STEPS = ("floor", "ceil", "trunc", "rint", "sign")  # constant but for the jumps


def derivative(expr: Expr, element: Load) -> Derivative:
    """The derivative of `expr` by the element of a tensor that `element` reads."""
    if expr == element:
        return typed(Const(1.0, expr.dtype))
    if not expr.dtype.is_float or not any(node == element for node in walk(expr)):
        return None
    match expr:
        case Add() | Sub() | Neg() | Mul() | Div():
            return _of_arithmetic(expr, element)
        case Select(cond, then, otherwise):
            return _of_choice(condition(cond), then, otherwise, element)
        case Min(a, b) | Call("minimum", (a, b)):
            return _of_extremum(condition(Lt(b, a)), a, b, element)
        case Max(a, b) | Call("maximum", (a, b)):
            return _of_extremum(condition(Gt(b, a)), a, b, element)
        case Load():
            return None  # the element stands in an index, which is constant but for the jumps
        case Cast(_, value):
            inner = derivative(value, element)
            return None if inner is None else inner.astype(expr.dtype)
        case _:
            return _of_function(expr, element)


def _of_arithmetic(expr: Expr, element: Load) -> Derivative:
    match expr:
        case Add(a, b):
            return _sum(derivative(a, element), derivative(b, element))
        case Sub(a, b):
            return _sum(derivative(a, element), _negative(derivative(b, element)))
        case Mul(a, b):
            first = _times(derivative(a, element), typed(b))
            return _sum(first, _times(derivative(b, element), typed(a)))
        case Div(a, b):
            first = _times(derivative(a, element), 1 / typed(b))
            down = -typed(expr) / typed(b)  # a / (b * b) leaves the range sooner
            return _sum(first, _times(derivative(b, element), down))
        case Neg(a):
            return _negative(derivative(a, element))
        case _:
            raise NotImplementedError(type(expr).__name__)


def _of_function(expr: Expr, element: Load) -> Derivative:
    match expr:
        case Pow(a, b):
            return _of_power(expr, a, b, element)
        case Mod(a, b):
            down = _times(derivative(b, element), -(typed(a) // typed(b)))
            return _sum(derivative(a, element), down)
        case FloorDiv():
            return None  # a step
        case Call(name, (x,)) if name in _RULES:
            return _times(derivative(x, element), _RULES[name](typed(x), typed(expr)))
        case Call(name, (_,)) if name in _STEPS:
            return None
        case Call(name, (x, y)) if name in _RULES_OF_TWO:
            slopes = _RULES_OF_TWO[name](typed(x), typed(y), typed(expr))
            return _sum(*map(_chained, (x, y), slopes, (element, element)))
        case Call("fma", (a, b, c)):
            return derivative(Add(Mul(a, b), c), element)
        case _:
            raise ArgumentError(f"te.gradient has no derivative of {format_expr(expr)}")


def _chained(arg: Expr, slope: Derivative, element: Load) -> Derivative:
    """What an argument gives to the derivative of a function that has this slope there."""
    return None if slope is None else _times(derivative(arg, element), slope)


def _sign(x: Expression) -> Expression:
    return typed(Call("sign", (x.expr,)))


def _share(side: Expression, length: Expression) -> Expression:
    """A side of a right triangle by its longest one; none of a point."""
    return te.if_then_else(length == 0, typed(Const(0.0, side.dtype)), side / length)


def _of_power(expr: Expr, a: Expr, b: Expr, element: Load) -> Derivative:
    by_base, by_exponent = derivative(a, element), derivative(b, element)
    base, exponent = typed(a), typed(b)
    zero = typed(Const(0.0, expr.dtype))
    slope = te.if_then_else(exponent == 0, zero, exponent * base ** (exponent - 1))
    growth = te.if_then_else((base == 0) & (exponent >= 0), zero, typed(expr) * te.log(base))
    return _sum(_times(by_base, slope), _times(by_exponent, growth))


def _of_extremum(is_second: Expression, a: Expr, b: Expr, element: Load) -> Derivative:
    """The slope of the one that is chosen; of equal ones, the mean."""
    first, second = derivative(a, element), derivative(b, element)
    mean = _times(_sum(first, second), typed(Const(0.5, a.dtype)))
    if mean is None:
        return None
    zero = typed(Const(0.0, a.dtype))
    first, second = (zero if side is None else side for side in (first, second))
    one = te.if_then_else(is_second, second, first)
    return te.if_then_else(typed(a) == typed(b), mean, one)


def _of_choice(cond: Expression, then: Expr, otherwise: Expr, element: Load) -> Derivative:
    sides = derivative(then, element), derivative(otherwise, element)
    if all(side is None for side in sides):
        return None
    zero = typed(Const(0.0, then.dtype))
    first, second = (zero if side is None else side for side in sides)
    return te.if_then_else(cond, first, second)


def _sum(a: Derivative, b: Derivative) -> Derivative:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _negative(a: Derivative) -> Derivative:
    return None if a is None else -a


def _times(a: Derivative, factor: Expression) -> Derivative:
    if a is None:
        return None
    is_one = isinstance(a.expr, Const) and a.expr.value == 1
    return factor if is_one else a * factor
