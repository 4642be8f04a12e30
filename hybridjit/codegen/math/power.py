"""pow(x, y) = 2**(y log2(x)), with every special case of C99.

The product is as large as 1024, and its error in absolute terms is the relative error of the
result: the logarithm is computed in pairs, to 68 bits (float32: 38).
"""

from __future__ import annotations

import math

from hybridjit.codegen.math.coefficients import EXP2, LOG2_RATIO
from hybridjit.codegen.math.logarithm import split_exponent
from hybridjit.codegen.math.values import (
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

TWO_OVER_LN2 = {
    32: (float.fromhex("0x1.715476p+1"), float.fromhex("0x1.4ae0cp-25")),
    64: (float.fromhex("0x1.71547652b82fep+1"), float.fromhex("0x1.777d0ffda0d24p-55")),
}
THIRD_OF_IT = {  # A / 3
    32: (float.fromhex("0x1.ec709e0000000p-1"), float.fromhex("-0x1.e2fe020000000p-28")),
    64: (float.fromhex("0x1.ec709dc3a03fdp-1"), float.fromhex("0x1.d27f05548af0cp-55")),
}
LN2 = float.fromhex("0x1.62e42fefa39efp-1")

# Exponents beyond which the result is infinite or zero. The first rounds to 128, or 1024.
LARGEST = {32: 128.5, 64: 1024.5}
SMALLEST = {32: -160.0, 64: -1080.0}


def power(x: Real, y: Real) -> Real:
    return _with_special_cases(x, y, _power(abs(x), y))


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
    """x**y of x >= 0."""
    bits = x.format.bits
    log = log2_pair(x)
    special = where(x.equals(0.0), x.of(-math.inf), x)
    log_high = where(x.is_positive_finite(), log.hi, special)
    exponent = y * log_high
    rest = mad(y, log.lo, fma(y, log_high, -exponent))
    rest = where(abs(exponent) < -SMALLEST[bits], rest, 0.0)
    clamped = exponent.at_most(LARGEST[bits]).at_least(SMALLEST[bits])
    return where(exponent.is_nan(), exponent, exp2_of_pair(Pair(clamped, rest)))


def log2_pair(x: Real) -> Pair:
    """log2 of a positive number to 68 bits (float32: 38).

    x = 2**n m, s = (m - 1) / (m + 1), z = s**2, log2(m) = s (A + z (A/3 + z P(z))), A = 2 / ln2,
    all but P in pairs; P is 2**-11 of the whole. Degree 9 (float32), 19 (float64).
    """
    is_tiny, lift = x < x.format.tiny, x.format.precision + 1
    n, m = split_exponent(where(is_tiny, x * 2.0**lift, x))
    n = where(is_tiny, n - lift, n)
    bits = x.format.bits
    s = _ratio(m)
    square = two_product(s.hi, s.hi)
    z = Pair(square.hi, mad(s.hi, s.lo + s.lo, square.lo))
    inner = _constant_plus(THIRD_OF_IT[bits], z.hi * poly(z.hi, LOG2_RATIO[bits]), x.of(0.0))
    middle = multiply(z, inner)
    log = multiply(s, _constant_plus(TWO_OVER_LN2[bits], middle.hi, middle.lo))
    total = quick_two_sum(n.to_real(), log.hi)
    return quick_two_sum(total.hi, total.lo + log.lo)


def _ratio(m: Real) -> Pair:
    """(m - 1) / (m + 1), with one division."""
    f = m - 1.0
    divisor = quick_two_sum(m.of(2.0), f)
    inverse = 1.0 / divisor.hi
    ratio = f * inverse
    rest = fma(ratio, -divisor.lo, fma(ratio, -divisor.hi, f)) * inverse
    return Pair(ratio, rest)


def _constant_plus(constant: tuple[float, float], high: Real, low: Real) -> Pair:
    """A sum with a larger constant."""
    total = quick_two_sum(high.of(constant[0]), high)
    return Pair(total.hi, total.lo + (low + constant[1]))


def multiply(a: Pair, b: Pair) -> Pair:
    """a * b, not normalised: the low part may be a few ulp of the high part."""
    product = two_product(a.hi, b.hi)
    return Pair(product.hi, product.lo + mad(a.hi, b.lo, a.lo * b.hi))


def exp2_of_pair(x: Pair) -> Real:
    """2**x, for SMALLEST <= x <= LARGEST."""
    k, n = round_to_int(x.hi)
    r = quick_two_sum(x.hi - k, x.lo)
    small = mad(r.hi, poly(r.hi, EXP2[r.hi.format.bits]), r.lo * LN2)
    return scale(1.0 + small, n)


def scale(y: Real, n: Bits) -> Real:
    """y * 2**n for y in (1/2, 2) and n in the range of an exponent, rounded once.

    Twice 2**(n-1), so that it may overflow; 2**-lift of 2**(n+lift) where that is subnormal.
    """
    lift = y.format.precision + 20
    is_tiny = n < 4 - y.format.bias
    exponent = where(is_tiny, n + lift, n - 1)
    moved = (y.bits + (exponent << y.format.mantissa)).real
    return moved * where(is_tiny, y.of(2.0**-lift), 2.0)
