"""The math functions in mpmath, arguments to try them on, and errors in ulp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

mp: Any = mpmath.mp  # mpmath has no types
mpf: Any = mpmath.mpf
mpc: Any = mpmath.mpc

Array = np.ndarray[Any, Any]
Reference = Callable[..., Any]

# precision, smallest and largest exponent of a normal number
FORMATS = {"float32": (24, -126, 127), "float64": (53, -1022, 1023)}
PRECISION = 160


def _inside(function: Reference, low: float, high: float) -> Reference:
    """`function` on an interval; None outside it."""

    def inside(x: Any) -> Any:
        return function(x) if low <= x <= high else None

    return inside


def _exp2(x: Any) -> Any:
    return mp.exp(x * mp.ln2)


def _log2(x: Any) -> Any:
    return mp.log(x) / mp.ln2


def _log10(x: Any) -> Any:
    return mp.log(x) / mp.ln10


def _log1p(x: Any) -> Any:
    return mp.log1p(x) if x > -1 else None


def _rsqrt(x: Any) -> Any:
    return 1 / mp.sqrt(x)


def _cbrt(x: Any) -> Any:
    return mp.sign(x) * mp.cbrt(abs(x))


def _gamma(x: Any) -> Any:
    return None if x <= 0 and x == mp.floor(x) else mp.gamma(x)


def _lgamma(x: Any) -> Any:
    if x <= 0 and x == mp.floor(x):
        return mp.inf
    if x > 0:
        return mp.loggamma(x)
    return mp.log(mp.pi / abs(mp.sinpi(x) * x)) - mp.loggamma(-x)


def _power(x: Any, y: Any) -> Any:
    if x == 0 or (x < 0 and y != mp.floor(y)):
        return None
    magnitude = mp.exp(y * mp.log(abs(x))) if x not in (1, -1) else mpf(1)
    return -magnitude if x < 0 and y % 2 == 1 else magnitude


def _atanh(x: Any) -> Any:
    return mp.atanh(x) if abs(x) < 1 else x * mp.inf if abs(x) == 1 else None


def _erfc(x: Any) -> Any:
    return mp.erfc(x) if abs(x) < 100 else mpf(0 if x > 0 else 2)  # mpmath fails far out


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


REFERENCES: dict[str, Reference] = {
    "exp": mp.exp,
    "exp2": _exp2,
    "expm1": mp.expm1,
    "log": _inside(mp.log, 5e-324, mp.inf),
    "log2": _inside(_log2, 5e-324, mp.inf),
    "log10": _inside(_log10, 5e-324, mp.inf),
    "log1p": _log1p,
    "sqrt": _inside(mp.sqrt, 0, mp.inf),
    "rsqrt": _inside(_rsqrt, 5e-324, mp.inf),
    "cbrt": _cbrt,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "asin": _inside(mp.asin, -1, 1),
    "acos": _inside(mp.acos, -1, 1),
    "atan": mp.atan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "asinh": mp.asinh,
    "acosh": _inside(mp.acosh, 1, mp.inf),
    "atanh": _atanh,
    "sigmoid": _sigmoid,
    "erf": mp.erf,
    "erfc": _erfc,
    "gamma": _gamma,
    "lgamma": _lgamma,
    "atan2": mp.atan2,
    "hypot": mp.hypot,
    "pow": _power,
}
ARITY = {"atan2": 2, "hypot": 2, "pow": 2}


def arguments(name: str, dtype: str, count: int, seed: int = 0) -> list[Array]:
    """All exponents, moderate values, and neighbourhoods of the places where methods change."""
    rng = np.random.default_rng([seed, *name.encode()])
    return [_points(rng, dtype, count) for _ in range(ARITY.get(name, 1))]


def _points(rng: np.random.Generator, dtype: str, count: int) -> Array:
    patterns = random_patterns(rng, dtype, count)
    spread = np.ldexp(rng.uniform(-1, 1, count), rng.integers(-40, 10, count))
    near_one = 1 + np.ldexp(rng.uniform(-1, 1, count), rng.integers(-50, 0, count))
    slips = 1 + np.ldexp(rng.uniform(-1, 1, count), rng.integers(-53, -3, count))
    near_pi = rng.integers(-4000, 4000, count) * (np.pi / 4) * slips
    near_ln2 = (rng.integers(-1100, 1100, count) + 0.5) * np.log(2) * slips
    parts = (patterns, spread, near_one, near_pi, near_ln2, rng.uniform(-30, 30, count))
    with np.errstate(all="ignore"):
        points = np.concatenate([part.astype("float64") for part in parts]).astype(dtype)
    return rng.permutation(points[np.isfinite(points)])[: 5 * count]


def random_patterns(rng: np.random.Generator, dtype: str, count: int) -> Array:
    """Floats with uniformly distributed bits: all exponents, NaN and infinity too."""
    bits = int(dtype[-2:])
    patterns: Any = rng.integers(0, 2**bits, count, dtype=f"uint{bits}")
    return patterns.view(dtype)


def error_in_ulp(name: str, dtype: str, result: float, *args: float) -> float:
    """How far the result is from the exact value; infinite when one is NaN and the other not."""
    with mp.workprec(PRECISION):
        exact = REFERENCES[name](*map(mpf, args))
        if exact is None or isinstance(exact, mpc) or np.isnan(result):
            return 0.0 if exact is None and np.isnan(result) else np.inf
        precision, lowest, highest = FORMATS[dtype]
        overflow = mpf(2) ** (highest + 1)
        exact = max(min(exact, overflow), -overflow)
        actual = max(min(mpf(result), overflow), -overflow)
        exponent = int(mp.frexp(exact)[1]) - 1 if exact != 0 else lowest
        ulp = mpf(2) ** (min(max(exponent, lowest), highest) - precision + 1)
        return float(abs(actual - exact) / ulp)
