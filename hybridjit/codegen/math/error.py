"""erf and erfc.

|x| <= 1: x + x P(x**2), degree 13 (float32), 25 (float64). Beyond, and for erfc everywhere on the
right: exp(-x**2) Q(t) / (1 + 2x) with t = (x - c) / (x + c), a polynomial of degree 10 (float32,
c = 2), 23 (float64, c = 4) that covers 0 <= x < infinity. x**2 is kept in two parts, since its
error is the relative error of the result.
"""

from __future__ import annotations

from hybridjit.codegen.math.coefficients import ERF, ERFCX
from hybridjit.codegen.math.exponential import exp
from hybridjit.codegen.math.values import (
    Real,
    fma,
    mad,
    poly,
    quick_two_sum,
    two_product,
    two_sum,
    where,
)

CENTRE = {32: 2.0, 64: 4.0}
ERFC_MAX = {32: 10.5, 64: 27.5}  # zero from here on
ERF_MAX = {32: 4.0, 64: 6.0}  # one from here on


def erf(x: Real) -> Real:
    magnitude = abs(x)
    tail = 1.0 - _erfc_positive(magnitude.at_most(ERF_MAX[x.format.bits]))
    y = where(magnitude < 1.0, _erf_small(x), tail.with_sign_of(x))
    return where(x.is_nan(), x, y)


def erfc(x: Real) -> Real:
    """1 - erf(x) near zero, so that both sides of it are right; 2 - erfc(-x) on the left."""
    magnitude = abs(x)
    right = _erfc_positive(magnitude.at_most(ERFC_MAX[x.format.bits]))
    y = where(x < 0.0, 2.0 - right, right)
    y = where(magnitude < 0.25, 1.0 - _erf_small(x), y)
    return where(x.is_nan(), x, y)


def _erf_small(x: Real) -> Real:
    return mad(poly(x * x, ERF[x.format.bits]), x, x)


def _erfc_positive(x: Real) -> Real:
    """exp(-x**2) (ratio + low): the divisor, the quotient and the square each with its rest."""
    bits = x.format.bits
    centre = CENTRE[bits]
    t = (x - centre) / (x + centre)
    constant, *others = ERFCX[bits]
    q = quick_two_sum(x.of(constant), t * poly(t, others))
    divisor = two_sum(x + x, x.of(1.0))
    inverse = 1.0 / divisor.hi
    ratio = q.hi * inverse
    rest = fma(ratio, -divisor.lo, fma(ratio, -divisor.hi, q.hi) + q.lo)
    square = two_product(x, x)
    low = mad(rest, inverse, -(ratio * square.lo))  # exp(-hi - lo) = exp(-hi) (1 - lo)
    e = exp(-square.hi)
    product = two_product(e, ratio)
    return product.hi + mad(e, low, product.lo)
