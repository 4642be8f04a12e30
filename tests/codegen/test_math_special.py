"""Zeros, infinities, NaN: the class and the sign of results, as NumPy and C99 have them."""

import math
from typing import Any

import numpy as np
import pytest

from hybridjit.interp.scalars import FUNCTIONS
from hybridjit.ir.dtype import dtype_named
from tests.codegen.native_math import Array, compile_loop

INF, NAN = math.inf, math.nan
pytestmark = pytest.mark.sampled(2)
VALUES = (0.0, 1.0, 0.5, 2.0, 3.0, 2.5, INF, 1e-40, 1e30, 1e-320, 1e300)
SIGNED = np.array([*VALUES, *(-v for v in VALUES), NAN])

NUMPY_NAMES = {
    **{name: name for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt")},
    **{name: name for name in ("cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: name for name in ("floor", "ceil", "trunc", "rint", "sign")},
    **{name: f"arc{name[1:]}" for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
    "abs": "absolute",
}
NUMPY_BINARY = {
    "pow": "power",
    "atan2": "arctan2",
    "hypot": "hypot",
    "copysign": "copysign",
    "minimum": "minimum",
    "maximum": "maximum",
}


def kinds(values: Array) -> list[str]:
    """What a value is, apart from its digits."""
    return ["nan" if np.isnan(v) else f"{'-' if np.signbit(v) else '+'}{_size(v)}" for v in values]


def _size(value: float) -> str:
    magnitude = abs(value)
    return (
        "inf"
        if magnitude == INF
        else "zero"
        if magnitude == 0
        else "one"
        if magnitude == 1
        else "finite"
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NUMPY_NAMES)
def test_special_values_are_numpys(name: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        x = SIGNED.astype(dtype)
        expected = getattr(np, NUMPY_NAMES[name])(x)
    assert kinds(compile_loop(name, dtype_named(dtype))(x)) == kinds(expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NUMPY_BINARY)
def test_special_pairs_are_numpys(name: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        x = np.repeat(SIGNED, len(SIGNED)).astype(dtype)
        y = np.tile(SIGNED, len(SIGNED)).astype(dtype)
        expected = getattr(np, NUMPY_BINARY[name])(x, y)
    assert kinds(compile_loop(name, dtype_named(dtype), 2)(x, y)) == kinds(expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("erf", [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN)]),
        ("erfc", [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 2.0), (NAN, NAN), (30.0, 0.0)]),
        ("gamma", [(0.0, INF), (-0.0, -INF), (-1.0, NAN), (-INF, NAN), (INF, INF), (NAN, NAN)]),
        (
            "gamma",
            [(1.0, 1.0), (5.0, 24.0), (0.5, 1.772453850905516), (200.0, INF), (-190.5, -0.0)],
        ),
        ("lgamma", [(0.0, INF), (-0.0, INF), (-3.0, INF), (-INF, INF), (INF, INF), (NAN, NAN)]),
        ("lgamma", [(1.0, 0.0), (2.0, 0.0)]),
        ("rsqrt", [(0.0, INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (NAN, NAN), (4.0, 0.5)]),
        ("sigmoid", [(0.0, 0.5), (-INF, 0.0), (INF, 1.0), (NAN, NAN), (-1e4, 0.0), (1e4, 1.0)]),
        ("isnan", [(NAN, 1.0), (INF, 0.0), (1.0, 0.0)]),
        ("isinf", [(NAN, 0.0), (INF, 1.0), (-INF, 1.0), (1.0, 0.0)]),
        ("isfinite", [(NAN, 0.0), (INF, 0.0), (1.0, 1.0), (-0.0, 1.0)]),
    ],
)
def test_special_values(name: str, pairs: list[tuple[float, float]], dtype: str) -> None:
    x, expected = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    actual = compile_loop(name, dtype_named(dtype))(x)
    np.testing.assert_array_equal(actual, expected)
    finite = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(actual)[finite], np.signbit(expected)[finite])


HALF_FUNCTIONS = [*NUMPY_NAMES, "sigmoid", "erf", "erfc", "gamma", "lgamma", "rsqrt"]
HALF_ULP = 0.5 + 4 * 2.0**-13  # one rounding of a float32 result that is within 4 ulp


def every_pattern(dtype: Any) -> Array:
    patterns: Any = np.arange(1 << 16, dtype="uint16")
    return patterns.view(dtype)


def clip(values: Array, low: float, high: float) -> Array:
    return np.minimum(np.maximum(values, low), high)


@pytest.mark.parametrize("name", HALF_FUNCTIONS)
def test_every_float16_is_rounded_once(name: str) -> None:
    """Against our float64 functions, which the accuracy tests hold to mpmath."""
    x = every_pattern("float16")
    with np.errstate(all="ignore"):  # NumPy on ARM warns of NaN that signals
        actual = compile_loop(name, dtype_named("float16"))(x).astype("float64")
        exact = compile_loop(name, dtype_named("float64"))(x.astype("float64"))
        assert np.isnan(actual).tolist() == np.isnan(exact).tolist()
        limit = 2.0**16
        difference = np.abs(clip(actual, -limit, limit) - clip(exact, -limit, limit))
        exponent = np.floor(np.log2(clip(np.abs(exact), 2.0**-14, 2.0**15)))
    assert np.nanmax(difference / 2.0 ** (exponent - 10)) <= HALF_ULP


def test_bfloat16_is_rounded_to_nearest_even() -> None:
    dtype = dtype_named("bfloat16")
    x = every_pattern(dtype.numpy)
    actual = compile_loop("exp", dtype)(x)
    with np.errstate(all="ignore"):
        exact = compile_loop("exp", dtype_named("float64"))(x.astype("float64"))
        expected = exact.astype("float32").astype(dtype.numpy)
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(expected))
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(actual[number], expected[number])


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "rint", "sign", "abs", "sqrt"])
@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_exact_functions_have_numpys_bits_for_every_half(half: str, name: str) -> None:
    """Also the sign of zero: of np.sign(-0.0) it differs from one type to the other."""
    dtype = dtype_named(half)
    x = every_pattern(dtype.numpy)
    with np.errstate(all="ignore"):
        expected = getattr(np, NUMPY_NAMES[name])(x)
        number = ~np.isnan(expected.astype("float32"))
        actual = compile_loop(name, dtype)(x)
        interpreted = np.array([FUNCTIONS[name](value) for value in x[number]], dtype.numpy)
        assert np.isnan(actual.astype("float32")).tolist() == (~number).tolist()
    bits = expected[number].view("uint16")
    np.testing.assert_array_equal(actual[number].view("uint16"), bits)
    np.testing.assert_array_equal(interpreted.view("uint16"), bits)
