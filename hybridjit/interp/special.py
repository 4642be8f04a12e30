"""Special functions of one float64, with the special values of C99's Annex F.

They take and return Python floats. `math` raises where C returns an infinity or a NaN.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    import fractions
else:
    fractions = lazy_module("fractions")


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
    found = _exact(x, y, z)
    return _nearest(found) if isinstance(found, fractions.Fraction) else found


def fma32(x: float, y: float, z: float) -> float:
    """x * y + z such that rounding it to float32 rounds it only once."""
    found = _exact(x, y, z)
    if not isinstance(found, fractions.Fraction):
        return found
    near = _nearest(found)
    if math.isinf(near) or fractions.Fraction(near) == found:
        return near
    # Between two float64 values take the odd one: it is never half-way between two of float32.
    other = math.nextafter(near, math.inf if fractions.Fraction(near) < found else -math.inf)
    return other if _is_even(near) else near


def _exact(x: float, y: float, z: float) -> fractions.Fraction | float:
    """x * y + z, as a fraction; as a float if it is zero or not finite."""
    if not math.isfinite(x * 0.0 + y * 0.0):
        return x * y + z
    if not math.isfinite(z):
        return z
    exact = fractions.Fraction
    found = exact(x) * exact(y) + exact(z)
    return found if found else x * y + z  # which has the sign of a zero


def _nearest(value: fractions.Fraction) -> float:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_even(value: float) -> bool:
    """True if the last bit of the significand is zero."""
    return (abs(value) / math.ulp(value)) % 2.0 == 0.0
