"""fmod, and NumPy's % and // on floats.

The only functions with a loop: an exact remainder may need a thousand bits of quotient. When the
quotient is below 2**(precision - 1), which is nearly always, one division and one fused
multiply-add give it exactly.
"""

from __future__ import annotations

import math

from hybridjit.codegen.math.values import F32, Bits, Real, fma, where


def fmod(x: Real, y: Real) -> Real:
    """C's: x - y trunc(x / y), exactly, with the sign of x."""
    a, b = abs(x), abs(y)
    builder = x.scope.builder
    start = builder.block
    far, done = (builder.append_basic_block(name) for name in ("far", "done"))
    near_value = _near(a, b)
    # Without fused multiply-add a product of float64 is not exact: then all are far.
    is_exact = x.scope.fma or x.format is F32
    limit = b * 2.0 ** (x.format.precision - 2) if is_exact else b
    is_far = (a >= limit) & (b > 0.0)  # no integer division by zero
    builder.cbranch(x.scope.any_lane(is_far.value), far, done)

    builder.position_at_end(far)
    one = x.of(1.0)  # in lanes that are not far
    far_value = where(is_far, _far(where(is_far, a, one), where(is_far, b, one)), near_value)
    far_end = builder.block
    builder.branch(done)

    builder.position_at_end(done)
    phi = builder.phi(x.value.type)
    phi.add_incoming(near_value.value, start)
    phi.add_incoming(far_value.value, far_end)
    result = Real(x.scope, x.format, phi).with_sign_of(x)
    # NaN for infinite x, zero y, and NaN; x for infinite y
    return where(a.is_positive_finite() & (b > 0.0), result, _special(x, y))


def _special(x: Real, y: Real) -> Real:
    is_zero = x.equals(0.0) & (abs(y) > 0.0)
    return where(is_zero, x, math.nan)


def _near(a: Real, b: Real) -> Real:
    """a - b q for q = trunc(a / b) below 2**(precision - 1): the quotient may be one too large."""
    q = (a / b).intrinsic("trunc")
    r = fma(q, -b, a)
    r = where(r < 0.0, r + b, r)
    return where(a < b, a, r)  # also infinite b


def _far(a: Real, b: Real) -> Real:
    """In integers: the significand of a, shifted left by a few bits at a time, modulo that of b.

    A lane that is done is shifted by no bits while others go on.
    """
    format = a.format
    exponent_a, m_a = _decompose(a)
    exponent_b, m_b = _decompose(b)
    builder = a.scope.builder
    step = format.bits - format.precision
    before = builder.block
    loop, after = (builder.append_basic_block(name) for name in ("step", "after"))
    distance = exponent_a - exponent_b
    first = Bits(a.scope, format, builder.urem(m_a.value, m_b.value))
    builder.branch(loop)

    builder.position_at_end(loop)
    left, rest = builder.phi(m_a.value.type), builder.phi(m_a.value.type)
    left.add_incoming(distance.value, before)
    rest.add_incoming(first.value, before)
    remaining, m = Bits(a.scope, format, left), Bits(a.scope, format, rest)
    bits = remaining.at_most(step)
    following = Bits(a.scope, format, builder.urem((m << bits).value, m_b.value))
    left.add_incoming((remaining - bits).value, loop)
    rest.add_incoming(following.value, loop)
    builder.cbranch(a.scope.any_lane((remaining > step).value), loop, after)

    builder.position_at_end(after)
    return _compose(following, exponent_b)


def _decompose(x: Real) -> tuple[Bits, Bits]:
    """x = m 2**(e - 1) in units of the last subnormal bit; e >= 1."""
    format = x.format
    field = x.bits.logical_shift(format.mantissa)
    fraction = x.bits & ((1 << format.mantissa) - 1)
    is_normal = field > 0
    m = where(is_normal, fraction | (1 << format.mantissa), fraction)
    return field.at_least(1), m


def _compose(m: Bits, exponent: Bits) -> Real:
    """m 2**(e - 1) in units of the last subnormal bit, of m below 2**precision: exact."""
    format = m.format
    unit = exponent.at_most(2 * format.bias)
    # to_real is exact below 2**(mantissa - 2) only: take two halves
    half = format.precision // 2
    low, high = m & ((1 << half) - 1), m.logical_shift(half)
    value = high.to_real() * 2.0**half + low.to_real()
    # 2**(e - 1 - bias - mantissa + 1), in two factors, both normal
    shift = unit - (format.bias + format.mantissa)
    first = shift >> 1
    return value * first.power_of_two() * (shift - first).power_of_two()


def floor_mod(x: Real, y: Real) -> Real:
    """NumPy's remainder: the sign of y."""
    mod = fmod(x, y)
    moved = where((mod < 0.0) ^ (y < 0.0), mod + y, mod)
    result = where(mod.equals(0.0), y.of(0.0).with_sign_of(y), moved)
    return where(mod.is_nan(), mod, result)


def fraction(x: Real) -> Real:
    """x % 1.0: the difference is rounded once, as the sum in `floor_mod` is; NaN for infinite x."""
    return x - x.intrinsic("floor")


def floor_div(x: Real, y: Real) -> Real:
    """NumPy's floor_divide: (x - mod) / y, rounded to the nearest integer."""
    mod = fmod(x, y)
    quotient = (x - mod) / y
    is_other_sign = ((mod < 0.0) ^ (y < 0.0)) & ~mod.equals(0.0) & ~mod.is_nan()
    quotient = where(is_other_sign, quotient - 1.0, quotient)
    floor = quotient.intrinsic("floor")
    floor = where(quotient - floor > 0.5, floor + 1.0, floor)
    result = where(quotient.equals(0.0), x.of(0.0).with_sign_of(x / y), floor)
    return where(y.equals(0.0), x / y, result)
