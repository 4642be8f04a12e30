"""Matrix products against NumPy's matmul: batches, transposes, types, awkward sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridjit import stdlib as hs
from tests.support import operator_references as reference

Array = Any
RNG = np.random.default_rng(0)
ACTIVATIONS: dict[Any, Callable[[Array], Array]] = {
    None: lambda v: v,
    "relu": lambda v: np.maximum(v, 0),
    "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
    "tanh": np.tanh,
}
SIZES = st.sampled_from([1, 2, 3, 5, 7, 12, 13, 31, 33])


def check(found: Array, wanted: Array, depth: int = 1) -> None:
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if wanted.dtype.kind in "fc":
        tolerance = 4 * max(depth, 4) * reference.eps(wanted.dtype)
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(found, wanted)


@settings(max_examples=max(settings().max_examples * 2 // 5, 1))
@given(SIZES, SIZES, SIZES, st.booleans(), st.booleans())
def test_sizes_and_transposes(n: int, m: int, k: int, is_left: bool, is_right: bool) -> None:
    rng = np.random.default_rng(0)
    x: Array = rng.normal(size=(k, n) if is_left else (n, k)).astype("float32")
    y: Array = rng.normal(size=(m, k) if is_right else (k, m)).astype("float32")
    found = hs.matmul(x, y, transpose_x=is_left, transpose_y=is_right)
    check(found, (x.T if is_left else x) @ (y.T if is_right else y), k)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        *(((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4))),
        *(
            ((5, 1, 2, 3), (6, 3, 4)),
            ((5, 2, 3), (5, 3, 4)),
            ((5, 2, 3), (3,)),
            ((1, 2, 3), (7, 3, 4)),
        ),
        *(((0, 3), (3, 4)), ((2, 0), (0, 4)), ((2, 3), (3, 0))),
    ],
)
def test_batches_vectors_and_nothing(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x, y = RNG.normal(size=left), RNG.normal(size=right)
    check(hs.matmul(x, y), np.asarray(x @ y), 3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex128"]
)
@pytest.mark.parametrize("other", ["same", "int32", "float32"])
def test_types(dtype: str, other: str) -> None:
    x = RNG.integers(0, 4, size=(3, 5)).astype(dtype)
    y = RNG.integers(0, 4, size=(5, 2)).astype(dtype if other == "same" else other)
    check(hs.matmul(x, y), x @ y)


@pytest.mark.parametrize(("size", "dtype"), [(64, "float64"), (129, "float32")])
def test_larger_matrices_in_any_order(size: int, dtype: str) -> None:
    x, y = RNG.normal(size=(2, size, size)).astype(dtype)
    for left, right in ((x, y), (np.asfortranarray(x), y[::-1]), (x, np.transpose(y))):
        check(hs.matmul(left, right), left @ right, size)


def test_columns_too_long_for_one_panel() -> None:
    x, y = RNG.normal(size=(6, 1100)), RNG.normal(size=(1100, 20))
    check(hs.matmul(x, y), x @ y, 1100)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("activation", [None, "relu", "sigmoid", "tanh"])
@pytest.mark.parametrize("has_bias", [False, True])
def test_dense(activation: Any, has_bias: bool) -> None:
    x, bias = RNG.normal(size=(6, 11)), RNG.normal(size=9)
    w: Array = RNG.normal(size=(9, 11))
    found = hs.dense(x, w, bias if has_bias else None, activation=activation)
    check(found, ACTIVATIONS[activation](x @ w.T + (bias if has_bias else 0)), 11)


def test_sizes_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'x' of shape \(2, 3\) and 'y' of shape \(4, 5\) do not"):
        hs.matmul(np.ones((2, 3)), np.ones((4, 5)))
    with pytest.raises(ValueError, match=r"shape \(2, 3\), transposed, and 'y' of shape \(3, 5\)"):
        hs.matmul(np.ones((2, 3)), np.ones((3, 5)), transpose_x=True)
    with pytest.raises(ValueError, match=r"do not broadcast: 2 is not 3"):
        hs.matmul(np.ones((2, 4, 4)), np.ones((3, 4, 4)))
    with pytest.raises(ValueError, match="matmul: 'y' has no axes"):
        hs.matmul(np.ones((2, 2)), np.ones(()))
    with pytest.raises(
        ValueError, match=r"the bias 'bias' has shape \(3,\), and the result \(2, 4\)"
    ):
        hs.dense(np.ones((2, 5)), np.ones((4, 5)), np.ones(3))
    with pytest.raises(ValueError, match="dense: there is no activation 'swish'"):
        hs.dense(np.ones((2, 5)), np.ones((4, 5)), activation="swish")  # pyright: ignore
