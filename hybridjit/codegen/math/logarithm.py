"""log, log2, log10, log1p.

Range reduction: x = 2**k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), so that log(x) has no
cancellation between k ln2 and log(1 + f), and f is exact. log(1 + f) = f + (f**3 P(f) - f**2 / 2):
degree 10 (float32), 22 (float64).
"""

from __future__ import annotations

import math

from hybridjit.codegen.math import avx512
from hybridjit.codegen.math.avx512 import Operand, Response
from hybridjit.codegen.math.coefficients import LOG, LOG2, LOG10, LOG_RATIO
from hybridjit.codegen.math.exponential import LN2_HIGH, LN2_LOW, LOG2_E
from hybridjit.codegen.math.values import Bits, Real, fma, mad, poly, two_product, two_sum, where

SQRT_HALF = {32: float.fromhex("0x1.6a09e6p-1"), 64: float.fromhex("0x1.6a09e667f3bcdp-1")}
LOG2_E_LOW = float.fromhex("0x1.777d0ffda0d24p-56")
LOG10_E = {32: float.fromhex("0x1.bcb7b2p-2"), 64: float.fromhex("0x1.bcb7b1526e50ep-2")}
LOG10_E_LOW = float.fromhex("0x1.95355baaafad3p-57")
# log10(2) = high + low, the high part short enough that k * high is exact
LOG10_2_HIGH = {32: float.fromhex("0x1.344p-2"), 64: float.fromhex("0x1.34413509f78p-2")}
SPECIAL = {
    Operand.QUIET_NAN: Response.QUIET_NAN,
    Operand.SIGNALLING_NAN: Response.QUIET_NAN,
    Operand.ZERO: Response.MINUS_INFINITY,
    Operand.MINUS_INFINITY: Response.NAN,
    Operand.INFINITY: Response.INFINITY,
    Operand.NEGATIVE: Response.NAN,
}
LOG10_2_LOW = {32: float.fromhex("0x1.3509f8p-18"), 64: float.fromhex("0x1.fef311f12b358p-46")}


def log(x: Real) -> Real:
    k, f = reduce_positive(x)
    bits = x.format.bits
    small = mad(k, LN2_LOW[bits], log1p_rest(f))
    return _where_positive(x, mad(k, LN2_HIGH[bits], f + small))


def log2(x: Real) -> Real:
    """k + (f + rest) log2(e), the product with f to twice the precision.

    float32 has a polynomial of its own, of degree 11, without the first bits of log2(e).
    """
    k, f = reduce_positive(x)
    if x.format.bits == 32:
        return _where_positive(x, k + fma(f, LOG2_E, poly(f, LOG2[32]) * f))
    high, low = _times_constant(f, log1p_rest(f), x.of(LOG2_E), LOG2_E_LOW)
    return _where_positive(x, k + (high + low))


def log10(x: Real) -> Real:
    """As log2, with k log10(2) exact in its high part."""
    bits = x.format.bits
    k, f = reduce_positive(x)
    if bits == 32:
        small = mad(k, LOG10_2_LOW[32], poly(f, LOG10[32]) * f)
        return _where_positive(x, mad(k, LOG10_2_HIGH[32], fma(f, LOG10_E[32], small)))
    high, low = _times_constant(f, log1p_rest(f), x.of(LOG10_E[64]), LOG10_E_LOW)
    low = mad(k, LOG10_2_LOW[64], low)
    return _where_positive(x, mad(k, LOG10_2_HIGH[64], high + low))


def _times_constant(f: Real, rest: Real, high: Real, low: float) -> tuple[Real, Real]:
    """(f + rest) (high + low) as a sum of two."""
    product = two_product(f, high)
    return product.hi, mad(rest, high, mad(f, low, product.lo))


def log1p_rest(f: Real) -> Real:
    """log(1 + f) - f. In float64 a division is cheaper than the longer polynomial."""
    if f.format.bits == 64:
        s = f / (f + 2.0)
        z = s * s
        half_square = f * f * 0.5
        return mad(s, mad(poly(z, LOG_RATIO[64]), z, half_square), -half_square)
    return mad(poly(f, LOG[f.format.bits]), f, -0.5) * (f * f)


def reduce_positive(x: Real) -> tuple[Real, Real]:
    """k and f of a positive number, subnormal or not."""
    if x.scope.fills_register(x.format):
        k, m = avx512.exponent(x), avx512.mantissa(x)
        is_upper = m >= 2.0 * SQRT_HALF[x.format.bits]
        return where(is_upper, k + 1.0, k), where(is_upper, m * 0.5, m) - 1.0
    lift = x.format.precision + 1
    is_tiny = x < x.format.tiny
    k, m = split_exponent(where(is_tiny, x * 2.0**lift, x))
    return where(is_tiny, k - lift, k).to_real(), m - 1.0


def split_exponent(x: Real) -> tuple[Bits, Real]:
    """k and m of a positive normal x = 2**k m, m in [sqrt(1/2), sqrt(2))."""
    bits = x.bits
    offset = bits - bits.of_float(SQRT_HALF[x.format.bits])
    k = offset >> x.format.mantissa
    return k, (bits - (k << x.format.mantissa)).real


def _where_positive(x: Real, y: Real) -> Real:
    """y; -inf at zero, NaN below it and at NaN, inf at inf."""
    if x.scope.fills_register(x.format):
        return avx512.mend(y, x, SPECIAL)
    special = where(x.equals(0.0), x.of(-math.inf), math.nan)
    special = where(x.equals(math.inf), x, special)
    return where(x.is_positive_finite(), y, special)


def log1p(x: Real) -> Real:
    """log(u), u = 1 + x rounded; what the rounding lost is scaled and added to f."""
    y = log1p_of_pair(x, x.of(0.0))
    if x.scope.fills_register(x.format):
        return avx512.mend(y.with_sign_of(x), x + 1.0, SPECIAL)
    y = where(x.is_normal(), y, x)  # zeros keep their sign, infinity and NaN are what they were
    y = where(x.equals(-1.0), x.of(-math.inf), y)
    return where(x < -1.0, x.of(math.nan), y)


def log1p_of_pair(x: Real, low: Real) -> Real:
    """log(1 + x + low) for finite x > -1."""
    bits = x.format.bits
    u = two_sum(x.of(1.0), x)
    k, f, lost = reduce_sum(u.hi, u.lo + low)
    total = two_sum(f, lost)
    small = mad(k, LN2_LOW[bits], log1p_rest(total.hi) + total.lo)
    return mad(k, LN2_HIGH[bits], total.hi + small)


def reduce_sum(x: Real, low: Real) -> tuple[Real, Real, Real]:
    """k and f of a positive normal x, and `low` scaled as f is.

    For large k it is not quite: but then nothing is left of it anyway.
    """
    if x.scope.fills_register(x.format):
        k, f = reduce_positive(x)
        return k, f, avx512.scale(low, -k)
    n, m = split_exponent(x)
    return n.to_real(), m - 1.0, low * (0 - n).at_least(2 - x.format.bias).power_of_two()
