"""Cumulative sums and products against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridjit import build, te
from hybridjit import stdlib as hs

Array = Any
# Each of them is compiled.
FEW = settings(max_examples=max(settings().max_examples * 2 // 5, 1))


def check(found: Array, wanted: Array) -> None:
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    else:
        np.testing.assert_array_equal(found, wanted)


def exclusive(x: Array, axis: int, name: str) -> Array:
    """The cumulative values one step later, from the value that changes nothing."""
    found = getattr(np, name)(x, axis)
    first = np.full_like(np.take(found, [0], axis), 1 if name == "cumprod" else 0)
    return np.concatenate([first, np.delete(found, -1, axis)], axis)


@FEW
@given(
    name=st.sampled_from(["cumsum", "cumprod"]),
    shape=st.lists(st.sampled_from([1, 2, 3, 7, 16]), min_size=1, max_size=3).map(tuple),
    axis=st.integers(0, 2),
    is_fortran=st.booleans(),
)
def test_every_axis(name: str, shape: tuple[int, ...], axis: int, is_fortran: bool) -> None:
    axis %= len(shape)
    x = np.random.default_rng(0).normal(size=shape)
    x = np.asfortranarray(x) if is_fortran else x
    check(getattr(hs, name)(x, axis), getattr(np, name)(x, axis))
    check(getattr(hs, name)(x, axis - len(shape), exclusive=True), exclusive(x, axis, name))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16", "float32"])
def test_types(name: str, dtype: str) -> None:
    x = np.array([[1, 2, 1], [0, 3, 1]]).astype(dtype)
    check(getattr(hs, name)(x, 1), getattr(np, name)(x, 1))
    check(getattr(hs, name)(x), getattr(np, name)(x))
    check(getattr(hs, name)(x, 0, dtype="float32"), getattr(np, name)(x, 0, dtype="float32"))


def test_awkward_shapes() -> None:
    for shape in ((), (0,), (3, 0), (0, 3), (1, 1)):
        x = np.ones(shape)
        check(hs.cumsum(x), np.cumsum(x))
    check(hs.cumsum(np.ones((3, 0)), 0), np.ones((3, 0)))
    check(hs.cumsum(np.ones((3, 0)), 1, exclusive=True), np.ones((3, 0)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("is_exclusive", [False, True])
def test_sizes_of_the_run(axis: int | None, is_exclusive: bool) -> None:
    x = te.placeholder((te.var("n"), te.var("m")), "float64", "x")
    sums = build([x, hs.cumsum(x, axis, exclusive=is_exclusive)])
    for shape in ((0, 3), (3, 0), (0, 0), (1, 1), (4, 17)):
        value = np.random.default_rng(0).normal(size=shape)
        own = value.ravel() if axis is None else value
        wanted = np.cumsum(value, axis) - (own if is_exclusive else 0)
        found = np.full(wanted.shape, 7.0)
        sums(value, found)
        check(found, wanted)


def test_bad_axis_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"cumsum: axis 1 is out of bounds for 'x' of shape \(3,\)"
    ):
        hs.cumsum(np.ones(3), 1)
