"""Inverse trigonometric and hyperbolic functions."""

from __future__ import annotations

import math

from hybridjit.codegen.math.coefficients import ASIN, ASINH, ATAN, ATANH_SMALL
from hybridjit.codegen.math.exponential import LN2_HIGH, LN2_LOW
from hybridjit.codegen.math.logarithm import log1p_of_pair
from hybridjit.codegen.math.values import (
    Flag,
    Pair,
    Real,
    fma,
    mad,
    poly,
    quick_two_sum,
    two_product,
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
    is_large, t, t_low, tail = _arcsine(abs(x))
    large = HALF_PI[bits] - (t + t - (HALF_PI_LOW[bits] - 2.0 * (tail + t_low)))
    y = where(is_large, large, t + tail)
    return where(abs(x) <= 1.0, y.with_sign_of(x), math.nan)


def acos(x: Real) -> Real:
    """2 asin(t), pi - 2 asin(t), or pi/2 - asin(x)."""
    bits = x.format.bits
    is_large, t, t_low, tail = _arcsine(abs(x))
    small = HALF_PI[bits] - (t.with_sign_of(x) - (HALF_PI_LOW[bits] - tail.with_sign_of(x)))
    near_one = 2.0 * (t + (tail + t_low))
    near_minus_one = 2.0 * HALF_PI[bits] - (near_one - 2.0 * HALF_PI_LOW[bits])
    large = where(x > 0.0, near_one, near_minus_one)
    return where(abs(x) <= 1.0, where(is_large, large, small), math.nan)


def _arcsine(x: Real) -> tuple[Flag, Real, Real, Real]:
    """Of x >= 0: whether it is beyond 1/2; asin(t) as t, the rest of t, and the polynomial."""
    is_large = x > 0.5
    half = mad(x, -0.5, 0.5)
    z = where(is_large, half, x * x)
    root = half.sqrt()
    t = where(is_large, root, x)
    # sqrt(half) - root = (half - root**2) / (2 root), to first order
    t_low = fma(root, -root, half) / (root + root).at_least(x.format.tiny)
    return is_large, t, where(is_large, t_low, 0.0), _odd(t, z, ASIN)


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
    magnitude = abs(x)
    small = mad(x * x, poly(x * x, ASINH[x.format.bits]) * magnitude, magnitude)
    is_huge = magnitude > _HUGE[x.format.bits]
    clamped = magnitude.at_most(_HUGE[x.format.bits])
    square = two_product(clamped, clamped)
    root = _root(_plus(square, 1.0))
    total = two_sum(clamped, root.hi)
    argument = where(is_huge, magnitude, total.hi - 1.0)
    lost = where(is_huge, x.of(0.0), (total.hi - 1.0 - total.hi) + 1.0 + total.lo + root.lo)
    y = _log_twice(argument, lost, is_huge)
    y = where(magnitude < 0.5, small, y)
    return where(magnitude < math.inf, y, magnitude).with_sign_of(x)


_HUGE = {32: 2.0**30, 64: 2.0**60}  # x**2 + 1 is x**2 from here on


def _plus(a: Pair, b: float) -> Pair:
    total = two_sum(a.hi, a.hi.of(b))
    return Pair(total.hi, total.lo + a.lo)


def _root(x: Pair) -> Pair:
    """The square root of a positive number to nearly twice the precision."""
    root = x.hi.sqrt()
    rest = (fma(root, -root, x.hi) + x.lo) / (root + root)
    return Pair(root, rest)


def _log_twice(u: Real, low: Real, is_huge: Flag) -> Real:
    """log(1 + u + low), and ln2 more where is_huge."""
    bits = u.format.bits
    y = log1p_of_pair(u, low)
    return where(is_huge, y + (LN2_HIGH[bits] + LN2_LOW[bits]), y)


def acosh(x: Real) -> Real:
    """log(1 + u), u = (x - 1) + sqrt((x - 1) (x + 1))."""
    is_huge = x > _HUGE[x.format.bits]
    t = two_sum(x.at_most(_HUGE[x.format.bits]), x.of(-1.0))
    product = two_product(t.hi, t.hi)  # t**2 + 2 t
    square = _square_plus_double(product, t)
    root = _root(Pair(square.hi.at_least(x.format.tiny), square.lo))
    total = two_sum(t.hi, root.hi)
    u = where(is_huge, x, total.hi)
    y = _log_twice(u, where(is_huge, x.of(0.0), total.lo + root.lo + t.lo), is_huge)
    y = where(x.equals(1.0), x.of(0.0), y)
    return where(x >= 1.0, where(x < math.inf, y, x), math.nan)


def _square_plus_double(product: Pair, t: Pair) -> Pair:
    """t**2 + 2 t as a pair, from the exact square of the high part of t."""
    total = two_sum(product.hi, t.hi + t.hi)
    rest = total.lo + (product.lo + mad(t.hi, t.lo + t.lo, t.lo + t.lo))
    return quick_two_sum(total.hi, rest)


def atanh(x: Real) -> Real:
    """|x| <= 1/2: degree 13 (float32), 29 (float64). Else log(1 + 2|x| / (1 - |x|)) / 2."""
    magnitude = abs(x)
    z = x * x
    small = mad(z, poly(z, ATANH_SMALL[x.format.bits]) * magnitude, magnitude)
    double, rest = magnitude + magnitude, 1.0 - magnitude
    u = double / rest
    low = fma(u, -rest, double) / rest
    y = 0.5 * log1p_of_pair(u, low)
    y = where(magnitude < 0.5, small, y)
    y = where(magnitude.equals(1.0), x.of(math.inf), y)
    return where(magnitude <= 1.0, y.with_sign_of(x), math.nan)
