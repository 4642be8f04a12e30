"""pow(x, y) = 2**(y log2(x)), with every special case of C99.

The product is as large as 1024, and its error in absolute terms is the relative error of the
result: in float64 the logarithm is computed to 68 bits. float32 is computed in float64.
"""

from __future__ import annotations

import math

from hybridjit.codegen.math.coefficients import ATANH, EXP2, LOG2_SHORT
from hybridjit.codegen.math.logarithm import split_exponent
from hybridjit.codegen.math.values import (
    F64,
    Bits,
    Pair,
    Real,
    fma,
    mad,
    poly,
    quick_two_sum,
    round_to_int,
    two_product,
    where,
)

TWO_OVER_LN2 = (float.fromhex("0x1.71547652b82fep+1"), float.fromhex("0x1.777d0ffda0d24p-55"))
THIRD = (float.fromhex("0x1.5555555555555p-2"), float.fromhex("0x1.5555555555555p-56"))
LN2 = float.fromhex("0x1.62e42fefa39efp-1")

# Exponents beyond which the result is infinite or zero; 1024.5 rounds to 1024.
LARGEST, SMALLEST = 1024.5, -1080.0


def power(x: Real, y: Real) -> Real:
    magnitude = _power_in_double(x, y) if x.format is not F64 else _power(abs(x), y)
    return _with_special_cases(x, y, magnitude)


def _with_special_cases(x: Real, y: Real, magnitude: Real) -> Real:
    """The sign of x**y, and where it is NaN or one."""
    is_integer = y.intrinsic("rint").equals(y)
    half = y * 0.5
    is_even = half.intrinsic("rint").equals(half)
    signed = where(is_integer & ~is_even, magnitude.with_sign_of(x), magnitude)
    is_undefined = (x < 0.0) & (x > -math.inf) & ~is_integer
    is_one = y.equals(0.0) | x.equals(1.0) | (x.equals(-1.0) & abs(y).equals(math.inf))
    return where(is_one, x.of(1.0), where(is_undefined, x.of(math.nan), signed))


def _power(x: Real, y: Real) -> Real:
    """x**y of x >= 0 in float64."""
    log = log2_pair(x)
    log_high = _where_regular(x, log.hi)
    exponent = y * log_high
    rest = mad(y, log.lo, fma(y, log_high, -exponent))
    rest = where(abs(exponent) < -SMALLEST, rest, 0.0)
    result = exp2_of_pair(Pair(exponent.at_most(LARGEST).at_least(SMALLEST), rest))
    return where(exponent.is_nan(), exponent, result)


def _where_regular(x: Real, log: Real) -> Real:
    """The logarithm of x >= 0; -inf at zero, inf at inf, NaN at NaN."""
    return where(x.is_positive_finite(), log, where(x.equals(0.0), x.of(-math.inf), x))


SHORT_LARGEST = 200.0  # float32 overflows at 128 and is zero at -150


def _power_in_double(x: Real, y: Real) -> Real:
    """|x|**y in float32: log2 to 38 bits by a polynomial of degree 14, 2**r by one of degree 6."""
    magnitude = abs(x).to(F64)
    n, m = split_exponent(magnitude)
    f = m - 1.0
    log = mad(f, poly(f, LOG2_SHORT[64]), n.to_real())
    exponent = y.to(F64) * _where_regular(magnitude, log)
    clamped = exponent.at_most(SHORT_LARGEST).at_least(-SHORT_LARGEST)
    k, n = round_to_int(clamped)
    r = clamped - k
    result = mad(r, poly(r, EXP2[32]), 1.0) * n.power_of_two()
    return where(exponent.is_nan(), exponent, result).to(x.format)


def log2_pair(x: Real) -> Pair:
    """log2 of a positive number to 68 bits.

    x = 2**n m, s = (m - 1) / (m + 1), log(m) = 2 (s + s z / 3 + s z**2 P(z)), z = s**2, with all
    but P in pairs; P is 2**-11 of the whole. Degree 19.
    """
    is_tiny = x < F64.tiny
    n, m = split_exponent(where(is_tiny, x * 2.0**54, x))
    n = where(is_tiny, n - 54, n)
    log_m = _half_log(m)
    scaled = multiply(log_m, Pair(x.of(TWO_OVER_LN2[0]), x.of(TWO_OVER_LN2[1])))
    total = quick_two_sum(n.to_real(), scaled.hi)
    return quick_two_sum(total.hi, total.lo + scaled.lo)


def _half_log(m: Real) -> Pair:
    f = m - 1.0
    divisor = quick_two_sum(m.of(2.0), f)
    inverse = 1.0 / divisor.hi
    ratio = f * inverse
    rest = fma(ratio, -divisor.lo, fma(ratio, -divisor.hi, f)) * inverse
    s = Pair(ratio, rest)
    z = multiply(s, s)
    inner = quick_two_sum(m.of(THIRD[0]), z.hi * poly(z.hi, ATANH[64]))
    tail = multiply(s, multiply(z, Pair(inner.hi, inner.lo + THIRD[1])))
    total = quick_two_sum(s.hi, tail.hi)
    return Pair(total.hi, total.lo + (s.lo + tail.lo))


def multiply(a: Pair, b: Pair) -> Pair:
    """a * b, not normalised: the low part may be a few ulp of the high part."""
    product = two_product(a.hi, b.hi)
    return Pair(product.hi, product.lo + mad(a.hi, b.lo, a.lo * b.hi))


def exp2_of_pair(x: Pair) -> Real:
    """2**x, for SMALLEST <= x <= LARGEST."""
    k, n = round_to_int(x.hi)
    r = quick_two_sum(x.hi - k, x.lo)
    small = mad(r.hi, poly(r.hi, EXP2[64]), r.lo * LN2)
    return scale(1.0 + small, n)


def scale(y: Real, n: Bits) -> Real:
    """y * 2**n for y in (1/2, 2) and n in [-1100, 1024], rounded once; overflows to infinity."""
    is_tiny = n < -1020
    exponent = where(is_tiny, n + 99, n - 1)
    moved = (y.bits + (exponent << y.format.mantissa)).real
    return moved * where(is_tiny, y.of(2.0**-99), 2.0)
