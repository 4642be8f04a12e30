"""Extrema tell 0.0 from -0.0 as NumPy and Python do, each in its own way for each type."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hybridjit import hybrid
from tests.support.oracle import WAYS

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
        found[i] = np.clip(a[i], low[i], high[i])  # pyright: ignore[reportUnknownMemberType]


def combinations(count: int, dtype: Any) -> list[Any]:
    rows = itertools.product(VALUES, repeat=count)
    return [np.array(column, dtype) for column in zip(*rows, strict=True)]


def check_all_ways(kernel: Any, args: list[Any], found: Any) -> None:
    """All ways give the same numbers with the same signs; NaN is NaN, whatever its bits."""
    outcomes: list[Any] = []
    for way in WAYS.values():
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
    check_all_ways(clipped, [a, low, high], np.zeros(len(a), dtype))
