"""Special functions of one float64, with the special values of C99's Annex F.

They take and return Python floats. `math` raises where C returns an infinity or a NaN.
"""

from __future__ import annotations

import math


def sigmoid(x: float) -> float:
    """1 / (1 + exp(-x)), without overflow or loss of accuracy on either side."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    small = math.exp(x)
    return small / (1.0 + small)


def rsqrt(x: float) -> float:
    """1 / sqrt(x): an infinity with the sign of x at zero, NaN below it."""
    if x > 0.0:
        return 1.0 / math.sqrt(x)
    return math.copysign(math.inf, x) if x == 0.0 else math.nan


def gamma(x: float) -> float:
    """C's tgamma: an infinity with the sign of x at zero, NaN at the negative integers and -inf."""
    try:
        return math.gamma(x)
    except ValueError:
        return math.copysign(math.inf, x) if x == 0.0 else math.nan
    except OverflowError:
        # Beyond 171.6, or so close to zero that 1/x overflows: there the sign is the sign of x.
        return math.copysign(math.inf, x)


def lgamma(x: float) -> float:
    """C's lgamma, log(abs(gamma(x))): infinity at zero and at the negative integers."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


def fma(x: float, y: float, z: float) -> float:
    """x * y + z, rounded once to float64."""
    if not math.isfinite(x * 0.0 + y * 0.0):
        return x * y + z
    if not math.isfinite(z):
        return z
    (a, b), (c, d), (e, f) = x.as_integer_ratio(), y.as_integer_ratio(), z.as_integer_ratio()
    numerator = a * c * f + e * b * d
    if numerator == 0:
        return x * y + z  # which has the sign of a zero
    try:
        return numerator / (b * d * f)  # Python rounds a quotient of integers once
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def fma32(x: float, y: float, z: float) -> float:
    """x * y + z, of values of float32, such that rounding it to float32 rounds it only once."""
    product = x * y  # exact
    near = product + z
    if not math.isfinite(near):
        return near
    # What rounding the sum took away, exactly (Knuth's two-sum).
    part = near - product
    rest = (product - (near - part)) + (z - part)
    if rest == 0.0 or not _is_even(near):
        return near
    # Between two float64 values take the odd one: it is never half-way between two of float32.
    return math.nextafter(near, math.copysign(math.inf, rest))


def _is_even(value: float) -> bool:
    """True if the last bit of the significand is zero."""
    return (abs(value) / math.ulp(value)) % 2.0 == 0.0
