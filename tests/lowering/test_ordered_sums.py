"""Terms of sums in lanes, added in their order: into variables, and into elements of arrays.

The terms are remainders, which are as dear as an exponential, and exact: NumPy's exponentials are
an ulp off on some processors, and the sums are compared bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import Kernel, hybrid
from tests.support.oracle import assert_same_outcome, fresh, run_interpreted, run_native, run_once
from tests.support.parallel_programs import AnyKernel

np: Any = numpy
Array = Any
SIZES = (0, 1, 2, 5, 8, 17, 33)


@hybrid.script
def total(a: Array, b: Array, out: Array) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        s += np.fmod(a[i], 0.37) * b[i]
    return s


@hybrid.script
def one_element(a: Array, b: Array, out: Array) -> None:
    for i in range(a.shape[0]):
        out[1] += np.fmod(a[i], 0.37) - b[i]


@hybrid.script
def three_elements(a: Array, b: Array, out: Array) -> None:
    n = a.shape[0]
    for k in range(3):
        for i in range(n):
            d = a[i] + k
            if d > 1:
                d = np.fmod(d, 0.37)
            out[k] += d * b[i]
            out[k + 1] -= d
            out[2] = out[2] * 0.5 + d


@hybrid.script
def by_a_number(a: Array, b: Array, out: Array) -> None:
    """Elements of which it is not known whether they are the same."""
    first = int(out[0]) % 3
    second = int(out[1]) % 3
    for i in range(a.shape[0]):
        t = np.fmod(a[i], 0.37)
        out[first] += t
        out[second] *= 1 + b[i] / (t + 8)


@hybrid.script
def read_back(a: Array, b: Array, out: Array) -> None:
    """A term that needs what the sum has come to."""
    for i in range(a.shape[0]):
        out[0] += np.fmod(a[i] + out[0] * out[0], 0.37)


@hybrid.script
def read_elsewhere(a: Array, b: Array, out: Array) -> None:
    """A term that needs another element of the array, which may be the one that is updated."""
    for i in range(a.shape[0]):
        out[2] += np.fmod(a[i] + out[i % 4] * out[i % 4], 0.37)


@hybrid.script
def read_where_a_variable_says(a: Array, b: Array, out: Array) -> None:
    """Elements that are set by this loop, in this iteration, before or after it."""
    at, s = 0, 0.0
    for i in range(a.shape[0]):
        b[i] = np.fmod(a[i], 0.37)
        if a.shape[0] > 4:
            s = s * 0.5 + b[at % 5]
        at += 3
    out[0] = s


@hybrid.script
def follow(a: Array, b: Array, to: Array) -> Any:
    at = 0
    for i in range(a.shape[0]):
        b[i] = np.fmod(a[i], 0.37)
        at = to[at]
    return at


@hybrid.script
def divide(a: Array, b: Array, to: Array) -> Any:
    s = 1
    for i in range(a.shape[0]):
        b[i] = np.fmod(a[i], 0.37)
        s = (s + 40) // (35 - to[i])
    return s


ALL = (
    *(total, one_element, three_elements, by_a_number),
    *(read_back, read_elsewhere, read_where_a_variable_says),
)


@pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.__name__)
def test_as_the_interpreter(kernel: AnyKernel) -> None:
    rng = numpy.random.default_rng(3)
    again: AnyKernel = Kernel(kernel.__hybrid_function__)
    for size in SIZES:
        args = [rng.random(n) + 0.1 for n in (size, size, 4)]
        found = run_once(run_native, again, args)
        assert_same_outcome(found, run_once(run_interpreted, kernel, args))


@pytest.mark.parametrize("kernel", [total, one_element, three_elements, by_a_number])
def test_they_have_lanes(kernel: AnyKernel) -> None:
    args = [numpy.ones(n) for n in (64, 64, 4)]
    assert "vectorize(" in kernel.inspect("lowered", *args)


def test_an_element_that_varies_keeps_iterations_in_order() -> None:
    args = [numpy.ones(n) for n in (64, 64, 4)]
    assert "vectorize(" not in read_elsewhere.inspect("lowered", *args)


@pytest.mark.parametrize("kernel", [follow, divide], ids=lambda kernel: kernel.__name__)
def test_an_update_that_fails_leaves_later_iterations_undone(kernel: AnyKernel) -> None:
    for place in (0, 1, 7, 30):
        to = numpy.arange(1, 34) % 33
        to[place] = 35
        args = [numpy.ones(33), numpy.zeros(33), to]
        found = run_once(run_native, fresh(kernel), args)
        assert isinstance(found.error, IndexError | ZeroDivisionError)
        assert_same_outcome(found, run_once(run_interpreted, kernel, args))
