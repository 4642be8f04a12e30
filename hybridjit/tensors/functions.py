"""Functions on te expressions: those of the language, by the names that TVM gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hybridjit.scalars.functions import apply
from hybridjit.scalars.operators import select
from hybridjit.scalars.style import Style
from hybridjit.tensors.expression import Expression, as_condition, as_expression, as_scalar
from hybridjit.tensors.mixed_types import meet

Function = Callable[..., Expression]


def _function(name: str, ours: str | None = None) -> Function:
    def call(*args: Any) -> Expression:
        scalars = meet([as_scalar(arg) for arg in args])
        return Expression(apply(ours or name, Style.LANGUAGE, scalars, None))

    call.__name__ = name
    call.__doc__ = f"`{name}` of te expressions and numbers, as in a script."
    return call


exp = _function("exp")
exp2 = _function("exp2")
expm1 = _function("expm1")
log = _function("log")
log2 = _function("log2")
log10 = _function("log10")
log1p = _function("log1p")
sqrt = _function("sqrt")
rsqrt = _function("rsqrt")
sin = _function("sin")
cos = _function("cos")
tan = _function("tan")
asin = _function("asin")
acos = _function("acos")
atan = _function("atan")
atan2 = _function("atan2")
sinh = _function("sinh")
cosh = _function("cosh")
tanh = _function("tanh")
asinh = _function("asinh")
acosh = _function("acosh")
atanh = _function("atanh")
sigmoid = _function("sigmoid")
erf = _function("erf")
erfc = _function("erfc")
floor = _function("floor")
ceil = _function("ceil")
trunc = _function("trunc")
nearbyint = _function("nearbyint", "rint")
round = nearbyint  # halves to even, as NumPy's round
abs = _function("abs")
power = _function("power", "pow")
hypot = _function("hypot")
copysign = _function("copysign")
fmod = _function("fmod")
popcount = _function("popcount")
clz = _function("clz")
dot_bytes = _function("dot_bytes")
isnan = _function("isnan")
isinf = _function("isinf")
isfinite = _function("isfinite")


def add(x: Any, y: Any) -> Expression:
    """x + y."""
    return as_expression(x) + y


def subtract(x: Any, y: Any) -> Expression:
    """x - y."""
    return as_expression(x) - y


def multiply(x: Any, y: Any) -> Expression:
    """x * y."""
    return as_expression(x) * y


def div(x: Any, y: Any) -> Expression:
    """x / y: as in Python, a float also of integers."""
    return as_expression(x) / y


def floordiv(x: Any, y: Any) -> Expression:
    """x // y, rounded down."""
    return as_expression(x) // y


def floormod(x: Any, y: Any) -> Expression:
    """x % y, with the sign of y."""
    return as_expression(x) % y


indexdiv = floordiv
indexmod = floormod


def truncdiv(x: Any, y: Any) -> Expression:
    """x / y rounded towards zero, as in C."""
    a, b = as_expression(x), as_expression(y)
    if (a / b).dtype is (a // b).dtype:  # not integers
        return trunc(a / b)
    quotient = a // b
    is_rounded_up = ((a < 0) != (b < 0)) & (a % b != 0)
    return if_then_else(is_rounded_up, quotient + 1, quotient)


def truncmod(x: Any, y: Any) -> Expression:
    """The remainder of `truncdiv`, with the sign of x, as in C."""
    a, b = as_expression(x), as_expression(y)
    if (a / b).dtype is (a // b).dtype:
        return fmod(a, b)
    return a - truncdiv(a, b) * b


def if_then_else(cond: Any, then: Any, otherwise: Any) -> Expression:
    """`then` where `cond` holds, else `otherwise`; only the one that is chosen is computed."""
    chosen, other = meet([as_scalar(then), as_scalar(otherwise)])
    return Expression(select(as_condition(cond), chosen, other, None))
