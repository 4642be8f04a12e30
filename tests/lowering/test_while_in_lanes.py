"""Loops in lanes that wait for each other in a `while`: bit for bit what plain Python gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, hybrid
from hybridjit.hybrid import serial
from tests.corpus.case import Array
from tests.support.guarded import check_guarded
from tests.support.oracle import assert_same_outcome, fresh, run_native, run_once, run_plain
from tests.support.processors import needs_wide_vectors

AnyKernel = Kernel[..., Any]
SIZES = (0, 1, 3, 4, 7, 8, 9, 16, 17, 33, 70)


@hybrid.script
def escape(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        x = a[i] * 0
        y = a[i] * 0
        count = 0
        while count < 20 and x * x + y * y < 4:
            t = x * x - y * y + a[i]
            y = 2 * x * y + b[i]
            x = t
            count += 1
        b[i] = count


@hybrid.script
def some_wait(a: Array, b: Array) -> None:
    """Only some lanes get to the loop, and its rounds branch."""
    for i in range(b.shape[0]):
        x = a[i]
        if x > 0:
            y = a[i] + 1
            while x < 100:
                if x < 10:
                    x = x * 3
                    y = y + x
                else:
                    x = x + a[i]
            b[i] = x + y
        else:
            b[i] = b[i] - x


@hybrid.script
def nested(a: Array, b: Array) -> None:
    for i in serial(b.shape[0], annotations={"in_lanes": 8}):
        x = a[i] if a[i] > 0 else 1 - a[i]
        z = x
        while x < 50:
            y = z
            while y < x * 0.25:
                y = y * 2
            x = x + y
        b[i] = x


@hybrid.script
def until_bound(a: Array, b: Array) -> None:
    """The condition keeps an index inside: lanes that are done read nothing."""
    for i in range(b.shape[0]):
        k = i
        s = a[i] * 0
        while k < a.shape[0] and s < 5:
            s = s + a[k] * a[k]
            k += 2
        b[i] = s


@hybrid.script
def stores(a: Array, b: Array) -> None:
    for i in range(b.shape[0]):
        x = a[i]
        while x < 3:
            x = x + 1
            b[i] = b[i] * 2 + x


IN_LANES = (escape, some_wait, nested)
OTHERS = (until_bound, stores)


def name_of(kernel: AnyKernel) -> str:
    return kernel.__name__


def arrays(size: int, dtype: Any = np.float64) -> list[Any]:
    generator = np.random.default_rng(size)
    return [
        generator.integers(-8, 9, size).astype(dtype) / dtype(4),
        generator.integers(-4, 5, size).astype(dtype) / dtype(4),
    ]


@needs_wide_vectors
@pytest.mark.parametrize("kernel", IN_LANES, ids=name_of)
def test_lanes_wait_for_each_other(kernel: AnyKernel) -> None:
    assert "for i in vectorize(" in kernel.inspect("lowered", *arrays(40))


def test_loops_that_set_elements_keep_their_order() -> None:
    assert "for i in vectorize(" not in stores.inspect("lowered", *arrays(40))


@pytest.mark.parametrize("kernel", [*IN_LANES, *OTHERS], ids=name_of)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_results_are_those_of_plain_python(kernel: AnyKernel, dtype: Any) -> None:
    anew: AnyKernel = fresh(kernel)
    for size in SIZES:
        args = arrays(size, dtype)
        found = run_once(run_native, anew, args)
        assert_same_outcome(found, run_once(run_plain, anew, args))


@pytest.mark.parametrize("kernel", [*IN_LANES, *OTHERS], ids=name_of)
def test_lanes_that_are_off_touch_nothing(kernel: AnyKernel) -> None:
    for size in (0, 5, 8, 19):
        check_guarded(fresh(kernel), arrays(size))


@hybrid.script
def complex_escape(c: Array, o: Array) -> None:
    for i in range(o.shape[0]):
        z = 0j
        count = 0
        while count < 50 and z.real * z.real + z.imag * z.imag < 4.0:
            z = z * z + c[i]
            count += 1
        o[i] = count


@pytest.mark.parametrize("size", SIZES)
def test_complex_numbers(size: int) -> None:
    generator = np.random.default_rng(size)
    c = generator.uniform(-2, 1, size) + 1j * generator.uniform(-1, 1, size)
    found, expected = np.zeros(size, np.int64), np.zeros(size, np.int64)
    fresh(complex_escape)(c, found)
    complex_escape.py_func(c, expected)
    np.testing.assert_array_equal(found, expected)


@hybrid.script
def by_length(c: Array, o: Array) -> None:
    for i in range(o.shape[0]):
        z = 0j
        count = 0
        while count < 50 and abs(z) <= 2.0:
            z = z * z + c[i]
            count += 1
        o[i] = count


@needs_wide_vectors
def test_lengths_that_are_rarely_needed_are_not_computed_in_lanes() -> None:
    c, o = np.zeros(40, np.complex128), np.zeros(40, np.int64)
    assert "for i in vectorize(" in complex_escape.inspect("lowered", c, o)
    assert "for i in vectorize(" not in by_length.inspect("lowered", c, o)
