"""Python's min and max of floats run in lanes: NaN and signs of zeros are as in a plain loop."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import Kernel, hybrid
from tests.support.oracle import assert_same_outcome, run_native, run_once, run_plain
from tests.support.parallel_programs import AnyKernel

np: Any = numpy
Array = Any
SIZES = (1, 2, 7, 16, 33, 100, 257)


@hybrid.script
def largest(a: Array) -> Any:
    m = a[0]
    for i in range(1, a.shape[0]):
        m = max(m, a[i])
    return m


@hybrid.script
def smallest(a: Array) -> Any:
    m = a[0]
    for i in range(1, a.shape[0]):
        if a[i] < m:
            m = a[i]
    return m


@hybrid.script
def both(a: Array) -> Any:
    low = a[0]
    high = a[0]
    for i in range(a.shape[0]):
        low = min(low, a[i])
        high = max(high, a[i])
    return low, high


@hybrid.script
def of_a_choice(a: Array) -> Any:
    m = a[0] * 0 - 5
    for i in range(a.shape[0]):
        x = a[i]
        if x < 3:
            m = max(m, abs(x) * -1)
    return m


@hybrid.script
def with_a_count(a: Array) -> Any:
    m = a[0]
    count = 0
    for i in range(a.shape[0]):
        m = max(m, a[i])
        if a[i] > 0:
            count += 1
    return m, count


@hybrid.script
def of_rows(a: Array) -> Any:
    out = np.zeros(8, a.dtype)
    for r in range(8):
        m = a[0]
        for i in range(a.shape[0]):
            m = min(m, a[i] * (r - 4))
        out[r] = m
    return out


ALL = (largest, smallest, both, of_a_choice, with_a_count, of_rows)
KERNELS = pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.__name__)


def special_arrays(size: int) -> list[Array]:
    """Values of which the extrema are zeros of either sign, infinite, or NaN."""
    rng = numpy.random.default_rng(size)
    quarters = rng.integers(-8, 9, size) / 4
    zeros = numpy.where(rng.random(size) < 0.5, 0.0, -0.0)
    below, above = numpy.minimum(quarters, zeros), numpy.maximum(quarters, zeros)
    holes = numpy.where(rng.random(size) < 0.3, numpy.nan, quarters)
    from_nan = numpy.where(numpy.arange(size) == 0, numpy.nan, quarters)
    low = numpy.full(size, -numpy.inf)
    return [quarters, zeros, below, above, holes, from_nan, low, numpy.full(size, numpy.nan)]


@pytest.mark.sampled(2)
@KERNELS
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_as_plain_python(kernel: AnyKernel, dtype: str) -> None:
    again: AnyKernel = Kernel(kernel.__hybrid_function__)
    for size in SIZES:
        for values in special_arrays(size):
            args = (values.astype(dtype),)
            assert_same_outcome(
                run_once(run_native, again, args), run_once(run_plain, kernel, args)
            )


@pytest.mark.parametrize("place", range(0, 67, 3))
def test_the_first_zero_has_the_sign(place: int) -> None:
    a: Array = numpy.full(67, -1.0)
    a[place] = -0.0
    a[place + 1 :: 2] = 0.0
    a[place + 2 :: 2] = -0.0
    again: AnyKernel = Kernel(largest.__hybrid_function__)
    assert str(again(a)) == "-0.0"
    assert str(again(-a[::-1].copy())) == str(largest.py_func(-a[::-1]))


@KERNELS
def test_they_have_lanes(kernel: AnyKernel) -> None:
    assert "vectorize(" in kernel.inspect("lowered", numpy.ones(1000, "float32"))


@hybrid.script
def kept(a: Array, b: Array) -> Any:
    """A loop that does more than to fold cannot run again."""
    m = a[0]
    for i in range(a.shape[0]):
        m = max(m, a[i])
        b[i] += a[i]
    return m


def test_what_cannot_run_again() -> None:
    again: AnyKernel = Kernel(kept.__hybrid_function__)
    for size in SIZES:
        for values in special_arrays(size):
            args = (values, numpy.arange(size) * 1.0)
            assert_same_outcome(run_once(run_native, again, args), run_once(run_plain, kept, args))
