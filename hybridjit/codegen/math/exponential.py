"""exp, exp2, expm1, and what is made of them: sinh, cosh, tanh, sigmoid.

Range reduction: x = k ln2 + r with k an integer and |r| <= ln2 / 2 (for exp2, x = k + r). ln2 is
split in two parts, the first short enough that k * LN2_HIGH is exact, so that r has one rounding.
"""

from __future__ import annotations

import math

from hybridjit.codegen.math import avx512
from hybridjit.codegen.math.coefficients import COSH, EXP, EXP2, EXPM1, SINH
from hybridjit.codegen.math.values import (
    Bits,
    Real,
    fma,
    mad,
    poly,
    round_scaled,
    round_to_int,
    where,
)
from hybridjit.record import record

LOG2_E = float.fromhex("0x1.71547652b82fep+0")
# ln2 = high + low, the high part with 11 (float32: 9) trailing zeros
LN2_HIGH = {32: float.fromhex("0x1.62e4p-1"), 64: float.fromhex("0x1.62e42fefa38p-1")}
LN2_LOW = {32: float.fromhex("0x1.7f7d1cp-20"), 64: float.fromhex("0x1.ef35793c7673p-45")}


@record
class _Limits:
    """Where a power of two or e overflows above, has no normal number below, and is zero below."""

    largest: float
    tiny: float
    zero: float


EXP_MAX = {32: float.fromhex("0x1.62e42ep+6"), 64: float.fromhex("0x1.62e42fefa39efp+9")}
EXP_LIMITS = {32: _Limits(EXP_MAX[32], -86.0, -104.0), 64: _Limits(EXP_MAX[64], -707.0, -746.0)}
EXP2_LIMITS = {
    32: _Limits(float.fromhex("0x1.fffffep+6"), -125.0, -150.5),
    64: _Limits(float.fromhex("0x1.fffffffffffffp+9"), -1021.0, -1075.5),
}
# Powers of two that overflow or vanish by far, as `avx512.scale` finds out at once.
FAR = 1e5


def exp(x: Real) -> Real:
    """1 + r + r**2 P(r), times 2**k. Degree 6 (float32), 11 (float64)."""
    bits = x.format.bits
    near = _clamped(x, EXP_LIMITS[bits])
    k, n = round_scaled(near, LOG2_E)
    y = 1.0 + exp_minus_one(_reduce(near, k), EXP[bits])
    return _scaled(y, k, n, x, EXP_LIMITS[bits])


def exp2(x: Real) -> Real:
    """1 + r P(r), times 2**k. r is exact. Degree 6 (float32), 11 (float64)."""
    bits = x.format.bits
    near = _clamped(x, EXP2_LIMITS[bits])
    k, n = round_to_int(near)
    y = mad(poly(near - k, EXP2[bits]), near - k, 1.0)
    return _scaled(y, k, n, x, EXP2_LIMITS[bits])


def exp_minus_one(r: Real, coefficients: tuple[float, ...]) -> Real:
    """r + r**2 P(r)."""
    return mad(r * r, poly(r, coefficients), r)


def _reduce(x: Real, k: Real) -> Real:
    bits = x.format.bits
    return fma(k, -LN2_LOW[bits], fma(k, -LN2_HIGH[bits], x))


def _clamped(x: Real, limits: _Limits) -> Real:
    """x where it matters: what is below makes zero, what is above infinity.

    A product that is too small for a float takes a hundred cycles and more, and masks of scores
    are full of them; one that is too small by far does not.
    """
    if not x.scope.fills_register(x.format):
        return x.at_least(limits.zero)
    return where(x > FAR, x.of(FAR), where(x < limits.zero, x.of(-FAR), x))  # NaN stays


def _scaled(y: Real, k: Real, n: Bits, x: Real, limits: _Limits) -> Real:
    """y * 2**n for y in (1/2, 2), k being n as a float: by adding to the exponent, 2**64 off where
    that would wrap. Zeros are made by zero.
    """
    if y.scope.fills_register(y.format):
        return avx512.scale(y, k)
    lift = 64 if y.format.bits == 64 else 32
    is_tiny = x < limits.tiny
    exponent = where(is_tiny, n + lift, n)
    moved = (y.bits + (exponent << y.format.mantissa)).real
    back = where(x < limits.zero, y.of(0.0), 2.0**-lift)
    return _where_in_range(x, limits.largest, moved * where(is_tiny, back, 1.0))


def _where_in_range(x: Real, largest: float, y: Real) -> Real:
    """y; infinity for x above the largest, NaN for NaN."""
    return where(x <= largest, y, x + math.inf)


# -- differences of exponentials -------------------------------------------------------------------

EXPM1_MIN = {32: -20.0, 64: -40.0}  # -1 to the last bit


def expm1(x: Real) -> Real:
    """2**k (r + r**2 P(r)) + (2**k - 1), with s = 2**(k-1) so that 2**k cannot overflow.

    The large terms s r + (s - 1/2) are summed first and the small one, which holds the rest of r
    and the polynomial, is added last.
    """
    bits = x.format.bits
    clamped = x.at_least(EXPM1_MIN[bits]).at_most(EXP_MAX[bits])
    k, n = round_scaled(clamped, LOG2_E)
    r, rest = _reduce_twice(clamped, k)
    s = _powers_of_two(k, n, -1)
    small = mad(r * r, poly(r, EXPM1[bits]), rest)
    half = mad(s, small, fma(s, r, s - 0.5))
    return _where_in_range(x, EXP_MAX[bits], half + half).with_sign_of(x)  # of zero, too


def _reduce_twice(x: Real, k: Real) -> tuple[Real, Real]:
    """r as a sum of two: x - k ln2 to nearly twice the precision."""
    bits = x.format.bits
    high = fma(k, -LN2_HIGH[bits], x)
    r = fma(k, -LN2_LOW[bits], high)
    return r, fma(k, -LN2_LOW[bits], high - r)


SINH_MAX = {32: float.fromhex("0x1.65a9f8p+6"), 64: float.fromhex("0x1.633ce8fb9f87dp+9")}


def sinh(x: Real) -> Real:
    """C (a - b) + S (a + b), with C + S = exp(r), a = 2**k / 2, b = 2**-k / 2; all of it halved."""
    r, s, c, plus, minus = _hyperbolic_parts(abs(x))
    half = fma(plus, r, minus) + mad(plus, s, c * minus)
    magnitude = _where_in_range(abs(x), SINH_MAX[x.format.bits], half + half)
    return magnitude.with_sign_of(x)


def cosh(x: Real) -> Real:
    """C (a + b) + S (a - b), as in sinh."""
    r, s, c, plus, minus = _hyperbolic_parts(abs(x))
    half = fma(minus, r, plus) + mad(minus, s, c * plus)
    return _where_in_range(abs(x), SINH_MAX[x.format.bits], half + half)


def _hyperbolic_parts(x: Real) -> tuple[Real, Real, Real, Real, Real]:
    """Of x >= 0: r, sinh(r) - r, cosh(r) - 1, (a + b) / 2 and (a - b) / 2."""
    bits = x.format.bits
    clamped = x.at_most(SINH_MAX[bits])
    k, n = round_scaled(clamped, LOG2_E)
    r = _reduce(clamped, k)
    z = r * r
    s = poly(z, SINH[bits]) * (z * r)
    c = poly(z, COSH[bits]) * z
    a, b = _powers_of_two(k, n, -2), _powers_of_two(-k, 0 - n.at_most(bits), -2)
    return r, s, c, a + b, a - b


def _powers_of_two(k: Real, n: Bits, offset: int) -> Real:
    """2**(k + offset), k being given as a float and as an integer."""
    if k.scope.fills_register(k.format):
        return avx512.scale(k.of(2.0**offset), k)
    return (n + offset).power_of_two()


TANH_MAX = {32: 10.0, 64: 20.0}  # 1 to the last bit


def tanh(x: Real) -> Real:
    """E / (E + 2), E = expm1(2 |x|)."""
    bits = x.format.bits
    doubled = abs(x) * 2.0
    limit = x.of(2.0 * TANH_MAX[bits])
    clamped = where(limit < doubled, limit, doubled)  # NaN stays
    k, n = round_scaled(clamped, LOG2_E)
    r = _reduce(clamped, k)
    s = _powers_of_two(k, n, 0)
    e = mad(s, poly(r, EXPM1[bits]) * (r * r), fma(s, r, s - 1.0))
    return (e / (e + 2.0)).with_sign_of(x)


def sigmoid(x: Real) -> Real:
    """t / (1 + t) or 1 / (1 + t), t = exp(-|x|)."""
    t = exp(-abs(x))
    one = x.of(1.0)
    return where(x < 0.0, t, one) / (1.0 + t)
