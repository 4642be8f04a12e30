"""sin, cos, tan: polynomials on [-pi/4, pi/4], chosen by the quadrant."""

from __future__ import annotations

from hybridjit.codegen.math.coefficients import COS, SIN, TAN
from hybridjit.codegen.math.reduction import reduce_angle
from hybridjit.codegen.math.values import Bits, Pair, Real, mad, poly, where


def sin_and_cos(x: Real) -> tuple[Real, Real]:
    """sin(k pi/2 + r) is sin(r), cos(r), -sin(r), -cos(r) for k mod 4 = 0, 1, 2, 3.

    Each of the two needs almost all of the other.
    """
    r, k = reduce_angle(x)
    # sin keeps the sign of zero, which the sum below would lose
    return where(x.equals(0.0), x, _quarter(r, k)), _quarter(r, k + 1)


def sin(x: Real) -> Real:
    return sin_and_cos(x)[0]


def cos(x: Real) -> Real:
    return sin_and_cos(x)[1]


def _quarter(r: Pair, k: Bits) -> Real:
    z = r.hi * r.hi
    y = where((k & 1).equals(0), sin_near_zero(r, z), cos_near_zero(r, z))
    return (y.bits ^ ((k & 2) << (y.format.bits - 2))).real


def sin_near_zero(r: Pair, z: Real) -> Real:
    """r + r z P(z): degree 7 (float32), 13 (float64)."""
    return r.hi + mad(r.hi * z, poly(z, SIN[z.format.bits]), mad(z * -0.5, r.lo, r.lo))


def cos_near_zero(r: Pair, z: Real) -> Real:
    """1 - z/2 + z**2 P(z), with what 1 - z/2 loses: degree 8 (float32), 14 (float64)."""
    half = z * 0.5
    w = 1.0 - half
    rest = mad(z * z, poly(z, COS[z.format.bits]), -(r.hi * r.lo))
    return w + (((1.0 - w) - half) + rest)


def tan(x: Real) -> Real:
    """tan(r) = r + r z P(z) for even k, -1 / tan(r) for odd: degree 15 (float32), 31 (float64)."""
    r, k = reduce_angle(x)
    z = r.hi * r.hi
    q = mad(r.hi * z, poly(z, TAN[z.format.bits]), mad(z, r.lo, r.lo))
    t = r.hi + q
    rest = q - (t - r.hi)
    inverse = -1.0 / t
    inverse = mad(inverse * inverse, rest, inverse)
    y = where((k & 1).equals(0), t, inverse)
    return where(x.equals(0.0), x, y)
