"""Functions of NumPy on numbers, written in the language: applied to each element of an array.

What is chosen from is computed before, so that no branch is taken, and loops vectorise.
"""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.scalars.builtins import BUILTINS

np: Any = numpy
Number = Any
_LOG_2 = 0.6931471805599453
_LOG2_E = 1.4426950408889634


def as_float(x: Number, y: Number) -> Number:
    """x in the type in which NumPy computes functions of x and y: float16 for two int8.

    The language has it: there, what a type becomes depends on which numbers are Python's own.
    """
    return np.result_type(x, y, np.float16).type(x)


def clipped(x: Number, low: Number, high: Number) -> Number:
    """x, or the bound that it is beyond. The language has it."""
    return np.minimum(np.maximum(x, low), high)


def raised(x: Number, low: Number) -> Number:
    """x, or the bound that it is below. The language has it."""
    return np.maximum(x, low)


def lowered(x: Number, high: Number) -> Number:
    """x, or the bound that it is above. The language has it."""
    return np.minimum(x, high)


def inverse(x: Number) -> Number:
    """1 / x, of complex numbers rounded as np.reciprocal does. The language has it."""
    return np.reciprocal(x)


def is_inexact(x: Number) -> bool:
    """True for types that have a NaN."""
    return x.dtype.kind == "f" or x.dtype.kind == "c" or x.dtype == "bfloat16"


def fmax(x1: Number, x2: Number, out: Any = None) -> Number:
    """The larger one; a number, if the other is NaN."""
    return x1 if (x1 >= x2) | np.isnan(x2) else x2


def fmin(x1: Number, x2: Number, out: Any = None) -> Number:
    """The smaller one; a number, if the other is NaN."""
    return x1 if (x1 <= x2) | np.isnan(x2) else x2


def clip(
    a: Number,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Number:
    """A number, or the bound that it is beyond; a bound can be None."""
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    if low is None and high is None:
        return a
    if low is None:
        return lowered(a, high)
    return raised(a, low) if high is None else clipped(a, low, high)


def heaviside(x1: Number, x2: Number, out: Any = None) -> Number:
    """0 before zero, 1 after it, and x2 at it."""
    x, at_zero = as_float(x1, x2), as_float(x2, x1)
    step = x if np.isnan(x) else (0 if x < 0 else 1)
    return at_zero if x == 0 else step


def signbit(x: Number, out: Any = None) -> Number:
    """Whether the sign is that of a negative number, zeros included."""
    return np.copysign(1, x) < 0


def deg2rad(x: Number, out: Any = None) -> Number:
    """Degrees as radians."""
    return as_float(x, x) * (np.pi / 180)


def rad2deg(x: Number, out: Any = None) -> Number:
    """Radians as degrees."""
    return as_float(x, x) * (180 / np.pi)


radians = deg2rad
degrees = rad2deg


def logaddexp(x1: Number, x2: Number, out: Any = None) -> Number:
    """log(exp(x1) + exp(x2)), without overflow."""
    x, y = as_float(x1, x2), as_float(x2, x1)
    apart = np.maximum(x, y) + np.log1p(np.exp(-np.absolute(x - y)))
    return x + _LOG_2 if x == y else apart


def logaddexp2(x1: Number, x2: Number, out: Any = None) -> Number:
    """log2(2**x1 + 2**x2), without overflow."""
    x, y = as_float(x1, x2), as_float(x2, x1)
    apart = np.maximum(x, y) + _LOG2_E * np.log1p(np.exp2(-np.absolute(x - y)))
    return x + 1 if x == y else apart


def float_power(x1: Number, x2: Number, out: Any = None) -> Number:
    """A power, in double precision at least."""
    wide = np.result_type(x1, x2, np.float64)
    return x1.astype(wide) ** x2.astype(wide)


def reciprocal(x: Number, out: Any = None) -> Number:
    """1 / x."""
    if not is_inexact(x):
        raise NotImplementedError("it takes floats here", "write 1.0 / x")
    return inverse(x)


def _check_integers(x1: Number, x2: Number) -> None:
    kind = np.result_type(x1, x2).kind
    if kind != "i" and kind != "u":
        raise TypeError("it takes integers only")


def gcd(x1: Number, x2: Number, out: Any = None) -> Number:
    """The largest integer that divides both."""
    _check_integers(x1, x2)
    a, b = abs(x1), abs(x2)
    while b != 0:
        a, b = b, a % b
    return abs(a)  # the least number of a type stays negative on the way


def lcm(x1: Number, x2: Number, out: Any = None) -> Number:
    """The smallest integer that both divide."""
    divisor = gcd(x1, x2)
    if divisor == 0:
        return divisor
    # Divided first: abs() of the least number of a narrower type would stay negative.
    return abs(x1 // divisor) * abs(x2 // divisor) * divisor


def sinc(x: Number) -> Number:
    """sin(pi x) / (pi x)."""
    scaled = np.pi * x
    y = scaled if scaled != 0 else _smallest(scaled)
    return np.sin(y) / y


def _smallest(x: Number) -> Any:
    """A number close to zero."""
    if x.dtype.kind == "f":
        return np.finfo(x.dtype).eps
    return 1e-20


def _complex(real: Number, imag: Number, dtype: Any) -> Number:
    return np.complex128(complex(real, imag)).astype(dtype)


def _replace(x: Number, nan: Any, posinf: Any, neginf: Any) -> Number:
    largest = np.finfo(x.dtype).max if posinf is None else posinf
    smallest = np.finfo(x.dtype).min if neginf is None else neginf
    finite = largest if x == np.inf else (smallest if x == -np.inf else x)
    return (nan if np.isnan(x) else finite).astype(x.dtype)


def nan_to_num(
    x: Number, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Number:
    """x, or what stands for NaN and the infinities."""
    if not copy:
        raise NotImplementedError(
            "copy=False is not supported here", "write x[:] = np.nan_to_num(x)"
        )
    if not is_inexact(x):
        return x
    if x.dtype.kind != "c":
        return _replace(x, nan, posinf, neginf)
    real, imag = _replace(x.real, nan, posinf, neginf), _replace(x.imag, nan, posinf, neginf)
    return _complex(real, imag, x.dtype)


def angle(z: Number, deg: bool = False) -> Number:
    """The angle of a complex number."""
    found = np.arctan2(z.imag, z.real) if z.dtype.kind == "c" else np.arctan2(0, z)
    return found * (180 / np.pi) if deg else found


def _check_real(x: Number) -> None:
    if x.dtype.kind == "c":
        raise TypeError("it takes real numbers only")


def isneginf(x: Number, out: Any = None) -> Number:
    """Whether x is -inf."""
    _check_real(x)
    return x == -np.inf


def isposinf(x: Number, out: Any = None) -> Number:
    """Whether x is inf."""
    _check_real(x)
    return x == np.inf


def isreal(x: Number) -> Number:
    """Whether the imaginary part is zero."""
    return np.imag(x) == 0


def iscomplex(x: Number) -> Number:
    """Whether the imaginary part is not zero."""
    return np.imag(x) != 0


def _rounded(x: Number, decimals: int) -> Number:
    if decimals == 0:
        return np.rint(x)
    if decimals > 0:
        return np.rint(x * 10.0**decimals) / 10.0**decimals
    return np.rint(x / 10.0**-decimals) * 10.0**-decimals


def round(a: Number, decimals: int = 0, out: Any = None) -> Number:
    """Round to a number of decimals, halves to even."""
    if a.dtype == "bool":
        return a.astype(np.float16)
    if not is_inexact(a):
        return a if decimals >= 0 else _rounded(a, decimals).astype(a.dtype)
    if a.dtype.kind == "c":
        return _complex(_rounded(a.real, decimals), _rounded(a.imag, decimals), a.dtype)
    return _rounded(a, decimals)


around = round


def _beside(size: Number, is_larger: bool) -> Number:
    """The next number to a positive one, larger or smaller (Rump et al. 2009).

    A bit more than half of the distance is added, and the sum is rounded; small numbers are
    computed with where the distance is not rounded.
    """
    tiny, eps = np.finfo(size.dtype).tiny, np.finfo(size.dtype).eps
    is_small = size < 1
    scaled = size * (1 / (2 * tiny)) if is_small else size
    step = scaled * (eps / 2 * (1 + eps))
    moved = scaled + step if is_larger else scaled - step
    normal = moved * (2 * tiny) if is_small else moved
    return (size + tiny * eps if is_larger else size - tiny * eps) if size < 2 * tiny else normal


def nextafter(x1: Number, x2: Number, out: Any = None) -> Number:
    """The next number after x1 in the direction of x2."""
    x, towards = as_float(x1, x2), as_float(x2, x1)
    largest, smallest = np.finfo(x.dtype).max, np.finfo(x.dtype).tiny * np.finfo(x.dtype).eps
    is_half = x.dtype == "float16"
    moved = _beside(np.absolute(x), (towards > x) == (x > 0))
    away = np.copysign(largest if np.isinf(x) else moved, x)
    found = np.copysign(smallest, towards) if x == 0 else away
    # The second, unless they are of half precision: they may be zeros with other signs.
    same = (x if is_half else towards) if x == towards else found
    return x + towards if np.isnan(x) | np.isnan(towards) else same


def spacing(x: Number, out: Any = None) -> Number:
    """How far the next number is that is further from zero, with the sign of x.

    Half precision is different in NumPy: the next number is the larger one.
    """
    value = as_float(x, x)
    if value.dtype == "float16":
        return np.nan if np.isinf(value) else nextafter(value, np.inf) - value
    return nextafter(value, -np.inf if value < 0 else np.inf) - value


# scipy.special

_erf, _erfc, _gamma, _lgamma, _sigmoid = (
    BUILTINS[name] for name in ("erf", "erfc", "gamma", "lgamma", "sigmoid")
)


def _single_or_double(x: Number) -> Number:
    """x in the type in which scipy computes: double, unless it is single."""
    if x.dtype.kind == "c":
        raise NotImplementedError("it takes real numbers here", "take x.real or np.absolute(x)")
    return x if x.dtype == "float32" else x.astype(np.float64)


def special_erf(x: Number, out: Any = None) -> Number:
    return _erf(_single_or_double(x))


def special_erfc(x: Number, out: Any = None) -> Number:
    return _erfc(_single_or_double(x))


def special_gamma(x: Number, out: Any = None) -> Number:
    return _gamma(_single_or_double(x))


def special_gammaln(x: Number, out: Any = None) -> Number:
    return _lgamma(_single_or_double(x))


def special_expit(x: Number, out: Any = None) -> Number:
    """1 / (1 + exp(-x))."""
    return _sigmoid(_single_or_double(x))


def special_logit(x: Number, out: Any = None) -> Number:
    """log(x / (1 - x))."""
    wide = _single_or_double(x)
    return np.log(wide) - np.log1p(-wide)


def special_ndtr(x: Number, out: Any = None) -> Number:
    """The area below the bell curve up to x."""
    return 0.5 * _erfc(_single_or_double(x) * -0.7071067811865476)


def special_xlogy(x1: Number, x2: Number, out: Any = None) -> Number:
    """x1 * log(x2), and 0 if x1 is."""
    x, y = _single_or_double(as_float(x1, x2)), _single_or_double(as_float(x2, x1))
    return 0 * x if (x == 0) & ~np.isnan(y) else x * np.log(y)


def special_log1p(x: Number, out: Any = None) -> Number:
    return np.log1p(_single_or_double(x))


def special_expm1(x: Number, out: Any = None) -> Number:
    return np.expm1(_single_or_double(x))


def special_exp2(x: Number, out: Any = None) -> Number:
    return np.exp2(_single_or_double(x))


def special_cbrt(x: Number, out: Any = None) -> Number:
    return np.cbrt(_single_or_double(x))
