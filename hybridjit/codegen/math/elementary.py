"""Functions that are one instruction, or a few: rounding, signs, extrema, tests."""

from __future__ import annotations

import math

from hybridjit.codegen.math.values import Flag, Real, where
from hybridjit.codegen.module_features import orders_zeros


def sqrt(x: Real) -> Real:
    return x.sqrt()


def floor(x: Real) -> Real:
    return x.intrinsic("floor")


def ceil(x: Real) -> Real:
    return x.intrinsic("ceil")


def trunc(x: Real) -> Real:
    return x.intrinsic("trunc")


def rint(x: Real) -> Real:
    """Half to even."""
    return x.intrinsic("rint")


def absolute(x: Real) -> Real:
    return abs(x)


def copysign(x: Real, y: Real) -> Real:
    return x.with_sign_of(y)


def fma(x: Real, y: Real, z: Real) -> Real:
    return x.intrinsic("fma", y, z)


def sign(x: Real) -> Real:
    """-1, 0 or 1; +0.0 of both zeros, as NumPy's; NaN of NaN."""
    one = x.of(1.0)
    signed = where(x > 0.0, one, where(x < 0.0, -one, 0.0))
    return where(x.is_nan(), x, signed)


def signum(x: Real) -> Real:
    """As `sign`, but zeros keep theirs, as ml-dtypes has it."""
    return where(x.equals(0.0), x, sign(x))


def minimum(x: Real, y: Real) -> Real:
    """NumPy's: NaN wins, the first one; of 0.0 and -0.0 what the processor's instruction gives."""
    return x.intrinsic("minimum", y) if orders_zeros(x.scope.builder.module) else lesser(x, y)


def maximum(x: Real, y: Real) -> Real:
    return x.intrinsic("maximum", y) if orders_zeros(x.scope.builder.module) else greater(x, y)


def lesser(x: Real, y: Real) -> Real:
    """As `minimum`; of equal values the second."""
    return where((x < y) | x.is_nan(), x, y)


def greater(x: Real, y: Real) -> Real:
    return where((x > y) | x.is_nan(), x, y)


def isnan(x: Real) -> Flag:
    return x.is_nan()


def isinf(x: Real) -> Flag:
    return abs(x).equals(math.inf)


def isfinite(x: Real) -> Flag:
    return abs(x) < math.inf
