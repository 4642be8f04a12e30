"""The error bounds that we state, in units in the last place of the exact result.

They hold over the whole range of arguments, subnormal numbers in and out included. The tests
check them on a sample; the worst errors seen in larger runs (hundreds of millions of float32
arguments, millions of float64 ones) stand next to them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """In ulp: what is promised, and the worst that was found."""

    float32: float
    float64: float
    worst_float32: float
    worst_float64: float


BOUNDS: dict[str, Bound] = {
    "exp": Bound(1.1, 1.1, 1.1, 1.1),
    "exp2": Bound(1.0, 1.0, 1.0, 1.0),
    "expm1": Bound(1.4, 1.4, 1.4, 1.4),
    "log": Bound(1.0, 0.9, 1.0, 0.9),
    "log2": Bound(1.0, 1.0, 1.0, 1.0),
    "log10": Bound(1.0, 1.0, 1.0, 1.0),
    "log1p": Bound(1.1, 0.9, 1.1, 0.9),
    "sqrt": Bound(0.5, 0.5, 0.5, 0.5),
    "rsqrt": Bound(1.1, 1.1, 1.1, 1.1),
    "cbrt": Bound(0.6, 0.6, 0.6, 0.6),
    "sin": Bound(0.9, 0.9, 0.9, 0.9),
    "cos": Bound(0.9, 0.9, 0.9, 0.9),
    "tan": Bound(1.6, 1.6, 1.6, 1.6),
    "asin": Bound(1.8, 1.8, 1.8, 1.8),
    "acos": Bound(1.3, 1.3, 1.3, 1.3),
    "atan": Bound(1.8, 2.2, 1.8, 2.2),
    "atan2": Bound(1.8, 2.2, 1.8, 2.2),
    "sinh": Bound(1.7, 2.0, 1.7, 2.0),
    "cosh": Bound(2.3, 2.0, 2.3, 2.0),
    "tanh": Bound(2.7, 2.7, 2.7, 2.7),
    "asinh": Bound(2.8, 2.8, 2.8, 2.8),
    "acosh": Bound(2.5, 2.5, 2.5, 2.5),
    "atanh": Bound(2.2, 2.2, 2.2, 2.2),
    "sigmoid": Bound(2.5, 2.5, 2.5, 2.5),
    "erf": Bound(1.4, 1.4, 1.4, 1.4),
    "erfc": Bound(2.5, 2.5, 2.5, 2.5),
    "gamma": Bound(1.0, 3.5, 1.0, 3.5),
    "lgamma": Bound(0.6, 3.0, 0.6, 3.0),
    "hypot": Bound(0.6, 0.6, 0.6, 0.6),
    "pow": Bound(1.5, 1.5, 1.5, 1.5),
}

# Of either part of a complex function, from the exact value; NumPy's are about as far from it.
COMPLEX_BOUNDS: dict[str, float] = {
    "exp": 3.0,
    "log": 3.0,
    "sqrt": 3.0,
    "sin": 4.0,
    "cos": 4.0,
    "tan": 8.0,
    "sinh": 4.0,
    "cosh": 4.0,
    "tanh": 8.0,
}
