"""Loops with conditions in lanes: where it is legal, and bit for bit what plain Python gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, hybrid
from tests.corpus.case import Array
from tests.guarded import check_guarded
from tests.oracle import assert_same_outcome, run_native, run_once, run_plain

AnyKernel = Kernel[..., Any]
SIZES = (0, 1, 7, 8, 9, 16, 17, 33, 70)
DTYPES = (np.float32, np.float64, np.int32, np.int16)


@hybrid.script
def chosen(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        if a[i] > 0:
            b[i] = a[i] * 2
        else:
            c[i] = b[i]


@hybrid.script
def window(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        for d in range(3):
            if i - d >= 0 and i - d < b.shape[0] - 1:
                b[i] = b[i] + a[i - d] * c[i]


@hybrid.script
def both(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        if a[i] > 0 and c[i] < 3:
            b[i] += 1
        if a[i] != 1 or c[i] == 2:
            c[i] = b[i]


@hybrid.script
def carried(a: Array, b: Array, c: Array) -> None:
    for i in range(1, b.shape[0]):
        if a[i] > 0:
            b[i] = b[i - 1] + a[i]


@hybrid.script
def counted(a: Array, b: Array, c: Array) -> None:
    n = 0
    for i in range(b.shape[0]):
        if a[i] > 0:
            b[n] = a[i]
            n += 1


@hybrid.script
def left(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        if a[i] > 3:
            break
        b[i] = a[i]


@hybrid.script
def checked(a: Array, b: Array, c: Array) -> None:
    for i in range(b.shape[0]):
        if a[i] > 0:
            b[int(a[i]) % b.shape[0]] = a[i]


IN_LANES = (chosen, window, both)
IN_ORDER = (carried, counted, left, checked)


def name_of(kernel: AnyKernel) -> str:
    return kernel.__name__


def arrays(size: int, dtype: Any = np.float32) -> list[Any]:
    generator = np.random.default_rng(size)
    return [generator.integers(-4, 5, size).astype(dtype) for _ in range(3)]


@pytest.mark.parametrize("kernel", IN_LANES, ids=name_of)
def test_independent_iterations_have_lanes(kernel: AnyKernel) -> None:
    assert "vectorize(" in kernel.inspect("lowered", *arrays(40))


@pytest.mark.parametrize("kernel", IN_ORDER, ids=name_of)
def test_what_needs_its_order_keeps_it(kernel: AnyKernel) -> None:
    assert "vectorize(" not in kernel.inspect("lowered", *arrays(40))


@pytest.mark.parametrize("kernel", [*IN_LANES, *IN_ORDER], ids=name_of)
@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_those_of_plain_python(kernel: AnyKernel, dtype: Any) -> None:
    anew: AnyKernel = Kernel(kernel.__hybrid_function__)
    for size in SIZES:
        args = arrays(size, dtype)
        found = run_once(run_native, anew, args)
        assert_same_outcome(found, run_once(run_plain, anew, args))


def test_arguments_that_share_memory_run_in_order() -> None:
    a = np.arange(-20.0, 20.0)
    args = [a[:-1], a[1:], a[1:]]
    found = run_once(run_native, chosen, args)
    assert_same_outcome(found, run_once(run_plain, chosen, args))


@pytest.mark.parametrize("kernel", IN_LANES, ids=name_of)
def test_lanes_that_are_off_touch_nothing(kernel: AnyKernel) -> None:
    for size in SIZES:
        check_guarded(kernel, arrays(size))
