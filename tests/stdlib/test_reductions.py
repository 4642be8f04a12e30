"""Reductions against NumPy: axes, keepdims, types, NaN, empty arrays, layouts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hybridjit as hj
from hybridjit import stdlib as hs
from hybridjit import te
from tests.support import operator_references as reference

Array = Any
RNG = np.random.default_rng(0)
RUN: Array = np.array([[0.5, -1.0, 2.0], [0.25, 3.0, -4.0], [7.0, -5.0, 1.0]])
REDUCTIONS = ("sum", "prod", "mean", "max", "min", "any", "all", "var", "std")
PLACES = ("argmax", "argmin")


@pytest.fixture(autouse=True)
def small_ones_are_scheduled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if they were large."""
    monkeypatch.setattr("hybridjit.stdlib.running.schedules.REDUCED_WORK", 0)


def expected(function: Callable[..., Array], *args: Any, **options: Any) -> Array:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(function(*args, **options))


def check(found: Array, wanted: Array) -> None:
    assert type(found) is np.ndarray
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if wanted.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, wanted)
        return
    tolerance = 20 * reference.eps(wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@st.composite
def reductions(draw: st.DrawFn) -> tuple[Array, Any, bool]:
    """An array of any layout, some axes of it, and whether they stay."""
    shape = draw(st.lists(st.sampled_from([1, 2, 3, 5, 17, 64]), max_size=3).map(tuple))
    dtype = draw(st.sampled_from(["float32", "float64", "int32"]))
    x: Array = np.asarray(np.random.default_rng(0).random(shape) * 9).astype(dtype)
    if draw(st.booleans()):
        x = x.transpose()
    if shape and draw(st.booleans()):
        x = x[..., ::-1]
    chosen = draw(st.lists(st.integers(0, len(shape) - 1), unique=True)) if shape else []
    signed = [axis - len(shape) if draw(st.booleans()) else axis for axis in chosen]
    axis = draw(st.sampled_from([None, tuple(signed), *signed[:1]]))
    return x, axis, draw(st.booleans())


@given(st.sampled_from(["sum", "max", "mean"]), reductions())
def test_axes_and_layouts(name: str, case: tuple[Array, Any, bool]) -> None:
    x, axis, keepdims = case
    found = getattr(hs, name)(x, axis, keepdims=keepdims)
    check(found, expected(getattr(np, name), x, axis=axis, keepdims=keepdims))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
def test_every_reduction(name: str, axis: Any) -> None:
    x = RNG.normal(size=(3, 4, 33))
    check(getattr(hs, name)(x, axis), expected(getattr(np, name), x, axis))
    check(
        getattr(hs, name)(x > 0, axis, keepdims=True),
        expected(getattr(np, name), x > 0, axis, keepdims=True),
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_places(name: str, axis: int | None, keepdims: bool) -> None:
    x = RNG.integers(0, 5, size=(4, 7, 19)).astype("float32")  # many are equal
    reference = getattr(np, name)
    check(
        getattr(hs, name)(x, axis, keepdims=keepdims),
        expected(reference, x, axis, keepdims=keepdims),
    )
    x[1, 2, 3] = x[0, 2, 3] = np.nan
    check(
        getattr(hs, name)(x, axis, keepdims=keepdims),
        expected(reference, x, axis, keepdims=keepdims),
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean"])
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "complex64"]
)
def test_types(name: str, dtype: str) -> None:
    if dtype == "complex64" and name in ("max", "min"):
        pytest.skip("complex numbers have no order here")
    x = np.array([[1, 3, 2], [0, 100, 5]]).astype(dtype)
    check(getattr(hs, name)(x, axis=1), expected(getattr(np, name), x, axis=1))


def test_type_of_a_sum_can_be_chosen() -> None:
    x = np.full(3, 200, np.uint8)
    check(hs.sum(x, dtype="uint8"), np.sum(x, dtype="uint8"))
    check(hs.sum(x, dtype=np.float32), np.sum(x, dtype=np.float32))
    check(hs.prod(x, dtype="float64"), np.prod(x, dtype="float64"))


@pytest.mark.parametrize("name", ["max", "min"])
def test_nan_wins(name: str) -> None:
    x = RNG.normal(size=(5, 33)).astype("float32")
    x[1, 7] = x[4, 32] = np.nan
    check(getattr(hs, name)(x, axis=1), getattr(np, name)(x, axis=1))
    check(getattr(hs, name)(x, axis=0), getattr(np, name)(x, axis=0))
    check(getattr(hs, name)(x), np.asarray(getattr(np, name)(x)))


@pytest.mark.parametrize("name", ["max", "min"])
def test_infinities_are_found(name: str) -> None:
    for value in (np.inf, -np.inf):
        x = np.full((2, 3), value)
        check(getattr(hs, name)(x, axis=1), getattr(np, name)(x, axis=1))
        assert getattr(hs, f"arg{name}")(x, axis=1).tolist() == [0, 0]


def test_half_precision_is_added_up_in_single() -> None:
    x = np.full(5000, 0.1, np.float16)
    assert hs.sum(x) == x.astype(np.float32).sum().astype(np.float16)
    assert hs.mean(x) == np.float16(x[0])


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "mean"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_nothing_to_reduce(name: str, axis: int | None) -> None:
    x = np.empty((0, 3))
    check(getattr(hs, name)(x, axis), expected(getattr(np, name), x, axis))


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_nothing_has_no_extremum(name: str) -> None:
    with pytest.raises(ValueError, match=r"'x' of shape \(0, 3\) has no elements along"):
        getattr(hs, name)(np.empty((0, 3)), axis=0)
    assert getattr(hs, name)(np.empty((0, 3)), axis=1).shape == (0,)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_nothing_has_no_extremum_at_sizes_of_the_run(name: str, axis: int | None) -> None:
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), "float64", "x")
    module = hj.build([x, (y := getattr(hs, name)(x, axis))])
    for shape in ((0, 3), (3, 0), (0, 0), (2, 3)):
        value: Array = RUN[: shape[0], : shape[1]]
        out = np.zeros(np.sum(value, axis).shape, y.dtype.name)
        for run in (module, module.interpret):
            try:
                wanted = getattr(np, name)(value, axis)
            except ValueError:
                with pytest.raises(ValueError, match=f"{name} of no elements"):
                    run(value, out)
            else:
                run(value, out)
                np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("ddof", [0, 2, 3, 5])
def test_fewer_elements_than_degrees_of_freedom(name: str, ddof: int) -> None:
    for x in (np.array([1.0, 2.0, 4.0]), np.ones(3)):
        check(getattr(hs, name)(x, ddof=ddof), expected(getattr(np, name), x, ddof=ddof))


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_distances_of_complex_numbers_are_real(name: str, dtype: str) -> None:
    x = np.array([[1 + 1j, 2 - 1j, 3j], [4, -2j, 1 + 5j]]).astype(dtype)
    check(getattr(hs, name)(x, axis=1), expected(getattr(np, name), x, axis=1))


def test_degrees_of_freedom_at_sizes_of_the_run() -> None:
    x = te.placeholder((te.var("n"),), "float64", "x")
    module = hj.build([x, hs.var(x, ddof=2)])
    for size, wanted in ((1, np.nan), (2, np.inf), (3, 2.0)):
        found = np.zeros(())
        module(np.arange(float(size)), found)
        np.testing.assert_equal(float(found), wanted)


@pytest.mark.parametrize("size", [1000, 1001, 100_003])
def test_long_sums(size: int) -> None:
    x = RNG.random(size).astype("float32")
    np.testing.assert_allclose(hs.sum(x), x.sum(dtype="float64"), rtol=1e-6)
    np.testing.assert_allclose(hs.mean(x), x.mean(dtype="float64"), rtol=1e-6)
    assert hs.max(x) == x.max()
    assert hs.argmin(x) == x.argmin()


def test_wide_matrices_along_columns() -> None:
    x = RNG.random((37, 1031)).astype("float32")
    check(hs.sum(x, axis=0), x.sum(axis=0))
    check(hs.max(x, axis=0), x.max(axis=0))
    check(hs.argmax(x, axis=0), x.argmax(axis=0))


def test_bad_axes_are_refused() -> None:
    x = np.ones((2, 3))
    with pytest.raises(ValueError, match=r"sum: axis 2 is out of bounds for 'x' of shape \(2, 3\)"):
        hs.sum(x, 2)
    with pytest.raises(ValueError, match="max: an axis is given twice"):
        hs.max(x, (0, -2))
    with pytest.raises(TypeError, match=r"sum: an axis is an integer, got 1\.5"):
        hs.sum(x, 1.5)  # pyright: ignore[reportCallIssue, reportArgumentType]
