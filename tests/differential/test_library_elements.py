"""Functions of NumPy on numbers that are written in the language: every type, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree

np: Any = numpy
NAN, INF = np.nan, np.inf
FLOATS = [0.0, -0.0, 1.0, -2.5, 0.125, 3.5, 100.25, -7.75, NAN, INF, -INF, 0.5]
INTEGERS = [0, 1, 2, 3, 4, 6, 12, 9, 15, 1, 0, 5]
OF_FLOATS = ("float16", "float32", "float64")
OF_INTEGERS = ("int8", "uint8", "int16", "int32", "int64", "uint64")
OF_REALS = (*OF_FLOATS, *OF_INTEGERS, "bool")
# What is called, and the types of `x` that it is called with. `y` is x in another order.
CALLS = {
    "np.fmax(x, y)": OF_REALS,
    "np.fmin(x, y)": OF_REALS,
    "np.fmax(x, 1)": OF_REALS,
    "np.heaviside(x, 0.5)": OF_REALS,
    "np.heaviside(x, 2)": OF_REALS,
    "np.heaviside(x, y)": OF_REALS,
    "np.signbit(x)": OF_REALS,
    "np.deg2rad(x)": OF_REALS,
    "np.rad2deg(x)": OF_REALS,
    "np.radians(x) + np.degrees(x)": OF_FLOATS,
    "np.logaddexp(x, y)": OF_FLOATS,
    "np.logaddexp2(x, y)": OF_FLOATS,
    "np.float_power(np.fabs(x), 2)": OF_REALS,
    "np.float_power(x, y)": OF_INTEGERS,
    "np.reciprocal(x)": (*OF_FLOATS, "complex64", "complex128"),
    "np.nextafter(x, y)": OF_REALS,
    "np.nextafter(x, 2)": OF_REALS,
    "np.spacing(x)": OF_REALS,
    "np.gcd(x, y)": OF_INTEGERS,
    "np.gcd(x, 6)": OF_INTEGERS,
    "np.lcm(x, y)": ("int16", "int32", "int64", "uint64"),
    "np.sinc(x)": (*OF_FLOATS, "int16", "int32", "int64"),
    "np.nan_to_num(x)": (*OF_REALS, "complex128"),
    "np.nan_to_num(x, nan=7.0, posinf=1.0, neginf=-1.0)": (*OF_REALS, "complex64"),
    "np.angle(x)": (*OF_FLOATS, "int32", "complex64", "complex128"),
    "np.angle(x, deg=True)": (*OF_FLOATS, "complex128"),
    "np.isneginf(x)": OF_REALS,
    "np.isposinf(x)": OF_REALS,
    "np.isreal(x)": (*OF_REALS, "complex128"),
    "np.iscomplex(x)": (*OF_REALS, "complex128"),
    "np.round(x)": (*OF_FLOATS, *OF_INTEGERS, "complex128"),
    "np.round(x, 1)": (*OF_FLOATS, *OF_INTEGERS, "complex64"),
    "np.around(x, decimals=2)": (*OF_FLOATS, *OF_INTEGERS),
    "np.round(x, -1)": (*OF_FLOATS, *OF_INTEGERS),
    "x.round(1)": OF_FLOATS,
    "np.fix(x)": (*OF_FLOATS, *OF_INTEGERS),
    "np.invert(x)": (*OF_INTEGERS, "bool"),
    "np.fmax(x, y, x)": OF_REALS,
    "np.fmin(x, y, out=x)": OF_REALS,
    "np.fmax(2, 3.5), np.heaviside(0, 2), np.deg2rad(90), np.gcd(12, 18), np.round(2.567, 1)": (
        "float32",
    ),
    "np.heaviside(2, x), np.fmin(1.5, x), np.logaddexp(0, x)": OF_FLOATS,
}


def _values(dtype: str) -> Any:
    if dtype == "bool":
        return np.array(INTEGERS) % 2 == 1
    if dtype.startswith("complex"):
        return np.array(list(map(complex, FLOATS, FLOATS[::-1])), dtype)
    return np.array(INTEGERS if "int" in dtype else FLOATS, dtype)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("call", CALLS)
def test_is_as_in_numpy(call: str) -> None:
    kernel = script_from_text(f"def f(x, y):\n    return {call}\n", {"np": np})
    for dtype in CALLS[call]:
        x = _values(dtype)
        assert_agree(kernel, [x, np.roll(x, 5)])


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_divisors_and_multiples_of_the_least_numbers(dtype: str) -> None:
    """The least number has no positive one beside it; multiples wrap around."""
    least, largest = np.iinfo(dtype).min, np.iinfo(dtype).max
    numbers = np.array([least, least // 2, -6, -1, 0, 1, 6, 13, 15, largest], dtype)
    x, y = (grid.ravel() for grid in np.meshgrid(numbers, numbers))
    kernel = script_from_text("def f(x, y):\n    return np.gcd(x, y), np.lcm(x, y)\n", {"np": np})
    assert_agree(kernel, [x, y])
    assert_agree(kernel, [x, y.astype("int64")])  # where the least number of x has a positive one


def _integers(x: Any) -> Any:
    return np.reciprocal(x)


def test_the_reciprocals_of_integers_are_refused():
    with pytest.raises(ParseError, match=r"it takes floats here(.|\n)*write 1.0 / x"):
        hybrid.script(_integers)(np.arange(3))
