"""Conditions in lanes: what both sides do is done once, and nothing is touched that was not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, config, hybrid
from tests.corpus.case import Array
from tests.support.guarded import check_guarded
from tests.support.oracle import assert_same_outcome, run_native, run_once, run_plain
from tests.support.processors import PROCESSORS, compiling_for, needs_wide_vectors

AnyKernel = Kernel[..., Any]
SIZES = (0, 1, 3, 7, 8, 9, 16, 17, 33, 70, 300)


@hybrid.script
def either(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        if a[i] > 1:
            b[i] = a[i] * 2
        else:
            b[i] = a[i] + 3


@hybrid.script
def one_of_three(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        if a[i] > 1:
            b[i] = a[i] * 2
        elif a[i] > -1:
            b[i] = 7
        else:
            b[i] = a[i] + 3


@hybrid.script
def in_place(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        if a[i] > 1:
            a[i] = a[i] * 2
        else:
            a[i] = 1


@hybrid.script
def neighbours(a: Array, b: Array, c: Array) -> None:
    """An element before the first one is not there."""
    for i in range(a.shape[0]):
        if i > 0:
            b[i] = a[i - 1]
        else:
            b[i] = a[i] + 1


@hybrid.script
def twice(a: Array, b: Array, c: Array) -> None:
    """The second statement reads what the first one has changed."""
    for i in range(a.shape[0]):
        if a[i] > 1:
            a[i] = a[i] + b[i]
            b[i] = a[i] * 2
        else:
            b[i] = a[i]


@hybrid.script
def second_part(a: Array, b: Array, c: Array) -> None:
    """The right side of `and` is not always evaluated."""
    for i in range(a.shape[0]):
        if i > 0 and a[i - 1] > 1:
            b[i] = a[i - 1]
        else:
            b[i] = c[i]


@hybrid.script
def one_side(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        if a[i] > b[i]:
            b[i] = a[i] - b[i]


@hybrid.script
def renamed(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        t = a[i] + b[i]
        if a[i] > 0:
            t = a[i]
            c[i] = t * 2
        b[i] = t


@hybrid.script
def renamed_and_left(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        if a[i] > 0:
            t = a[i]
            c[i] = t * 2


@hybrid.script
def variables(a: Array, b: Array, c: Array) -> None:
    """Variables that keep their value on the other side, or get none."""
    for i in range(a.shape[0]):
        t = a[i] + 1
        u = t
        if t > 0:
            t = t * 3
        if u > 2:
            u = t - u
        if c[i] > 1:
            last = t
            u = u + last
        b[i] = t - u


@hybrid.script
def guarded_values(a: Array, b: Array, c: Array) -> None:
    """What a condition keeps from failing, or from being read, stays under it."""
    for i in range(a.shape[0]):
        t = a[i]
        n = i % 3
        if i > 1:
            t = c[i - 2]
        if n != 0:
            n = 7 // n
        b[i] = t + n


ONCE = (either, one_of_three, in_place, neighbours)
ALL = (*ONCE, twice, second_part, one_side, renamed, renamed_and_left, variables, guarded_values)


def name_of(kernel: AnyKernel) -> str:
    return kernel.__name__


def arrays(size: int, dtype: Any = np.float64) -> list[Any]:
    generator = np.random.default_rng(size)
    return [generator.integers(-4, 5, size).astype(dtype) for _ in range(3)]


def check(kernel: AnyKernel, size: int, dtype: Any) -> None:
    args = arrays(size, dtype)
    found = run_once(run_native, kernel, args)
    assert_same_outcome(found, run_once(run_plain, kernel, args))


@needs_wide_vectors
@pytest.mark.parametrize("kernel", ONCE, ids=name_of)
def test_an_element_is_set_once(kernel: AnyKernel) -> None:
    text = kernel.inspect("lowered", *arrays(32, np.float32))
    assert "vectorize(" in text
    assert text.count("] = ") == 1


def test_no_masks_are_needed_for_a_choice() -> None:
    with compiling_for("x86-64"), config.scope(cache_enabled=False):
        assert "vectorize(" in either.inspect("lowered", *arrays(32))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", ALL, ids=name_of)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_results_are_those_of_plain_python(kernel: AnyKernel, dtype: Any) -> None:
    anew: AnyKernel = Kernel(kernel.__hybrid_function__)
    for size in SIZES:
        check(anew, size, dtype)


@pytest.mark.parametrize("kernel", ALL, ids=name_of)
def test_nothing_outside_of_arrays_is_touched(kernel: AnyKernel) -> None:
    for size in SIZES:
        check_guarded(kernel, arrays(size))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("cpu", PROCESSORS)
def test_every_processor_gives_the_same(cpu: str) -> None:
    with compiling_for(cpu), config.scope(cache_enabled=False):
        for kernel in ALL:
            anew: AnyKernel = Kernel(kernel.__hybrid_function__)
            for size in (3, 19, 45):
                check(anew, size, np.float32)


@hybrid.script
def moved_on(v: Array, h: Array, b: Array) -> None:
    for i in range(h.shape[0]):
        if v[h[i] % 8] > 0:
            h[i] = h[i] + 1
            b[i] = v[h[i] % 8]


def test_an_element_at_another_place_is_loaded_anew() -> None:
    """The condition reads the same expression, but what stands in its index has changed."""
    rng = np.random.default_rng(3)
    args = rng.integers(-9, 10, 8) / 2, rng.integers(0, 99, 70), np.zeros(70)
    kernel: AnyKernel = moved_on.with_schedule(lambda s: s.in_lanes("i", 8))
    with config.scope(cache_enabled=False):
        found = run_once(run_native, kernel, args)
    assert_same_outcome(found, run_once(run_plain, kernel, args))
