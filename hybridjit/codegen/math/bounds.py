"""The error bounds that we state, in units in the last place of the exact result.

They hold over the whole range of arguments, subnormal numbers in and out included. The tests
check them on a sample; the worst errors seen in larger runs (tens of millions of float32
arguments, millions of float64 ones, against 113-bit arithmetic) stand next to them.

float64 lgamma has zeros left of -2, near which no relative bound holds: for x < 0 its error is at
most 4 * 2**-53 * max(1, |lgamma(x)|).

Functions that are not listed are exact, or correctly rounded.
"""

from __future__ import annotations

from hybridjit.record import record


@record
class Bound:
    """In ulp: what is promised, and the worst that was found."""

    float32: float
    float64: float
    worst_float32: float
    worst_float64: float


BOUNDS: dict[str, Bound] = {
    "exp": Bound(1.1, 1.1, 0.986, 1.048),
    "exp2": Bound(1.0, 1.0, 0.939, 0.933),
    "expm1": Bound(1.4, 1.5, 1.281, 1.316),
    "log": Bound(1.0, 0.9, 0.89, 0.804),
    "log2": Bound(1.1, 1.0, 0.996, 0.899),
    "log10": Bound(1.0, 1.0, 0.916, 0.86),
    "log1p": Bound(1.1, 0.9, 0.992, 0.799),
    "sqrt": Bound(0.5, 0.5, 0.5, 0.5),
    "rsqrt": Bound(0.6, 0.6, 0.501, 0.501),
    "cbrt": Bound(0.6, 0.6, 0.501, 0.512),
    "sin": Bound(0.9, 0.9, 0.774, 0.777),
    "cos": Bound(0.9, 0.9, 0.781, 0.767),
    "tan": Bound(1.6, 1.6, 1.37, 1.446),
    "asin": Bound(1.8, 1.8, 1.626, 1.568),
    "acos": Bound(1.3, 1.3, 1.129, 1.107),
    "atan": Bound(1.8, 2.2, 1.482, 1.955),
    "atan2": Bound(1.8, 2.2, 1.503, 1.818),
    "sinh": Bound(1.7, 2.0, 1.526, 1.964),
    "cosh": Bound(2.3, 2.0, 2.025, 1.498),
    "tanh": Bound(2.7, 2.7, 2.407, 2.362),
    "asinh": Bound(2.8, 2.8, 2.535, 2.348),
    "acosh": Bound(2.5, 2.7, 2.072, 2.382),
    "atanh": Bound(2.3, 2.3, 1.975, 1.863),
    "sigmoid": Bound(2.7, 2.5, 2.402, 2.214),
    "erf": Bound(1.4, 1.4, 1.199, 1.129),
    "erfc": Bound(2.5, 2.5, 2.122, 2.152),
    "gamma": Bound(1.0, 3.5, 0.751, 2.917),
    "lgamma": Bound(0.6, 3.0, 0.501, 1.777),
    "hypot": Bound(0.6, 0.6, 0.501, 0.501),
    "pow": Bound(1.5, 1.5, 1.164, 1.305),
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
