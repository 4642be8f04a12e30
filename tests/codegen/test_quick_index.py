"""Floats as indices: whatever does not fit in int64 is treated as the cast says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.processor import current_target
from tests.lowering.ways import assert_native_agrees

pytestmark = pytest.mark.usefixtures("unchecked")

FITS = (0.0, 0.5, -0.5, -0.999, 7.99, -1.0, -1.5, -8.0, -8.5, float("nan"))
FAILS = (8.0, -9.0, 1e30, -1e30, 2.0**62, 2.0**63, -(2.0**63), float("inf"), -float("inf"))


@hybrid.script
def bins(a: Any, counts: Any) -> Any:
    for i in range(a.shape[0]):
        counts[int(a[i])] += 1


@hybrid.script
def two_axes(a: Any, counts: Any) -> Any:
    for i in range(a.shape[0]):
        counts[int(a[i] * 0.5), int(a[i])] += 1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("value", [*FITS, *FAILS])
def test_every_kind_of_float(value: float, dtype: Any) -> None:
    with np.errstate(over="ignore"):
        a = np.array([1.5, value, 2.5]).astype(dtype)
    outcome = assert_native_agrees(bins, a, np.zeros(8, np.int64))
    assert (outcome.error is None) == (value in FITS or np.isnan(value))


@pytest.mark.parametrize("value", [*FITS, *FAILS])
def test_two_axes(value: float) -> None:
    assert_native_agrees(two_axes, np.array([1.5, value, 2.5]), np.zeros((4, 8), np.int64))


@pytest.mark.parametrize("size", [0, 1, 7, 8])
def test_sizes_known_at_run_time(size: int) -> None:
    assert_native_agrees(bins, np.arange(float(size)), np.zeros(max(1, size - 1), np.int64))


@hybrid.script
def named_bins(a: Any, counts: Any) -> Any:
    last = 0
    for i in range(a.shape[0]):
        place = int(a[i])
        last = place
        if place == counts.shape[0]:
            place -= 1
        counts[place] += 1
    return last


@hybrid.script
def without_checks(a: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        out[i] = int(a[i])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("value", [*FITS, *FAILS])
def test_names_of_indices(value: float, dtype: Any) -> None:
    """The cast saturates, and NaN is 0, in a loop with checks as in one without."""
    with np.errstate(over="ignore"):
        a = np.array([1.5, value, 2.5]).astype(dtype)
        large = np.array([value]).astype(dtype)
    assert_native_agrees(named_bins, a, np.zeros(8, np.int64))
    assert_native_agrees(named_bins, large, np.zeros(8, np.int64))
    assert_native_agrees(without_checks, a, np.zeros(3, np.int64))


@pytest.mark.skipif("x86_64" not in current_target().triple, reason="an instruction of x86-64")
def test_only_loops_without_lanes_branch() -> None:
    assert "x86.sse2.cvttsd2si64" in named_bins.inspect("llvm", np.ones(9), np.zeros(8, np.int64))
    text = without_checks.inspect("llvm", np.ones(16), np.zeros(16, np.int64))
    assert "x86.sse2.cvttsd2si64" not in text
