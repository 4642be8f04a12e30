"""rsqrt, cbrt, hypot."""

from __future__ import annotations

import math

from hybridjit.codegen.math import avx512
from hybridjit.codegen.math.avx512 import Operand, Response
from hybridjit.codegen.math.coefficients import CBRT
from hybridjit.codegen.math.values import (
    F32,
    F64,
    Real,
    fma,
    mad,
    poly,
    round_scaled,
    two_product,
    where,
)


def rsqrt(x: Real) -> Real:
    """1 / sqrt(x), with the errors of the root and of the quotient taken out to first order.

    Small arguments are made 2**64 larger: the error of their root would be lost.
    """
    is_tiny = x < x.format.tiny * 2.0**60
    scaled = where(is_tiny, x * 2.0**64, x)
    root = scaled.sqrt()
    y = 1.0 / root
    excess = (fma(root, -root, scaled) * y) * (y * -0.5)
    corrected = mad(y, fma(y, -root, 1.0) + excess, y)
    y = where(x.is_positive_finite(), corrected, y)
    return where(is_tiny, y * 2.0**32, y)


ITSELF = {operand: Response.OPERAND for operand in Operand if operand is not Operand.NEGATIVE}
CBRT_2, CBRT_HALF = float.fromhex("0x1.428a2f98d728bp+0"), float.fromhex("0x1.965fea53d6e3dp-1")


def cbrt(x: Real) -> Real:
    """x = 2**(3q + j) m, |j| <= 1: a polynomial, then one Halley step, which triples the digits."""
    if x.scope.fills_register(x.format):
        return _cbrt_avx512(x)
    format = x.format
    magnitude = abs(x)
    is_tiny = magnitude < format.tiny
    lift = 3 * ((format.precision + 2) // 3)
    bits = where(is_tiny, magnitude * 2.0**lift, magnitude).bits
    e = (bits.logical_shift(format.mantissa) - format.bias).to_real()
    q, n = round_scaled(e, 1.0 / 3.0)
    m = ((bits & ((1 << format.mantissa) - 1)) | bits.of_float(1.0)).real
    j = mad(q, -3.0, e)
    is_up, is_down = j > 0.5, j < -0.5
    factor = where(is_up, x.of(CBRT_2), where(is_down, x.of(CBRT_HALF), 1.0))
    target = m * where(is_up, x.of(2.0), where(is_down, x.of(0.5), 1.0))
    y = _cbrt_of(target, poly(m, CBRT[format.bits]) * factor)
    result = y * where(is_tiny, n - lift // 3, n).power_of_two()
    special = where(magnitude < math.inf, result, magnitude)
    return where(x.equals(0.0) | x.is_nan(), x, special.with_sign_of(x))


def _cbrt_avx512(x: Real) -> Real:
    e, m = avx512.exponent(x), avx512.mantissa(abs(x))
    q, _ = round_scaled(e, 1.0 / 3.0)
    j = mad(q, -3.0, e)
    # of j = 0, 1 and -1, which is the last one
    factors = [1.0, CBRT_2, *[1.0] * (x.scope.lanes - 3), CBRT_HALF]
    factor = avx512.look_up((j + x.format.shifter).bits, factors)
    y = _cbrt_of(avx512.scale(m, j), poly(m, CBRT[x.format.bits]) * factor)
    return avx512.mend(avx512.scale(y, q).with_sign_of(x), x, ITSELF)


def _cbrt_of(x: Real, y: Real) -> Real:
    """The cube root of x by one step from y."""
    square = two_product(y, y)
    difference = mad(square.lo, y, fma(square.hi, y, -x))
    return y - y * (difference / mad(square.hi, y + y, x))


def hypot(x: Real, y: Real) -> Real:
    """sqrt(x**2 + y**2). float32 in float64, where the squares are exact.

    float64: both scaled by a power of two; the squares in pairs; the root corrected once.
    """
    a, b = abs(x), abs(y)
    magnitude = _hypot_double(a, b) if x.format is F64 else _hypot_single(a, b)
    is_infinite = a.equals(math.inf) | b.equals(math.inf)
    return where(is_infinite, x.of(math.inf), magnitude)


def _hypot_single(a: Real, b: Real) -> Real:
    wide, other = a.to(F64), b.to(F64)
    return mad(wide, wide, other * other).sqrt().to(F32)


def _hypot_double(a: Real, b: Real) -> Real:
    larger, smaller = where(a > b, a, b), where(a > b, b, a)
    larger = where(a.is_nan(), a, larger)
    # 2**-600 or 2**600 or 1, so that the squares neither overflow nor vanish
    is_big, is_small = larger > 2.0**500, larger < 2.0**-400
    down = where(is_big, a.of(2.0**-600), where(is_small, a.of(2.0**600), 1.0))
    up = where(is_big, a.of(2.0**600), where(is_small, a.of(2.0**-600), 1.0))
    p, q = larger * down, smaller * down
    square, other = two_product(p, p), two_product(q, q)
    total = square.hi + other.hi
    rest = (other.hi - (total - square.hi)) + (square.lo + other.lo)
    root = total.sqrt()
    correction = (fma(root, -root, total) + rest) / (root + root)
    corrected = root + where(root > 0.0, correction, 0.0)
    return corrected * up
