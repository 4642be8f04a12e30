"""x ** y of an exponent that is known: products, a root, a quotient, in pairs.

    x ** 5     =  (x x)(x x) x
    x ** -2    =  q q,  q = 1 / x
    x ** 1.5   =  x s,  s = sqrt(x)
    x ** -1.5  =  (r r) r,  r = 1 / sqrt(x)

Each operation takes the error of the one before along to first order, so that the result is off by
little more than its own rounding, at a fraction of what a logarithm and an exponential cost. Where
that error is none, beyond infinity and where nothing is left, the leading part is the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from hybridjit.codegen.math.roots import rsqrt
from hybridjit.codegen.math.values import Pair, Real, fma, mad, two_product, where

_MOST = 9


def _names() -> dict[float, str]:
    """The functions of this file: multiples of one half, but for those that are one operation."""
    halves = [k for k in range(-2 * _MOST, 2 * _MOST + 1) if k not in (-2, 0, 1, 2, 4, 6)]
    return {k / 2: f"pow_{'minus_' if k < 0 else ''}{abs(k)}_halves" for k in halves}


NAMES = _names()


def known_power(y: float) -> Callable[[Real], Real]:
    """The function x ** y."""

    def power(x: Real) -> Real:
        if y == int(y):
            result = _value(_raised(_base(x, y), abs(int(y))))
            return result.with_sign_of(x) if y % 2 else result  # that of zero
        result = rsqrt(abs(x)) if y == -0.5 else _value(_half_power(abs(x), y))
        # Only of negative infinity there is a power.
        result = where(x < 0.0, where(x.equals(-math.inf), result, math.nan), result)
        return where(x.is_nan(), x, result)

    return power


BODIES = {name: known_power(y) for y, name in NAMES.items()}


def _value(power: Pair) -> Real:
    return where(abs(power.lo) < math.inf, power.hi + power.lo, power.hi)


def _base(x: Real, y: float) -> Pair:
    """x, or what to multiply for negative exponents: 1 / x."""
    if y > 0:
        return Pair(x, x.of(0.0))
    quotient = 1.0 / x
    return Pair(quotient, quotient * fma(quotient, -x, 1.0))


def _half_power(x: Real, y: float) -> Pair:
    """x ** y of x >= 0, y a half more than an integer, or less: 1.5, 2.5, -1.5."""
    root = x.sqrt()
    excess = fma(root, -root, x)
    if y > 0:  # x times the error of the root, excess / (2 root), is excess root / 2
        product = two_product(x, root)
        first = Pair(product.hi, mad(excess * 0.5, root, product.lo))
        more = int(y) - 1
        return first if more == 0 else _times(first, _raised(Pair(x, x.of(0.0)), more))
    r = 1.0 / root
    error = fma(r, -root, 1.0) + (excess * r) * (r * -0.5)
    first = Pair(r, r * error)
    return _times(_raised(_times(first, first), int(-y)), first)


def _raised(base: Pair, count: int) -> Pair:
    """base ** count, by squares."""
    square, result = base, None
    while True:
        if count & 1:
            result = square if result is None else _times(result, square)
        count >>= 1
        if count == 0:
            assert result is not None
            return result
        square = _times(square, square)


def _times(a: Pair, b: Pair) -> Pair:
    product = two_product(a.hi, b.hi)
    return Pair(product.hi, mad(a.hi, b.lo, mad(a.lo, b.hi, product.lo)))
