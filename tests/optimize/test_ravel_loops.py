"""ravel and unravel: loops over rows and columns as one, and the other way round."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy
import pytest

import hybridjit as hj
from hybridjit import ScheduleError, hybrid
from hybridjit.ir.expr import Mod
from hybridjit.ir.visit import walk
from tests.corpus.case import Array
from tests.support.array_results import assert_agree
from tests.support.before_after import run_example
from tests.support.optimized import assert_three_agree, optimized
from tests.support.oracle import fresh

np: Any = numpy


def doubled(x: Array) -> Array:
    return x.ravel() * 2


def rows_of_planes(x: Array) -> Array:
    return x.reshape(-1, x.shape[2]) + 1


def columns_of_rows(x: Array) -> Array:
    return x.reshape(x.shape[0], x.shape[1] * x.shape[2]) - 1


def total(x: Array) -> Any:
    return x.reshape(-1).sum()


def largest(x: Array) -> Any:
    return (x + 1).reshape(x.shape[0], -1).max(axis=1, initial=0)


def in_another_order(x: Array) -> Array:
    n, m, k = x.shape
    return x.reshape(k, n, m) * 2 + x.transpose(2, 0, 1)


def pairs(x: Array) -> Array:
    n, m, k = x.shape
    return x[: n // 2 * 2].reshape(n // 2, 2, m, k).sum(axis=1)


def stored(x: Array) -> Array:
    flat = np.zeros(x.size)
    flat[:] = x.reshape(-1)
    flat[1:] += x.reshape(-1)[:-1]
    return flat


RESHAPED = (
    doubled,
    rows_of_planes,
    columns_of_rows,
    total,
    largest,
    in_another_order,
    pairs,
    stored,
)
SHAPES = ((2, 3, 4), (1, 1, 1), (3, 1, 17), (5, 4, 3), (4, 3, 20), (2, 2, 1), (0, 3, 2), (7, 33, 2))


def _every_second(x: Array) -> Array:
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "every_second": _every_second,
    "reversed": lambda x: x[::-1].copy()[::-1],
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", RESHAPED, ids=lambda each: each.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
def test_reshaped_arrays(function: Any, dtype: str, layout: str) -> None:
    """Exact sizes, then sizes at run time, in any layout."""
    if dtype == "int16" and function is total:
        pytest.skip("NumPy adds in int64")
    kernel: Any = hybrid.script(function)
    for shape in SHAPES:
        if function in (rows_of_planes, largest) and not all(shape):
            continue  # any size fits -1
        x = (np.arange(np.prod(shape)) % 23).astype(dtype).reshape(shape)
        arg = LAYOUTS[layout](x)
        assert_agree(fresh(kernel), [arg])
        np.testing.assert_allclose(kernel(arg), function(arg), rtol=1e-6)


@pytest.mark.parametrize("function", [doubled, rows_of_planes, columns_of_rows, total])
def test_nothing_is_divided_any_more(function: Any) -> None:
    for types in (hj.f64["a", "b", "c"], hj.f64[6, 7, 40]):
        found = optimized(hybrid.script(function), types)
        assert not any(isinstance(node, Mod) for node in walk(found.body)), str(found)


def as_many(x: Array, n: int) -> Array:
    return x.reshape(n) * 2


def planes_in_turn(x: Array, r: int, k: int, n: int) -> Array:
    """As a transform in place goes from one round to the next."""
    out = np.empty(n, x.dtype)
    for i in range(k):
        planes = x.reshape(r**i, r, r ** (k - i - 1))
        factors = np.ones((r, r**i, r ** (k - i - 1))) + i
        out[:] = planes.transpose(1, 0, 2).reshape(n) * factors.reshape(n)
    return out


def test_sizes_that_are_said_twice() -> None:
    """A loop over a number of elements that was compared with the sizes of an array."""
    kernel: Any = hybrid.script(as_many)
    for shape in SHAPES[:3] + SHAPES[6:]:
        x = np.arange(float(np.prod(shape))).reshape(shape)
        for layout in LAYOUTS.values():
            arg = layout(x)
            assert_agree(fresh(kernel), [arg, x.size])
            np.testing.assert_array_equal(kernel(arg, x.size), arg.reshape(-1) * 2)
        for wrong in (x.size + 1, -x.size - 1):
            with pytest.raises(ValueError, match=r"do not fit|negative"):
                kernel(x, wrong)
    kernel = hybrid.script(planes_in_turn)
    for r, k in ((2, 3), (3, 3), (1, 2), (5, 1), (2, 6)):
        x = np.arange(float(r**k))
        assert_agree(fresh(kernel), [x, r, k, x.size])
        np.testing.assert_array_equal(kernel(x, r, k, x.size), planes_in_turn(x, r, k, x.size))
    args = np.arange(8.0), 2, 3, 8
    for function, given in ((kernel, args), (hybrid.script(as_many), (np.ones((3, 4, 5)), 60))):
        found = optimized(function, *given)
        assert not any(isinstance(node, Mod) for node in walk(found.body)), str(found)
    assert "unravel" in [step.name for step in kernel.auto_schedule(*args).trace.steps]


def points(x: Array) -> Any:
    return x.sum(), (x * x).sum(), x.max(), x.mean()


def all_points(x: Array) -> Any:
    return x.sum()


def shifted_points(x: Array, c: Array) -> Any:
    return ((x - c) ** 2).sum()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("columns", [1, 2, 3, 8, 15, 16])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_sums_over_short_rows(columns: int, dtype: str) -> None:
    kernel: Any = hybrid.script(points)
    for rows in (1, 2, 5, 64, 333):
        x = (np.arange(rows * columns) % 31 - 7).astype(dtype).reshape(rows, columns)
        for args in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
            if dtype == "float64":
                assert_three_agree(fresh(kernel), [args])
            np.testing.assert_allclose(kernel(args), points(args), rtol=1e-5)
    assert_agree(hybrid.script(shifted_points), [x, x[0]])


def test_short_rows_are_one_only_where_they_lie_side_by_side() -> None:
    kernel: Any = hybrid.script(points)
    x = np.arange(600.0).reshape(200, 3)
    steps = [step.name for step in kernel.auto_schedule(x).trace.steps]
    assert "ravel" in steps
    assert "% 3" in kernel.inspect("optimized", x)
    other = hybrid.script(shifted_points).auto_schedule(x, x[0])
    assert "ravel" not in [step.name for step in other.trace.steps]


def test_errors_tell_the_iteration_of_the_program() -> None:
    @hybrid.script
    def divided(x: Array, y: Array) -> Array:
        return x.ravel() // y.ravel()

    y = np.ones((4, 3), int)
    y[2, 1] = 0
    with pytest.raises(ZeroDivisionError, match="in iteration i=7"):
        divided(np.ones((4, 3), int), y)


def test_the_receipt_has_both() -> None:
    for function, step in ((doubled, "unravel"), (points, "ravel")):
        kernel: Any = hybrid.script(function)
        x = np.arange(600.0).reshape((20, 10, 3) if step == "unravel" else (200, 3))
        trace = kernel.auto_schedule(x).trace
        assert step in [each.name for each in trace.steps]
        again = fresh(kernel).with_schedule(trace)
        for found, expected in zip(np.ravel(again(x)), np.ravel(kernel(x)), strict=True):
            assert found == expected


def test_the_examples_of_the_steps() -> None:
    s = hybrid.script(doubled).schedule(hj.f64[6, 4])
    run_example(s, "unravel")
    assert "i_0 * 4 + i_1" in str(s)
    kernel: Any = hybrid.script(all_points)
    s = kernel.schedule(hj.f64[6, 3])
    run_example(s, "ravel")
    assert "x[i // 3, i % 3]" in str(s)


def over_windows(x: Array) -> Array:
    n = x.shape[0]
    out = np.zeros(n)
    for i in range(n):
        out[i] = x[i // 2]
    return out


@pytest.mark.parametrize(
    ("function", "step", "reason"),
    [
        (over_windows, "unravel", "not one over the elements of an array"),
        (points, "unravel", "not divided by the size of a row"),
        (doubled, "ravel", "around a loop over a known number of elements"),
    ],
)
def test_refusals(function: Any, step: str, reason: str) -> None:
    s = hybrid.script(function).schedule(hj.f64[6] if function is over_windows else hj.f64[6, 3])
    before = str(s)
    with pytest.raises(ScheduleError, match=reason):
        getattr(s, step)(s.loops(s.blocks()[-1].name)[0])
    assert str(s) == before


def test_sizes_that_do_not_fit_are_refused() -> None:
    @hybrid.script
    def halves(x: Array) -> Array:
        n, m = x.shape
        return x.reshape(n // 2, 2, m // 2, 2).sum(axis=(1, 3))

    for n, m in product((0, 1, 2, 4, 6, 7), (0, 2, 3, 8)):
        x = np.arange(n * m * 1.0).reshape(n, m)
        fits = (n // 2 * 2) * (m // 2 * 2) == n * m
        if fits:
            np.testing.assert_array_equal(halves(x), halves.py_func(x))
            continue
        with pytest.raises(ValueError, match="do not fit"):
            halves(x)


def test_integers_have_lanes_where_they_stand() -> None:
    """Sums of theirs are taken apart later, along rows: joined, they would be read one by one."""
    kernel: Any = hybrid.script(all_points)
    steps = kernel.auto_schedule(hj.i64[200, 3]).trace.steps
    assert "ravel" not in [step.name for step in steps]
