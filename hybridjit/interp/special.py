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
