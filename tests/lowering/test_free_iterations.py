"""Loops whose iterations hand values on to each other, or leave them behind, have lanes."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from hybridjit import Kernel, config, hybrid
from hybridjit.lowering import vectorize_inner
from tests.corpus.case import Array
from tests.support.guarded import check_guarded
from tests.support.oracle import assert_same_outcome, run_native, run_once, run_plain
from tests.support.processors import PROCESSORS, compiling_for, needs_wide_vectors

AnyKernel = Kernel[..., Any]
SIZES = (0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 16, 17, 18, 33, 70, 300)


@hybrid.script
def left_behind(a: Array, b: Array, c: Array) -> None:
    x = 5
    for i in range(a.shape[0]):
        x = a[i] * 2
        b[i] = x + b[i]
    c[0] = x


@hybrid.script
def left_in_branches(a: Array, b: Array, c: Array) -> None:
    x = 5
    for i in range(a.shape[0]):
        if a[i] > 1:
            b[i] = a[i]
            x = a[i] * 2
        else:
            x = b[i]
        b[i] = x
    c[0] = x


@hybrid.script
def differences(a: Array, b: Array, c: Array) -> None:
    last = 3
    for i in range(a.shape[0]):
        b[i] = a[i] - last
        last = a[i]
    c[0] = last


@hybrid.script
def second_differences(a: Array, b: Array, c: Array) -> None:
    last = 3
    before = 7
    for i in range(a.shape[0]):
        b[i] = a[i] - last * 2 + before
        before = last
        last = a[i]
    c[0] = last + before


@hybrid.script
def computed(a: Array, b: Array, c: Array) -> None:
    last = 3
    for i in range(a.shape[0] - 1, -1, -1):
        square = a[i] * a[i] + 1
        b[i] = square - last
        last = square
    c[0] = last


@hybrid.script
def steps(a: Array, b: Array, c: Array) -> None:
    last = 3
    for i in range(1, a.shape[0], 2):
        b[i] = a[i] - last
        last = a[i]
    c[0] = last


@hybrid.script
def with_total(a: Array, b: Array, c: Array) -> None:
    last = 3
    count = 0
    for i in range(a.shape[0]):
        if a[i] != last:
            count += 1
        last = a[i]
    c[0] = count


@hybrid.script
def rows(a: Array, b: Array, c: Array) -> None:
    """The first iteration of a row gets what the last one of the row before it has left."""
    last = 3
    for i in range(3):
        for j in range(i, a.shape[0]):
            b[j] = b[j] + a[j] - last
            last = a[j]
    c[0] = last


@hybrid.script
def never_set(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        x = a[i] * 2
        x = x + 1
        b[i] = x
    c[0] = x  # pyright: ignore[reportPossiblyUnboundVariable]


@hybrid.script
def sums(a: Array, b: Array, c: Array) -> None:
    total = 0
    for i in range(a.shape[0]):
        total = total * 2 + a[i]
        b[i] = total
    c[0] = total


@hybrid.script
def in_place(a: Array, b: Array, c: Array) -> None:
    """What was there an iteration before is overwritten by now."""
    last = 3
    for i in range(a.shape[0]):
        x = a[i]
        a[i] = x - last
        last = x
    c[0] = last


@hybrid.script
def sometimes(a: Array, b: Array, c: Array) -> None:
    last = 3
    for i in range(a.shape[0]):
        b[i] = a[i] - last
        if a[i] > 1:
            last = a[i]
    c[0] = last


@hybrid.script
def swapped(a: Array, b: Array, c: Array) -> None:
    x, y = 1, 2
    for i in range(a.shape[0]):
        b[i] = a[i] + x
        x, y = y, x
    c[0] = x


@hybrid.script
def left_early(a: Array, b: Array, c: Array) -> None:
    last = 3
    for i in range(a.shape[0]):
        if a[i] > 3:
            break
        b[i] = a[i] - last
        last = a[i]
    c[0] = last


@hybrid.script
def skipped(a: Array, b: Array, c: Array) -> None:
    last = 3
    for i in range(a.shape[0]):
        if a[i] > 2:
            continue
        b[i] = a[i] - last
        last = a[i]
    c[0] = last


FREE = (left_behind, left_in_branches, differences, second_differences, computed)
IN_ORDER = (sums, in_place, sometimes, swapped, left_early, skipped)
ALL = (*FREE, steps, with_total, rows, never_set, *IN_ORDER)


def name_of(kernel: AnyKernel) -> str:
    return kernel.__name__


def arrays(size: int, dtype: Any = np.float64) -> list[Any]:
    generator = np.random.default_rng(size)
    return [generator.integers(-4, 5, n).astype(dtype) for n in (size, size, 1)]


def check(kernel: AnyKernel, size: int, dtype: Any) -> None:
    args = arrays(size, dtype)
    found = run_once(run_native, kernel, args)
    assert_same_outcome(found, run_once(run_plain, kernel, args))


@needs_wide_vectors
@pytest.mark.parametrize("kernel", [*FREE, with_total, rows], ids=name_of)
def test_iterations_have_lanes(kernel: AnyKernel) -> None:
    assert "vectorize(" in kernel.inspect("lowered", *arrays(40))


@pytest.mark.parametrize("kernel", IN_ORDER, ids=name_of)
def test_true_recurrences_have_none(kernel: AnyKernel) -> None:
    assert "vectorize(" not in kernel.inspect("lowered", *arrays(40))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", ALL, ids=name_of)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_results_are_those_of_plain_python(kernel: AnyKernel, dtype: Any) -> None:
    """Sizes are known when the code is made, or at run time only, from the third one on."""
    anew: AnyKernel = Kernel(kernel.__hybrid_function__)
    for size in SIZES:
        check(anew, size, dtype)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kernel", ALL, ids=name_of)
@pytest.mark.parametrize("size", [4, 8, 19])
def test_known_sizes(kernel: AnyKernel, size: int) -> None:
    check(Kernel(kernel.__hybrid_function__), size, np.float32)


@pytest.mark.parametrize("kernel", FREE, ids=name_of)
def test_fewer_iterations_than_come_first(
    kernel: AnyKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where lanes are made of however few iterations, each of them runs once."""
    monkeypatch.setattr(vectorize_inner, "pays", Mock(return_value=True))
    with config.scope(cache_enabled=False):
        for size in (0, 1, 2, 3, 4):
            check_guarded(Kernel(kernel.__hybrid_function__), arrays(size))


@pytest.mark.parametrize("kernel", FREE, ids=name_of)
def test_nothing_outside_of_arrays_is_touched(kernel: AnyKernel) -> None:
    for size in SIZES:
        check_guarded(kernel, arrays(size))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cpu", PROCESSORS)
def test_every_processor_gives_the_same(cpu: str) -> None:
    with compiling_for(cpu), config.scope(cache_enabled=False):
        for kernel in FREE:
            anew: AnyKernel = Kernel(kernel.__hybrid_function__)
            for size in (3, 19, 45):
                check(anew, size, np.float64)
