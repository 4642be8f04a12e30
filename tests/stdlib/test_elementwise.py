"""Elementwise operators against NumPy's functions: types, broadcasting, layouts, special values."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridjit import stdlib as hs
from tests.support import operator_references as reference
from tests.support.rows import in_each

Array = Any
RNG = np.random.default_rng(0)
# Positive, negative, halves, and what is no number.
FLOATS = np.array([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -3.25, 100.0, np.inf, -np.inf, np.nan])
INTEGERS = np.array([0, 1, 2, 3, 7, 100])
ERF: Any = np.vectorize(math.erf, otypes=[float])


def expected(function: Callable[..., Array], *args: Any) -> Array:
    """What NumPy gives, without its warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(function(*args))


def check(found: Array, wanted: Array, ulp: int = 4) -> None:
    assert type(found) is np.ndarray
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if wanted.dtype.kind in "fc":
        tolerance = ulp * reference.eps(wanted.dtype)
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=0)
    else:
        np.testing.assert_array_equal(found, wanted)


BINARY = (
    *("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "hypot", "arctan2"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("logical_and", "logical_or", "logical_xor", "copysign", "fmod", "remainder", "floor_divide"),
)
NOT_OF_INTEGERS = ("fmod", "remainder", "floor_divide", "power")  # they divide by 0
BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
UNARY = (
    *("negative", "absolute", "sign", "square", "exp", "exp2", "expm1", "log", "log2", "log10"),
    *("log1p", "sqrt", "cbrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh"),
    *("tanh", "arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc", "rint", "isnan", "isinf"),
    *("isfinite", "logical_not"),
)


@pytest.mark.parametrize("name", BINARY)
@in_each("dtype", ["float32", "float64"])
def test_floats_of_two_operands(name: str, dtype: str) -> None:
    x, y = (grid.astype(dtype) for grid in np.meshgrid(FLOATS, FLOATS))
    check(getattr(hs, name)(x, y), expected(getattr(np, name), x, y))


@pytest.mark.parametrize("name", [name for name in BINARY if name not in NOT_OF_INTEGERS])
@in_each("types", [("int8", "int8"), ("int32", "uint8"), ("uint64", "int64")])
def test_integers_of_two_operands(name: str, types: tuple[str, str]) -> None:
    x, y = (
        grid.astype(dtype)
        for grid, dtype in zip(np.meshgrid(INTEGERS, INTEGERS), types, strict=True)
    )
    check(getattr(hs, name)(x, y), expected(getattr(np, name), x, y))


@pytest.mark.parametrize("name", BITWISE)
def test_bits(name: str) -> None:
    x, y = np.meshgrid(INTEGERS, INTEGERS[:5])
    check(getattr(hs, name)(x, y), expected(getattr(np, name), x, y))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", UNARY)
@in_each("dtype", ["float32", "float64", "int16"])
def test_functions_of_one_operand(name: str, dtype: str) -> None:
    x = INTEGERS.astype(dtype) if dtype == "int16" else FLOATS.astype(dtype)
    check(getattr(hs, name)(x), expected(getattr(np, name), x))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum"])
@pytest.mark.parametrize("other", ["float16", "float32", "int64", "bool", "complex64"])
def test_types_promote_as_in_numpy(name: str, other: str) -> None:
    if (name, other) == ("maximum", "complex64"):
        pytest.skip("complex numbers have no order here")
    for dtype in ("bool", "int8", "uint32", "float32", "float64"):
        x, y = np.ones(3, dtype), np.ones(3, other)
        check(getattr(hs, name)(x, y), expected(getattr(np, name), x, y))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "number", [2, 2.5, True, 1 + 2j, *(t(3) for t in (np.float32, np.int8, np.int64, np.uint64))]
)
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "bool"])
def test_numbers_give_way_as_in_numpy(number: Any, dtype: str) -> None:
    x = np.ones((2, 3), dtype)
    check(hs.add(x, number), expected(np.add, x, number))
    check(hs.multiply(number, x), expected(np.multiply, number, x))


def test_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(OverflowError, match="300 out of bounds for int8"):
        hs.add(np.ones(3, np.int8), 300)


SHAPES = st.lists(st.sampled_from([1, 2, 3, 5, 17]), max_size=4).map(tuple)


@st.composite
def broadcastable(draw: st.DrawFn) -> tuple[Array, Array]:
    """Two arrays that broadcast, of any layout."""
    shape = draw(SHAPES)
    operands: list[Array] = []
    for _ in range(2):
        own = tuple(1 if draw(st.booleans()) else size for size in shape)
        own = own[draw(st.integers(0, len(own))) :]
        operands.append(laid_out(draw, np.random.default_rng(0).random(own).astype("float32")))
    return operands[0], operands[1]


def laid_out(draw: st.DrawFn, array: Array) -> Array:
    """The same elements somewhere else in memory."""
    match draw(st.sampled_from(["C", "F", "reversed", "every other"])):
        case "F":
            return np.asfortranarray(array)
        case "reversed":
            return array[::-1].copy()[::-1] if array.ndim else array
        case "every other":
            wide = np.repeat(array, 2, axis=-1) if array.ndim else array
            return wide[..., ::2] if array.ndim else wide
        case _:
            return array


@given(broadcastable())
def test_broadcasting_and_layouts(operands: tuple[Array, Array]) -> None:
    x, y = operands
    check(hs.subtract(x, y), np.subtract(x, y))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 2)])
def test_empty_arrays(shape: tuple[int, ...]) -> None:
    x = np.ones(shape)
    check(hs.exp(x), np.exp(x))
    check(hs.add(x, 1), x + 1)


def test_arrays_without_dimensions() -> None:
    found = hs.add(np.float64(1.5) + np.zeros(()), np.ones(()))
    check(found, np.array(2.5))


def test_where_and_clip() -> None:
    x: Array = RNG.normal(size=(3, 5)).astype("float32")
    check(hs.where(x > 0, x, 0), np.where(x > 0, x, np.float32(0)))
    check(hs.where(x, 1, 0), np.where(x, 1, 0))
    check(hs.where(x > 0, x, np.zeros(5)), np.where(x > 0, x, np.zeros(5)))
    check(hs.clip(x, -0.5, 0.5), np.minimum(np.maximum(x, -0.5), 0.5))
    check(hs.clip(x, None, 0.5), np.minimum(x, 0.5))
    check(hs.clip(x, low=0), np.maximum(x, 0))
    check(hs.clip(x), x)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
@pytest.mark.parametrize("bounds", [(-1, 300), (-(2**40), 3), (5, 2**40), (-9, None), (None, 999)])
def test_clip_beyond_the_type(dtype: str, bounds: tuple[Any, Any]) -> None:
    x = np.array([0, 5, 100, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    numpy_clip: Any = getattr(np, "clip")  # noqa: B009
    check(hs.clip(x, *bounds), numpy_clip(x, *bounds))


def test_clip_to_nothing() -> None:
    for bounds in ((300, 400), (-9, -1)):
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            hs.clip(np.array([0, 255], np.uint8), *bounds)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "bool", "float16", "complex64", np.float64])
def test_cast(dtype: Any) -> None:
    x = np.array([0.0, 1.75, 2.5, 100.0])
    check(hs.cast(x, dtype), x.astype(dtype))
    check(hs.cast(x, np.dtype(dtype)), x.astype(dtype))


def leaky_relu(x: Array) -> Array:
    return np.maximum(x, 0) + np.minimum(x, 0) * 0.01


def elu(x: Array) -> Array:
    return np.maximum(x, 0) + np.expm1(np.minimum(x, 0))


def gelu(x: Array) -> Array:
    return x * (1 + ERF(x / np.sqrt(2))) / 2


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": leaky_relu,
    "elu": elu,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": silu,
    "gelu": gelu,
    "softplus": lambda x: np.logaddexp(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": ERF,
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_functions_that_numpy_has_not(name: str) -> None:
    x = np.array([0.5, 0.001, 1.5, 20.0, *([] if name == "rsqrt" else [-0.5, -30.0, np.nan])])
    found = getattr(hs, name)(x)
    wanted = expected(ACTIVATIONS[name], x)
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-15)
    assert getattr(hs, name)(x.astype("float32")).dtype == np.float32
