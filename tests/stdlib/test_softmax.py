"""softmax and normalization against their formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import stdlib as hs
from tests.support import operator_references as reference

Array = Any
RNG = np.random.default_rng(0)


def softmax(x: Array, axis: int) -> Array:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def log_softmax(x: Array, axis: int) -> Array:
    shifted = x - x.max(axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


def check(found: Array, wanted: Array) -> None:
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    tolerance = 20 * reference.eps(wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((1,), "float64"),
        ((3, 17), "float32"),
        ((2, 3, 5), "float64"),
        ((64, 100), "float32"),
    ],
)
def test_every_axis(shape: tuple[int, ...], dtype: str) -> None:
    x = RNG.normal(size=shape, scale=10).astype(dtype)
    for axis in range(len(shape)):
        check(hs.softmax(x, axis), softmax(x, axis))
        check(hs.log_softmax(x, axis - len(shape)), log_softmax(x, axis))


def test_rows_one_after_the_other() -> None:
    """So large that all stages are computed row by row."""
    x = RNG.normal(size=(4, 3, 7, 3200)).astype("float32")
    for axis in (1, 3):
        check(hs.softmax(x, axis), softmax(x, axis))
    center, spread = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    wanted = (x - center) / np.sqrt(spread + np.float32(1e-5))
    np.testing.assert_allclose(hs.layer_norm(x), wanted, rtol=1e-4, atol=1e-4)


def test_layouts_and_types() -> None:
    x = RNG.normal(size=(5, 33))
    check(hs.softmax(np.asfortranarray(x)), softmax(x, -1))
    check(hs.softmax(x[::-1, ::2]), softmax(x[::-1, ::2], -1))
    whole = RNG.integers(-5, 5, size=(3, 4))
    check(hs.softmax(whole), softmax(whole, -1))
    half = x.astype(np.float16)
    check(hs.softmax(half), softmax(half.astype(np.float32), -1).astype(np.float16))


def test_large_numbers_do_not_overflow() -> None:
    x = np.array([[1e4, 0.0, -1e4], [-1e4, -1e4, -1e4]])
    check(hs.softmax(x), softmax(x, -1))
    check(hs.log_softmax(x), log_softmax(x, -1))


def test_nan_spreads_along_its_row_only() -> None:
    x = RNG.normal(size=(3, 20))
    x[1, 4] = np.nan
    found = hs.softmax(x)
    assert np.isnan(found[1]).all()
    check(found[::2], softmax(x, -1)[::2])


def test_empty_arrays() -> None:
    assert hs.softmax(np.empty((0, 3))).shape == (0, 3)
    assert hs.softmax(np.empty((3, 0))).shape == (3, 0)


def test_bad_axis_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"softmax: axis 2 is out of bounds for 'x' of shape \(2, 3\)"
    ):
        hs.softmax(np.ones((2, 3)), 2)


# -- normalization ---------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("axis", [1, -1, 0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("has_scale", [False, True])
def test_batch_norm(axis: int, dtype: str, has_scale: bool) -> None:
    x = RNG.normal(size=(3, 5, 7, 4)).astype(dtype)
    size = x.shape[axis]
    mean, variance, gamma, beta = RNG.random((4, size)).astype(dtype)
    along = [1] * x.ndim
    along[axis] = size
    wanted = (x - mean.reshape(along)) / np.sqrt(
        variance.reshape(along) + np.dtype(dtype).type(1e-3)
    )
    if has_scale:
        wanted = wanted * gamma.reshape(along) + beta.reshape(along)
    scales = (gamma, beta) if has_scale else ()
    found = hs.batch_norm(x, mean, variance, *scales, axis=axis, epsilon=1e-3)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("axes", [(-1,), (0,), (1, 2)])
@pytest.mark.parametrize("has_scale", [False, True])
def test_layer_norm(axes: tuple[int, ...], has_scale: bool) -> None:
    x = RNG.normal(size=(3, 5, 7))
    axis = axes[0] if len(axes) == 1 else axes
    sizes = tuple(x.shape[axis] for axis in axes)
    gamma, beta = RNG.random((2, *sizes))
    along = tuple(
        size if axis in axes or axis - 3 in axes else 1 for axis, size in enumerate(x.shape)
    )
    center, spread = x.mean(axis, keepdims=True), x.var(axis, keepdims=True)
    wanted = (x - center) / np.sqrt(spread + 1e-5)
    if has_scale:
        wanted = wanted * gamma.reshape(along) + beta.reshape(along)
    found = hs.layer_norm(x, *((gamma, beta) if has_scale else ()), axis=axis)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_wrong_sizes_are_refused() -> None:
    x = np.ones((2, 3, 4))
    with pytest.raises(ValueError, match=r"'variance' has shape \(2,\), and 'x' \(2, 3, 4\)"):
        hs.batch_norm(x, np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match=r"must have shape \(4,\): one for each place along \[2\]"):
        hs.layer_norm(x, np.ones(3))
