"""pow(x, y) = 2**(y log2(x)), with every special case of C99.

The product is as large as 1024, and its error in absolute terms is the relative error of the
result: the logarithm is computed to 68 bits, in pairs (float32: to 36 bits, in float64).
"""

from __future__ import annotations

import math

from hybridjit.codegen.math import avx512
from hybridjit.codegen.math.coefficients import EXP2, LOG2_RATIO, LOG2_WIDE
from hybridjit.codegen.math.logarithm import reduce_positive
from hybridjit.codegen.math.values import (
    F32,
    F64,
    Bits,
    Pair,
    Real,
    fma,
    mad,
    patch,
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
    if x.scope.lanes == 1:
        return _any_power(x, y)
    is_common = x.is_positive_finite() & (abs(y) < math.inf)
    return patch(_positive_power(x, y), ~is_common, lambda: _any_power(x, y))


def _positive_power(x: Real, y: Real) -> Real:
    """x**y of positive finite x and finite y."""
    return _power_single(x, y) if x.format is F32 else _power_double(x, y)


def _any_power(x: Real, y: Real) -> Real:
    return _with_special_cases(x, y, _magnitude(abs(x), y))


def _with_special_cases(x: Real, y: Real, magnitude: Real) -> Real:
    """The sign of x**y, and where it is NaN or one."""
    is_integer = y.intrinsic("rint").equals(y)
    half = y * 0.5
    is_even = half.intrinsic("rint").equals(half)
    signed = where(is_integer & ~is_even, magnitude.with_sign_of(x), magnitude)
    is_undefined = (x < 0.0) & (x > -math.inf) & ~is_integer
    is_one = y.equals(0.0) | x.equals(1.0) | (x.equals(-1.0) & abs(y).equals(math.inf))
    return where(is_one, x.of(1.0), where(is_undefined, x.of(math.nan), signed))


def _magnitude(x: Real, y: Real) -> Real:
    """x**y of x >= 0, infinite ones included, or NaN."""
    is_large = (x > 1.0) ^ (y < 0.0)
    extreme = where(is_large, x.of(math.inf), 0.0)
    is_extreme = x.equals(0.0) | x.equals(math.inf) | abs(y).equals(math.inf)
    result = where(is_extreme, extreme, _positive_power(x, y))
    return where(x.is_nan() | y.is_nan(), x + y, result)


def _power_single(x: Real, y: Real) -> Real:
    """In float64, but for the last polynomial."""
    k, f = reduce_positive(x)
    wide = f.to(F64)
    log = mad(wide, poly(wide, LOG2_WIDE[64]), k.to(F64))
    exponent = y.to(F64) * log
    if x.scope.fills_register(F32):
        whole = exponent.intrinsic("rint")
        return avx512.scale(_exp2_near_zero((exponent - whole).to(F32)), whole.to(F32))
    clamped = exponent.at_most(LARGEST[32]).at_least(SMALLEST[32])
    whole, n = round_to_int(clamped)
    return scale(_exp2_near_zero((clamped - whole).to(F32)), n.resize(F32))


def _exp2_near_zero(r: Real) -> Real:
    return mad(r, poly(r, EXP2[32]), 1.0)


def _power_double(x: Real, y: Real) -> Real:
    """y k and y log2(1 + f) are added only after their sum's integral part is gone."""
    k, log = _log2_parts(x)
    first, second = two_product(y, k), two_product(y, log.hi)
    exponent = first.hi + second.hi
    clamped = exponent.at_most(LARGEST[64]).at_least(SMALLEST[64])
    whole, n = round_to_int(clamped)
    fraction = (first.hi - whole) + second.hi
    rest = mad(y, log.lo, first.lo + second.lo)
    is_in_range = exponent.equals(clamped)
    r = quick_two_sum(where(is_in_range, fraction, 0.0), where(is_in_range, rest, 0.0))
    return _exp2_sum(r, whole, n)


def log2_pair(x: Real) -> Pair:
    """log2 of a positive number to 68 bits (float32: 38).

    x = 2**k (1 + f), s = f / (f + 2), z = s**2, log2(1 + f) = s (A + z (A/3 + z P(z))) with
    A = 2 / ln2, all but P in pairs; P is 2**-11 of the whole. Degree 9 (float32), 19 (float64).
    """
    k, log = _log2_parts(x)
    total = quick_two_sum(k, log.hi)
    return quick_two_sum(total.hi, total.lo + log.lo)


def _log2_parts(x: Real) -> tuple[Real, Pair]:
    """log2(x) as k and log2(1 + f)."""
    bits = x.format.bits
    k, f = reduce_positive(x)
    s = _ratio(f)
    square = two_product(s.hi, s.hi)
    z = Pair(square.hi, mad(s.hi, s.lo + s.lo, square.lo))
    inner = _constant_plus(THIRD_OF_IT[bits], z.hi * poly(z.hi, LOG2_RATIO[bits]), x.of(0.0))
    middle = multiply(z, inner)
    return k, multiply(s, _constant_plus(TWO_OVER_LN2[bits], middle.hi, middle.lo))


def _ratio(f: Real) -> Pair:
    """f / (f + 2), with one division."""
    divisor = quick_two_sum(f.of(2.0), f)
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
    return _exp2_sum(quick_two_sum(x.hi - k, x.lo), k, n)


def _exp2_sum(r: Pair, k: Real, n: Bits) -> Real:
    """2**(r + k), k being given as a float and as an integer."""
    small = mad(r.hi, poly(r.hi, EXP2[r.hi.format.bits]), r.lo * LN2)
    if k.scope.fills_register(k.format):
        return avx512.scale(1.0 + small, k)
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
