"""Complex functions against NumPy: exact products and quotients, a few ulp elsewhere."""

import numpy as np
import pytest

from hybridjit.codegen.math import COMPLEX_BOUNDS
from hybridjit.ir.dtype import dtype_named
from tests.codegen.native_math import Array, compile_complex

PARTS = np.array([0.0, -0.0, 1, -1, 0.5, 2, np.inf, -np.inf, np.nan, 1e-310, 30, -750, 1e300])


def special(dtype: str) -> Array:
    values = np.empty(len(PARTS) ** 2, dtype)
    with np.errstate(all="ignore"):
        values.real, values.imag = np.repeat(PARTS, len(PARTS)), np.tile(PARTS, len(PARTS))
    return values


def moderate(dtype: str, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=(2, 3000)) * 2
    circle = np.exp(1j * rng.uniform(0, 7, 1000)) * (1 + rng.normal(size=1000) * 1e-4)
    return np.concatenate([parts[0] + 1j * parts[1], circle]).astype(dtype)


def parts(values: Array) -> tuple[Array, Array]:
    return values.real, values.imag


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["mul", "div"])
def test_products_and_quotients_are_those_of_numpy_scalars(name: str, dtype: str) -> None:
    """NumPy's loops over arrays fuse multiplications where they can; its scalars do not."""
    rng = np.random.default_rng(1)
    x = np.concatenate([moderate(dtype)[:1000], special(dtype)])
    y = rng.permutation(x)
    with np.errstate(all="ignore"):
        pairs = zip(x, y, strict=True)
        expected = np.array([a * b if name == "mul" else a / b for a, b in pairs], dtype)
    actual = compile_complex(name, dtype_named(dtype), 2)(x, y)
    for ours, theirs in zip(parts(actual), parts(expected), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        number = ~np.isnan(theirs)
        np.testing.assert_array_equal(np.signbit(ours)[number], np.signbit(theirs)[number])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", sorted(COMPLEX_BOUNDS))
def test_parts_are_within_a_few_ulp_of_numpy(name: str, dtype: str) -> None:
    x = moderate(dtype)
    actual, expected = compile_complex(name, dtype_named(dtype))(x), getattr(np, name)(x)
    for ours, theirs in zip(parts(actual), parts(expected), strict=True):
        errors = np.abs(ours - theirs) / np.spacing(np.abs(theirs))
        assert errors.max() <= 2 * COMPLEX_BOUNDS[name], x[errors.argmax()]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", sorted(COMPLEX_BOUNDS))
def test_infinities_and_nans_are_numpys(name: str, dtype: str) -> None:
    x = special(dtype)
    with np.errstate(all="ignore"):
        actual, expected = compile_complex(name, dtype_named(dtype))(x), getattr(np, name)(x)
    for ours, theirs in zip(parts(actual), parts(expected), strict=True):
        np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))
        np.testing.assert_array_equal(np.isinf(ours), np.isinf(theirs))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_powers(dtype: str) -> None:
    """Small integer powers are multiplied out, as NumPy's scalars; the rest is exp(w log z)."""
    rng = np.random.default_rng(2)
    x = moderate(dtype)[:1000]
    n = rng.integers(-20, 20, len(x)).astype(dtype)
    power = compile_complex("pow", dtype_named(dtype), 2)
    expected = np.array([a**b for a, b in zip(x, n, strict=True)], dtype)
    np.testing.assert_array_equal(power(x, n), expected)
    w = moderate(dtype, seed=3)[:1000]
    tolerance = 300 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(power(x, w), x**w, rtol=tolerance)
