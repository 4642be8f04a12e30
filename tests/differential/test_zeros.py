"""Extrema tell 0.0 from -0.0 as NumPy and Python do, each in its own way for each type."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy
import pytest

from hybridjit import hybrid
from tests.support.oracle import run_interpreted, run_native, run_plain

np: Any = numpy
VALUES = (0.0, -0.0, 1.0, -1.0, float("nan"))
TYPES = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)


@hybrid.script
def extrema(a: Any, b: Any, found: Any) -> None:
    for i in range(a.shape[0]):
        found[0, i] = np.minimum(a[i], b[i])
        found[1, i] = np.maximum(a[i], b[i])
        found[2, i] = min(a[i], b[i])
        found[3, i] = max(a[i], b[i])


@hybrid.script
def clipped(a: Any, low: Any, high: Any, found: Any) -> None:
    for i in range(a.shape[0]):
        found[0, i] = np.clip(a[i], low[i], high[i])
        found[1, i] = np.clip(a[i], 0, 1)
        found[2, i] = np.clip(a[i], -1, -0.0)


@hybrid.script
def clipped_whole(a: Any, low: Any, high: Any, found: Any) -> None:
    found[0] = np.clip(a, 0, 1)
    found[1] = np.clip(a, -0.0, 1)
    found[2] = np.clip(a, -1, -0.0)
    found[3] = np.clip(a, low, high)


def combinations(count: int, dtype: Any) -> list[Any]:
    rows = itertools.product(VALUES, repeat=count)
    return [np.array(column, dtype) for column in zip(*rows, strict=True)]


def check_all_ways(kernel: Any, args: list[Any], found: Any) -> None:
    """All ways give the same numbers with the same signs; NaN is NaN, whatever its bits."""
    outcomes: list[Any] = []
    for way in (run_plain, run_interpreted, run_native):
        found[:] = 7
        with np.errstate(invalid="ignore"):
            way(kernel, *args, found)
        wide = found.astype(np.float64)
        outcomes.append((wide.tolist(), (np.signbit(wide) & ~np.isnan(wide)).tolist()))
    for outcome in outcomes[1:]:
        np.testing.assert_array_equal(outcome, outcomes[0])


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
def test_extrema(dtype: Any) -> None:
    a, b = combinations(2, dtype)
    check_all_ways(extrema, [a, b], np.zeros((4, len(a)), dtype))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=lambda d: d.__name__)
def test_clip(dtype: Any) -> None:
    a, low, high = combinations(3, dtype)
    check_all_ways(clipped, [a, low, high], np.zeros((3, len(a)), dtype))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=lambda d: d.__name__)
@pytest.mark.parametrize("low", VALUES)
def test_clip_of_arrays(dtype: Any, low: float) -> None:
    (a,) = combinations(1, dtype)
    a = np.tile(a, 9)
    for high in VALUES:
        args = [a, dtype(low), dtype(high)]
        check_all_ways(clipped_whole, args, np.zeros((4, len(a)), dtype))
