"""gamma and lgamma of float64.

a = |x|. Stirling's series holds from 8 on; below, gamma(a) = gamma(a + 8) / (a (a+1) ... (a+7)),
and the product is q (q+6) (q+10) (q+12) with q = a (a + 7). On the left, the reflection
gamma(-a) gamma(a) = -pi / (a sin(pi a)).
"""

from __future__ import annotations

import math

from hybridjit.codegen.math.coefficients import LGAMMA, STIRLING
from hybridjit.codegen.math.power import LARGEST, SMALLEST, exp2_of_pair, log2_pair, multiply
from hybridjit.codegen.math.trigonometric import cos_near_zero, sin_near_zero
from hybridjit.codegen.math.values import (
    Flag,
    Pair,
    Real,
    fma,
    mad,
    poly,
    quick_two_sum,
    round_to_int,
    two_product,
    two_sum,
    where,
)

PI = (float.fromhex("0x1.921fb54442d18p+1"), float.fromhex("0x1.1a62633145c07p-53"))
LOG2_E = (float.fromhex("0x1.71547652b82fep+0"), float.fromhex("0x1.777d0ffda0d24p-56"))
LN2 = (float.fromhex("0x1.62e42fefa39efp-1"), float.fromhex("0x1.abc9e3b39803fp-56"))
HALF_LOG2_TAU = (float.fromhex("0x1.536439a4c6efcp+0"), float.fromhex("-0x1.49e49a361efebp-54"))
HALF_LN_TAU = (float.fromhex("0x1.d67f1c864beb5p-1"), float.fromhex("-0x1.65b5a1b7ff5dfp-55"))
LGAMMA_SLOPE = (float.fromhex("0x1.b0ee6072093cep-2"), float.fromhex("0x1.6cb90701fbfabp-58"))
LGAMMA_MAX = float.fromhex("0x1.754d9278b51a7p+1014")  # infinite above
GAMMA_MAX = 200.0  # infinite, or zero, long before
TINY = 2.0**-60  # gamma(a) = 1 / a and lgamma(a) = -log(a) to the last bit
LIFT = 64  # reciprocals of large values are kept 2**64 larger until the end


def gamma_pairs(x: Real) -> Real:
    magnitude = abs(x).at_most(GAMMA_MAX)
    is_small, is_negative = magnitude < 8.0, x < 0.0
    product, without_a = _rising_product(magnitude)
    exponent = _stirling_exponent(_shifted(magnitude, is_small))

    reversed_ = two_sum(x.of(LIFT), -exponent.hi)
    exponent = _choose(is_negative, Pair(reversed_.hi, reversed_.lo - exponent.lo), exponent)
    exponent = quick_two_sum(exponent.hi, exponent.lo)
    value = exp2_of_pair(Pair(exponent.hi.at_most(LARGEST[64]).at_least(SMALLEST[64]), exponent.lo))

    one = Pair(x.of(1.0), x.of(0.0))
    above = _choose(is_small, without_a, one)
    below = _choose(is_small, one, Pair(magnitude, x.of(0.0)))
    left = _divide(
        multiply(above, Pair(x.of(-PI[0]), x.of(-PI[1]))), multiply(below, sinpi(period(x)))
    )
    right = _divide(one, _choose(is_small, product, one))
    factor = _choose(is_negative, left, right)
    result = value * factor.hi
    result = where(abs(result) < math.inf, mad(value, factor.lo, result), result)
    result = where(is_negative, result * 2.0**-LIFT, result)

    is_pole = is_negative & x.intrinsic("floor").equals(x)
    result = where(is_pole, x.of(math.nan), result)
    result = where(magnitude < TINY, 1.0 / x, result)
    result = where(x > GAMMA_MAX, x.of(math.inf), result)
    return where(x.is_nan(), x, result)


def _choose(flag: Flag, then: Pair, otherwise: Pair) -> Pair:
    return Pair(where(flag, then.hi, otherwise.hi), where(flag, then.lo, otherwise.lo))


def _divide(a: Pair, b: Pair) -> Pair:
    inverse = 1.0 / b.hi
    quotient = a.hi * inverse
    rest = fma(quotient, -b.hi, a.hi) + mad(quotient, -b.lo, a.lo)
    return Pair(quotient, rest * inverse)


def _rising_product(a: Real) -> tuple[Pair, Pair]:
    """a (a+1) ... (a+7), and the same without the first factor."""
    sum7 = two_sum(a, a.of(7.0))
    q = multiply(Pair(a, a.of(0.0)), sum7)
    product = sum7
    for number in (6.0, 10.0, 12.0):
        shifted = two_sum(q.hi, q.hi.of(number))
        product = multiply(product, Pair(shifted.hi, shifted.lo + q.lo))
    return multiply(Pair(a, a.of(0.0)), product), product


def _shifted(a: Real, is_small: Flag) -> Pair:
    shifted = two_sum(a, a.of(8.0))
    return Pair(where(is_small, shifted.hi, a), where(is_small, shifted.lo, 0.0))


def _stirling_exponent(z: Pair) -> Pair:
    """log2(gamma(z)) = (z - 1/2) log2(z) - z log2(e) + log2(2 pi) / 2 + P(1/z**2) / z log2(e)."""
    log = log2_pair(z.hi)
    first = two_product(z.hi - 0.5, log.hi)
    second = two_product(z.hi, LOG2_E[0])
    total = two_sum(first.hi, -second.hi)
    total2 = two_sum(total.hi, z.hi.of(HALF_LOG2_TAU[0]))
    # the derivative by z is about log2(z)
    rest = mad(z.hi - 0.5, log.lo, first.lo) - mad(z.hi, LOG2_E[1], second.lo)
    series = stirling_series(z.hi) * LOG2_E[0] + HALF_LOG2_TAU[1]
    low = mad(z.lo, log.hi, (total.lo + total2.lo) + (rest + series))
    return quick_two_sum(total2.hi, low)


def stirling_series(z: Real) -> Real:
    """P(1 / z**2) / z."""
    inverse = 1.0 / z
    return poly(inverse * inverse, STIRLING[64]) * inverse


def period(x: Real) -> Real:
    """|x| modulo 2, in [-1, 1]."""
    a = abs(x)
    return a - 2.0 * (a * 0.5).intrinsic("rint")


def sinpi(x: Real) -> Pair:
    """sin(pi x) of |x| < 2**51, not normalised."""
    k, n = round_to_int(x + x)
    r = multiply(Pair(mad(k, -0.5, x), x.of(0.0)), Pair(x.of(PI[0]), x.of(PI[1])))
    z = r.hi * r.hi
    y = where((n & 1).equals(0), sin_near_zero(r, z), cos_near_zero(r, z))
    return Pair((y.bits ^ ((n & 2) << 62)).real, x.of(0.0))


# -- lgamma ----------------------------------------------------------------------------------------
#
# lgamma(2 + d) = d P(d) for |d| <= 1/2; up to 8, log of a product is added or subtracted:
#   a < 1/2         d = a        - log(a (a + 1))
#   a in [1/2, 3/2) d = a - 1    - log(a)
#   a in [3/2, 8)   d = a - n-2  + log((a-1) ... (a-n))


STEPS = 6


def lgamma_pairs(x: Real) -> Real:
    a = abs(x)
    is_large, is_tiny = a >= 8.0, a < TINY
    d, argument, is_negated = small_parts(a)
    log = _log(where(is_large | is_tiny, a, argument))
    negated = Pair(-log.hi, -log.lo)
    small = _choose(is_tiny, negated, _near_two(d, _choose(is_negated, negated, log)))
    right = _choose(is_large, _stirling_log(a, log), small)

    # log(pi / (a |sin(pi a)|)) - lgamma(a)
    quotient = PI[0] / (abs(sinpi(period(x)).hi) * a)
    reflected = _add(_log(where(is_tiny, x.of(1.0), quotient)), Pair(-right.hi, -right.lo))
    left = where(is_tiny, right.value(), reflected.value())
    result = where(x < 0.0, left, right.value())
    is_pole = (x <= 0.0) & x.intrinsic("floor").equals(x)
    return where(is_pole | (a > LGAMMA_MAX), x.of(math.inf), where(x.is_nan(), x, result))


def _log(x: Real) -> Pair:
    return multiply(log2_pair(x), Pair(x.of(LN2[0]), x.of(LN2[1])))


def _add(a: Pair, b: Pair) -> Pair:
    total = two_sum(a.hi, b.hi)
    return Pair(total.hi, total.lo + (a.lo + b.lo))


def _near_two(d: Real, log: Pair) -> Pair:
    """lgamma(2 + d) + log: the linear term exactly, since the two may cancel."""
    linear = multiply(Pair(d, d.of(0.0)), Pair(d.of(LGAMMA_SLOPE[0]), d.of(LGAMMA_SLOPE[1])))
    total = _add(linear, log)
    rest = two_sum(total.hi, d * d * poly(d, LGAMMA[64]))
    return quick_two_sum(rest.hi, rest.lo + total.lo)


def _stirling_log(a: Real, log: Pair) -> Pair:
    """(a - 1/2) (log(a) - 1) + (log(2 pi) - 1) / 2 + P(1/a**2) / a."""
    below = two_sum(log.hi, a.of(-1.0))
    first = two_product(a - 0.5, below.hi)
    total = two_sum(first.hi, a.of(HALF_LN_TAU[0] - 0.5))
    rest = mad(a - 0.5, below.lo + log.lo, first.lo)
    return quick_two_sum(total.hi, total.lo + (rest + stirling_series(a)))


def small_parts(a: Real) -> tuple[Real, Real, Flag]:
    """d, the argument of the logarithm, and whether that is subtracted."""
    is_first, is_second = a < 0.5, a < 1.5
    n = (a - 1.5).intrinsic("floor")
    product = a.of(1.0)
    for number in range(1, STEPS + 1):
        product = where(n >= float(number), product * (a - float(number)), product)
    d = where(is_first, a, where(is_second, a - 1.0, a - (n + 2.0)))
    argument = where(is_first, a * (a + 1.0), where(is_second, a, product))
    return d, argument, is_second
