"""Outer loops in lanes, each with small arrays of its own: bit for bit what plain Python gives."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, config, hybrid
from hybridjit.hybrid import parallel
from tests.corpus.case import Array
from tests.support.guarded import check_guarded
from tests.support.oracle import (
    assert_same_outcome,
    fresh,
    run_interpreted,
    run_native,
    run_once,
    run_plain,
)
from tests.support.processors import PROCESSORS, compiling_for, needs_wide_vectors

AnyKernel = Kernel[..., Any]
SIZES = (0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 33, 70)
DTYPES = (np.float64, np.float32, np.int64, np.int32, np.int16)


@hybrid.script
def median(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        t = np.empty(9, a.dtype)
        for k in range(9):
            t[k] = a[i + k]
        for k in range(9):
            for m in range(8 - k):
                if t[m] > t[m + 1]:
                    x = t[m]
                    t[m] = t[m + 1]
                    t[m + 1] = x
        b[i] = t[4]


@hybrid.script
def median_of_many(a: Array, b: Array) -> None:
    """More than is written out."""
    for i in range(b.shape[0]):
        t = np.empty(21, a.dtype)
        for k in range(21):
            t[k] = a[i + k]
        for k in range(21):
            for m in range(20 - k):
                if t[m] > t[m + 1]:
                    x = t[m]
                    t[m] = t[m + 1]
                    t[m + 1] = x
        b[i] = t[10] - t[0]


@hybrid.script
def some_medians(a: Array, b: Array) -> None:
    """Lanes that are off, and rows that only some of the lanes get to."""
    for i in range(b.shape[0]):
        t = np.zeros(5, a.dtype)
        if a[i] > 0:
            for k in range(7):
                if a[i + k] > 1 and k < 5:
                    t[k] = a[i + k]
                else:
                    t[k // 2] = a[i] - k
            for k in range(1, 5):
                for m in range(k):
                    if t[m] < t[k]:
                        x = t[m]
                        t[m] = t[k]
                        t[k] = x
            b[i] = t[1]
        else:
            b[i] = b[i] + t[2]


@hybrid.script
def two_arrays(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        s = np.zeros((2, 3), a.dtype)
        t = np.zeros(4, a.dtype)
        for d in range(6):
            s[d % 2, d // 2] += a[i + d]
        for d in range(3):
            t[d + 1] = t[d] + s[0, d] * s[1, 2 - d]
            if t[d + 1] < t[d]:
                t[d] = t[d + 1]
        b[i] = t[0] + t[3]


@hybrid.script
def backwards(a: Array, b: Array) -> None:
    for i in range(b.shape[0] - 1, -1, -1):
        t = np.zeros(4, a.dtype)
        for k in range(3, -1, -1):
            t[k] = a[i + k] if a[i + k] > a[i] else a[i]
        for k in range(3):
            if t[k + 1] > t[k]:
                t[k + 1] = t[k]
        b[i] = t[3]


@hybrid.script
def sorted_rows(a: Array, b: Array) -> None:
    """What lanes read and write lies apart, but is little beside what they do with it."""
    for i in range(b.shape[0] // 4):
        t = np.empty(4, a.dtype)
        for k in range(4):
            t[k] = a[4 * i + k]
        for k in range(4):
            for m in range(3 - k):
                if t[m] > t[m + 1]:
                    x = t[m]
                    t[m] = t[m + 1]
                    t[m + 1] = x
        for k in range(4):
            b[4 * i + k] = t[k]


@hybrid.script
def in_threads(a: Array, b: Array) -> None:
    for i in parallel(b.shape[0]):
        t = np.empty(5, a.dtype)
        for k in range(5):
            t[k] = a[i + k]
        for k in range(5):
            for m in range(4 - k):
                if t[m] > t[m + 1]:
                    x = t[m]
                    t[m] = t[m + 1]
                    t[m + 1] = x
        b[i] = t[2]


@hybrid.script
def histogram(a: Array, b: Array) -> None:
    """Lanes would go to different places in their arrays."""
    for i in range(b.shape[0]):
        t = np.zeros(8, a.dtype)
        for k in range(9):
            t[int(a[i + k]) % 8] += 1
        b[i] = t[1] * 2 + t[3]


@hybrid.script
def carried(a: Array, b: Array) -> None:
    """Each iteration reads what the one before has written."""
    for i in range(1, b.shape[0]):
        t = np.zeros(3, a.dtype)
        for k in range(3):
            t[k] = b[i - 1] - k if a[i + k] > 0 else a[i]
        for k in range(2):
            if t[k] > t[k + 1]:
                t[k + 1] = t[k]
        b[i] = t[2]


@hybrid.script
def longer_and_longer(a: Array, b: Array) -> None:
    """How often the loop inside runs differs from lane to lane."""
    for i in range(b.shape[0]):
        t = np.zeros(5, a.dtype)
        for k in range(min(i, 5)):
            t[k] = a[i + k]
        for k in range(4):
            if t[k] > t[k + 1]:
                t[k + 1] = t[k]
        b[i] = t[4]


IN_LANES = (median, median_of_many, some_medians, two_arrays, backwards, sorted_rows, in_threads)
IN_ORDER = (histogram, carried, longer_and_longer)


def name_of(kernel: AnyKernel) -> str:
    return kernel.__name__


def arrays(size: int, dtype: Any = np.float32) -> list[Any]:
    generator = np.random.default_rng(size)
    values = generator.integers(-4, 5, size + 20).astype(dtype)
    return [values, generator.integers(-4, 5, size).astype(dtype)]


@needs_wide_vectors
@pytest.mark.parametrize("kernel", IN_LANES, ids=name_of)
def test_iterations_with_arrays_of_their_own_have_lanes(kernel: AnyKernel) -> None:
    assert re.search(r"for i in vectorize\(", kernel.inspect("lowered", *arrays(4000)))


@pytest.mark.parametrize("kernel", IN_ORDER, ids=name_of)
def test_what_cannot_keeps_its_order(kernel: AnyKernel) -> None:
    assert "for i in vectorize(" not in kernel.inspect("lowered", *arrays(4000))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", [*IN_LANES, *IN_ORDER], ids=name_of)
@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_those_of_plain_python(kernel: AnyKernel, dtype: Any) -> None:
    anew: AnyKernel = fresh(kernel)
    for size in SIZES:
        args = arrays(size, dtype)
        expected = run_once(run_plain, anew, args)
        assert_same_outcome(run_once(run_native, anew, args), expected)
        if size < 10:
            assert_same_outcome(run_once(run_interpreted, anew, args), expected)


@pytest.mark.parametrize("kernel", IN_LANES, ids=name_of)
def test_lanes_that_are_off_touch_nothing(kernel: AnyKernel) -> None:
    for size in (0, 5, 8, 19):
        check_guarded(fresh(kernel), arrays(size))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("cpu", PROCESSORS)
def test_every_processor_gives_the_same(cpu: str) -> None:
    with compiling_for(cpu), config.scope(cache_enabled=False):
        for kernel in (median, some_medians, two_arrays, in_threads):
            anew: AnyKernel = fresh(kernel)
            for dtype in (np.float64, np.int16):
                args = arrays(21, dtype)
                found = run_once(run_native, anew, args)
                assert_same_outcome(found, run_once(run_plain, anew, args))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_not_a_number_and_zeros_of_both_signs_stay_where_they_go(dtype: Any) -> None:
    values = np.array([np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 5e-324], dtype)
    a = np.random.default_rng(0).choice(values, 220)
    found, expected = np.zeros(200, dtype), np.zeros(200, dtype)
    fresh(median)(a, found)
    median.py_func(a, expected)
    assert found.tobytes() == expected.tobytes()


@hybrid.script
def image(a: Array, b: Array) -> None:
    for y in range(b.shape[0]):
        for x in range(b.shape[1]):
            t = np.empty(9, a.dtype)
            for k in range(3):
                for m in range(3):
                    t[3 * k + m] = a[y + k, x + m]
            for k in range(8):
                for m in range(8 - k):
                    if t[m] > t[m + 1]:
                        t[m], t[m + 1] = t[m + 1], t[m]
            b[y, x] = t[4]


@pytest.mark.parametrize("width", [1, 5, 8, 21, 40])
def test_images(width: int) -> None:
    a = np.random.default_rng(width).random((7, width + 2))
    expected = np.zeros((5, width))
    image.py_func(a, expected)
    found = np.zeros((5, width))
    fresh(image)(a, found)
    np.testing.assert_array_equal(found, expected)
    fresh(image)(np.asfortranarray(a), found)
    np.testing.assert_array_equal(found, expected)


@hybrid.script
def sum_of_medians(a: Array) -> Any:
    total = 0
    for i in range(a.shape[0] - 3):
        t = np.empty(3, np.int64)
        for k in range(3):
            t[k] = a[i + k]
        for k in range(3):
            for m in range(2 - k):
                if t[m] > t[m + 1]:
                    x = t[m]
                    t[m] = t[m + 1]
                    t[m + 1] = x
        total += t[1]
    return total


@pytest.mark.parametrize("size", [0, 1, 4, 9, 12, 27, 60])
def test_lanes_have_arrays_and_sums(size: int) -> None:
    a = np.random.default_rng(size).integers(-9, 9, size)
    assert fresh(sum_of_medians)(a) == sum_of_medians.py_func(a)


@needs_wide_vectors
def test_short_loops_over_rows_are_written_out() -> None:
    text = median.inspect("lowered", *arrays(4000))
    assert re.search(r"if t\[7, .*\] > t\[8, .*\]", text)
    assert "for m in range" not in text
    assert "for m in range" in median_of_many.inspect("lowered", *arrays(4000))


@needs_wide_vectors
def test_what_is_swapped_is_in_registers() -> None:
    text = median.inspect("llvm", hj.f64[108], hj.f64[100])
    assert "masked.store" not in text
    assert [loop.is_unrolled for loop in median.report(hj.f64[108], hj.f64[100]).loops[1:]] == [
        True,
        True,
        True,
    ]
