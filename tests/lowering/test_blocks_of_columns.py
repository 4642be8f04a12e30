"""A nest whose outer loop goes through terms of sums runs on threads in blocks of what is inside.

Names between the loops are no obstacle, nor are steps; the values of an element are added in their
order, however many threads there are.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import Kernel, hybrid, threads
from tests.support.oracle import assert_same_outcome, run_interpreted, run_native, run_once
from tests.support.parallel_programs import AnyKernel, eager

np: Any = numpy
Array = Any
SHAPES = ((0, 3), (1, 1), (5, 9), (13, 530), (9, 1029))
IS_PARALLEL = "in parallel("


@hybrid.script(parallel=True)
def row_times_matrix(x: Array, a: Array, y: Array) -> Array:
    return x @ a


@hybrid.script(parallel=True)
def named(x: Array, a: Array, y: Array) -> None:
    for k in range(a.shape[0]):
        factor = x[k] * 2
        for i in range(a.shape[1]):
            y[i] += factor * a[k, i]


@hybrid.script(parallel=True)
def two_names(x: Array, a: Array, y: Array) -> None:
    for k in range(0, a.shape[0] - 1, 2):
        first = x[k]
        second = x[k + 1]
        for i in range(a.shape[1]):
            y[i] = y[i] + first * a[k, i] + second * a[k + 1, i]


@hybrid.script(parallel=True)
def backwards(x: Array, a: Array, y: Array) -> None:
    for k in range(a.shape[0] - 1, -1, -1):
        factor = x[k]
        for i in range(a.shape[1]):
            y[i] = y[i] * 0.5 + factor * a[k, i]


@hybrid.script(parallel=True)
def triangle(x: Array, a: Array, y: Array) -> None:
    """A loop whose bounds are names of the nest cannot go outside."""
    for k in range(a.shape[0]):
        last = min(k + 1, a.shape[1])
        for i in range(last):
            y[i] += x[k] * a[k, i]


@hybrid.script(parallel=True)
def read_back(x: Array, a: Array, y: Array) -> None:
    """A name that is read from what the loop inside changes."""
    for k in range(min(a.shape[0], a.shape[1])):
        factor = y[k]
        for i in range(a.shape[1]):
            y[i] += factor * a[k, i] + x[k]


ALL = (row_times_matrix, named, two_names, backwards, triangle, read_back)


def arguments(rows: int, columns: int) -> tuple[Array, Array, Array]:
    rng = numpy.random.default_rng(rows)
    return rng.random(rows), rng.random((rows, columns)), rng.random(columns)


@pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.__name__)
def test_values_do_not_depend_on_the_threads(kernel: AnyKernel) -> None:
    again: AnyKernel = Kernel(kernel.__hybrid_function__, parallel=True)
    serial: AnyKernel = Kernel(kernel.__hybrid_function__, parallel=False)
    with eager():
        for shape in SHAPES:
            args = arguments(*shape)
            expected = run_once(run_native, serial, args)
            if kernel is not row_times_matrix:
                assert_same_outcome(expected, run_once(run_interpreted, serial, args))
            for count in (1, 2, 3):
                with threads(count):
                    assert_same_outcome(run_once(run_native, again, args), expected)


@pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.__name__)
def test_which_nests(kernel: AnyKernel) -> None:
    text = kernel.inspect("lowered", *arguments(1024, 1024))
    loops = [line for line in text.splitlines() if line.lstrip().startswith("for ")]
    is_refused = kernel in (triangle, read_back)
    assert (IS_PARALLEL in loops[0]) is not is_refused


def test_a_receipt_gives_the_same_blocks() -> None:
    args = arguments(1024, 1024)
    trace = named.auto_schedule(*args).trace
    assert "s.on_threads(i, " in str(trace)
    assert named.with_schedule(trace).inspect("lowered", *args) == named.inspect("lowered", *args)
