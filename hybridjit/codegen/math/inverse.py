"""Inverse trigonometric and hyperbolic functions."""

from __future__ import annotations

import math

from hybridjit.codegen.math.coefficients import ASIN, ASINH, ATAN
from hybridjit.codegen.math.exponential import LN2_HIGH, LN2_LOW
from hybridjit.codegen.math.logarithm import log1p_rest, reduce_sum
from hybridjit.codegen.math.values import (
    Flag,
    Real,
    fma,
    mad,
    poly,
    quick_two_sum,
    two_sum,
    where,
)

HALF_PI = {32: float.fromhex("0x1.921fb6p+0"), 64: float.fromhex("0x1.921fb54442d18p+0")}
HALF_PI_LOW = {32: float.fromhex("-0x1.777a5cp-25"), 64: float.fromhex("0x1.1a62633145c07p-54")}


def _odd(t: Real, z: Real, table: dict[int, tuple[float, ...]]) -> Real:
    """t z P(z): what an odd function adds to t."""
    return poly(z, table[t.format.bits]) * z * t


# -- asin, acos ------------------------------------------------------------------------------------
#
# |x| <= 1/2: t + t z P(z) with t = |x|, z = t**2, degree 11 (float32), 27 (float64).
# Beyond: z = (1 - |x|) / 2, which is exact, t = sqrt(z), asin(|x|) = pi/2 - 2 asin(t).


def asin(x: Real) -> Real:
    bits = x.format.bits
    is_large, t, tail = _arcsine(abs(x))
    large = HALF_PI[bits] - (t + t - mad(tail, -2.0, HALF_PI_LOW[bits]))
    y = where(is_large, large, t + tail)
    return where(abs(x) <= 1.0, y.with_sign_of(x), math.nan)


def acos(x: Real) -> Real:
    """2 asin(t), pi - 2 asin(t), or pi/2 - asin(x)."""
    bits = x.format.bits
    is_large, t, tail = _arcsine(abs(x))
    small = HALF_PI[bits] - (t.with_sign_of(x) - (HALF_PI_LOW[bits] - tail.with_sign_of(x)))
    near_one = 2.0 * (t + tail)
    near_minus_one = 2.0 * HALF_PI[bits] - (near_one - 2.0 * HALF_PI_LOW[bits])
    large = where(x > 0.0, near_one, near_minus_one)
    return where(abs(x) <= 1.0, where(is_large, large, small), math.nan)


def _arcsine(x: Real) -> tuple[Flag, Real, Real]:
    """Of x >= 0: whether it is beyond 1/2, t, and asin(t) - t."""
    is_large = x > 0.5
    half = mad(x, -0.5, 0.5)
    z = where(is_large, half, x * x)
    t = where(is_large, half.sqrt(), x)
    return is_large, t, _odd(t, z, ASIN)


# -- atan ------------------------------------------------------------------------------------------


def atan(x: Real) -> Real:
    """|t| <= 1 with t = x or 1/x: degree 19 (float32), 41 (float64)."""
    magnitude = abs(x)
    is_large = magnitude > 1.0
    one = x.of(1.0)
    t = where(is_large, one, magnitude) / where(is_large, magnitude, one)
    return where(x.is_nan(), x, _arctangent(t, is_large).with_sign_of(x))


def _arctangent(t: Real, is_large: Flag) -> Real:
    """atan(t), or pi/2 - atan(t), of 0 <= t <= 1."""
    bits = t.format.bits
    tail = _odd(t, t * t, ATAN)
    large = HALF_PI[bits] - (t - (HALF_PI_LOW[bits] - tail))
    return where(is_large, large, t + tail)


def atan2(y: Real, x: Real) -> Real:
    """The angle of the point (x, y), by octants: t is the smaller over the larger."""
    bits = x.format.bits
    height, width = abs(y), abs(x)
    is_steep = height > width
    smaller, larger = where(is_steep, width, height), where(is_steep, height, width)
    # 0 / 0 is 0 and inf / inf is 1
    t = where(smaller.equals(larger), x.of(1.0), smaller / larger)
    t = where(smaller.equals(0.0), smaller, t)
    angle = _arctangent(t, is_steep)
    is_left = x.bits < 0
    reflected = 2.0 * HALF_PI[bits] - (angle - 2.0 * HALF_PI_LOW[bits])
    result = where(is_left, reflected, angle).with_sign_of(y)
    return where(x.is_nan() | y.is_nan(), x + y, result)


# -- asinh, acosh, atanh ---------------------------------------------------------------------------


def asinh(x: Real) -> Real:
    """|x| <= 1/2: degree 11 (float32), 25 (float64). Else log(|x| + sqrt(x**2 + 1))."""
    bits = x.format.bits
    magnitude = abs(x)
    z = x * x
    small = mad(z, poly(z, ASINH[bits]) * magnitude, magnitude)
    is_huge = magnitude > HUGE[bits]
    root = fma(magnitude, magnitude, 1.0).sqrt()
    total = quick_two_sum(root, magnitude)
    u = where(is_huge, magnitude, total.hi)
    y = _log(u, where(is_huge, x.of(0.0), total.lo), is_huge)
    y = where(magnitude < 0.5, small, y)
    return where(magnitude < math.inf, y, magnitude).with_sign_of(x)


HUGE = {32: 2.0**30, 64: 2.0**60}  # x**2 + 1 is x**2 from here on


def _log(u: Real, low: Real, is_huge: Flag) -> Real:
    """log(u + low), u >= 1, and ln2 more where is_huge."""
    k, f, low = reduce_sum(u, low)
    return _log_reduced(where(is_huge, k + 1.0, k), f, low)


def acosh(x: Real) -> Real:
    """log(1 + u), u = t + sqrt(t (t + 2)), t = x - 1, which is exact where it is small."""
    bits = x.format.bits
    is_huge = x > HUGE[bits]
    t = x - 1.0
    root = (t * (t + 2.0)).sqrt()
    u = two_sum(x.of(1.0), where(is_huge, t, t + root))
    y = _log(u.hi, u.lo, is_huge)
    return where(x >= 1.0, where(x < math.inf, y, x), math.nan)


def atanh(x: Real) -> Real:
    """log(1 + 2|x| / (1 - |x|)) / 2."""
    magnitude = abs(x)
    u = two_sum((magnitude + magnitude) / (1.0 - magnitude), x.of(1.0))
    y = 0.5 * _log_reduced(*reduce_sum(u.hi, u.lo))
    y = where(magnitude < 1.0, y, where(magnitude.equals(1.0), x.of(math.inf), math.nan))
    return y.with_sign_of(x)


def _log_reduced(k: Real, f: Real, low: Real) -> Real:
    """k ln2 + log(1 + f + low)."""
    bits = f.format.bits
    total = quick_two_sum(f, low)
    small = mad(k, LN2_LOW[bits], log1p_rest(total.hi) + total.lo)
    return mad(k, LN2_HIGH[bits], total.hi + small)
