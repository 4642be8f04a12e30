"""gamma and lgamma of float32, in float64 without pairs: the formulas of gamma_pairs."""

from __future__ import annotations

import math

from hybridjit.codegen.math.coefficients import EXP2, LGAMMA
from hybridjit.codegen.math.gamma_pairs import (
    GAMMA_MAX,
    HALF_LN_TAU,
    HALF_LOG2_TAU,
    LGAMMA_MAX,
    LGAMMA_SLOPE,
    LN2,
    LOG2_E,
    PI,
    TINY,
    gamma_pairs,
    lgamma_pairs,
    period,
    sinpi,
    small_parts,
    stirling_series,
)
from hybridjit.codegen.math.logarithm import log1p_rest, split_exponent
from hybridjit.codegen.math.values import F64, Real, mad, poly, round_to_int, where

EXPONENT_MAX = 1000.0


def gamma_short(x: Real) -> Real:
    magnitude = abs(x).at_most(GAMMA_MAX)
    is_small = magnitude < 8.0
    q = magnitude * (magnitude + 7.0)
    without_a = where(is_small, (magnitude + 7.0) * (q + 6.0) * ((q + 10.0) * (q + 12.0)), 1.0)
    z = where(is_small, magnitude + 8.0, magnitude)
    n, f, rest = _log_parts(z)
    log = mad(f + rest, LOG2_E[0], n)
    tail = mad(z, -LOG2_E[0], mad(stirling_series(z), LOG2_E[0], HALF_LOG2_TAU[0]))
    value = _exp2(mad(z - 0.5, log, tail))

    right = value / where(is_small, magnitude * without_a, 1.0)
    sine = sinpi(period(x)).hi * where(is_small, x.of(1.0), magnitude)
    left = (-PI[0] * without_a) / (sine * value)
    result = where(x < 0.0, left, right)
    result = where((x < 0.0) & x.intrinsic("floor").equals(x), x.of(math.nan), result)
    result = where(magnitude < TINY, 1.0 / x, result)
    return where(x.is_nan(), x, where(x > GAMMA_MAX, x.of(math.inf), result))


def _exp2(x: Real) -> Real:
    clamped = x.at_most(EXPONENT_MAX)
    k, n = round_to_int(clamped)
    r = clamped - k
    return mad(r, poly(r, EXP2[32]), 1.0) * n.power_of_two()


def _log_parts(x: Real) -> tuple[Real, Real, Real]:
    """n, f and log(1 + f) - f of x = 2**n (1 + f), which is normal."""
    n, m = split_exponent(x)
    f = m - 1.0
    return n.to_real(), f, log1p_rest(f)


def _log(x: Real) -> Real:
    n, f, rest = _log_parts(x)
    return mad(n, LN2[0], f + rest)


def lgamma_short(x: Real) -> Real:
    a = abs(x)
    is_large, is_tiny = a >= 8.0, a < TINY
    d, argument, is_negated = small_parts(a)
    log = _log(where(is_large | is_tiny, a, argument))
    near_two = d * mad(d, poly(d, LGAMMA[64]), LGAMMA_SLOPE[0])
    small = near_two + where(is_negated, -log, log)
    large = mad(a - 0.5, log - 1.0, stirling_series(a) + (HALF_LN_TAU[0] - 0.5))
    right = where(is_large, large, where(is_tiny, -log, small))

    quotient = PI[0] / (abs(sinpi(period(x)).hi) * a)
    left = where(is_tiny, right, _log(where(is_tiny, x.of(1.0), quotient)) - right)
    result = where(x < 0.0, left, right)
    is_pole = (x <= 0.0) & x.intrinsic("floor").equals(x)
    return where(is_pole | (a > LGAMMA_MAX), x.of(math.inf), where(x.is_nan(), x, result))


# -- either format ---------------------------------------------------------------------------------


def gamma(x: Real) -> Real:
    return gamma_pairs(x) if x.format is F64 else gamma_short(x.to(F64)).to(x.format)


def lgamma(x: Real) -> Real:
    return lgamma_pairs(x) if x.format is F64 else lgamma_short(x.to(F64)).to(x.format)
